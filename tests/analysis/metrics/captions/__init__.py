"""Tests of captions and salience."""
