"""The pictures of README and docs, taken from a real server that a browser is led through: `make pictures`."""
