"""Images endpoints that speak OpenAI's protocol."""
