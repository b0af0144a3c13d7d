"""Tests of the design system."""
