"""Tests of measures of marking."""
