"""Tests of answers: validation, submission, what counts, and replacement."""
