"""Measures of image and text embeddings: stereotypical pull and MCAS."""
