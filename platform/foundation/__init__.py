"""Code that all apps may use and that depends on no app: errors, commands, storage, number formats."""

# As in pyproject.toml and CITATION.cff; files that Stereoscope writes say with which version they were made.
VERSION = "0.1.0"
