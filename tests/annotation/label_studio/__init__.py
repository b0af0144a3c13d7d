"""Label Studio's JSON, written and read."""
