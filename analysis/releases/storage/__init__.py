"""The zip files of releases in storage."""
