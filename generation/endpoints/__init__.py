"""OpenAI-compatible endpoints: one client for images, captions, probes and judges."""
