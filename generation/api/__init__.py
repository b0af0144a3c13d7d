"""Images and probes in the REST API."""
