"""Text-to-image pipelines of the diffusers library."""
