"""What annotators read: versions of guidelines, their markup, and changes between versions."""
