"""What scorers look at: images, prompts and n-grams."""
