"""Image endpoints with OpenAI's protocol."""
