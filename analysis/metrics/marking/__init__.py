"""What annotators marked: likelihood, tendency, offensiveness, and what changes them."""
