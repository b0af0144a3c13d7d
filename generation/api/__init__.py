"""Images in the REST API."""
