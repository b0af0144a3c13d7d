"""Planning a study: what its designs could find, with how many people and at what cost; preregistration."""
