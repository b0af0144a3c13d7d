"""OpenAI-compatible endpoints: one way to reach them for images, captions, probes and judges."""
