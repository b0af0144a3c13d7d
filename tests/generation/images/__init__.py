"""Tests of image files and their addresses."""
