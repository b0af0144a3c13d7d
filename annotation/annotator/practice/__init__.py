"""The pages of practice, and what they may tell an annotator."""
