"""What annotators read: versions of guidelines, their markup, and what changed between two."""
