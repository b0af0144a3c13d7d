"""Tests of importing resources."""
