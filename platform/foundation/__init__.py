"""Code that all apps may use and that depends on no app: errors, commands, storage, number formats."""

# The same as in pyproject.toml and CITATION.cff; written into files that Stereoscope creates.
VERSION = "0.1.0"
