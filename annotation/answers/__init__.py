"""What annotators answered: validated, saved once, corrected, counted and replaced."""
