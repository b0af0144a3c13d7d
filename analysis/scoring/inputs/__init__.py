"""Inputs of scorers: images, prompts, n-grams and pairs."""
