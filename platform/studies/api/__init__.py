"""Studies in the REST API, and the API's schema by role."""
