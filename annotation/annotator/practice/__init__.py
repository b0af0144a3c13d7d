"""The pages of practice, and the data that they may show an annotator."""
