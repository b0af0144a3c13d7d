"""What a study could find, with how many people and at what cost, before it starts."""
