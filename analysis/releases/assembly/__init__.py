"""Building a release: a snapshot of the labels becomes a folder."""
