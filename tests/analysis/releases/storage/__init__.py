"""Tests of the zip files of releases."""
