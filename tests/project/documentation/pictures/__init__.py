"""The pictures of README and docs, taken in a browser from a real server: `make pictures`."""
