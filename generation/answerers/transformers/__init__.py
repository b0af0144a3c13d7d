"""Models in a local folder that transformers can load: text generation, or text about pictures."""
