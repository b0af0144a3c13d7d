"""Dataset releases: a study's labels as versioned folders that others can load."""
