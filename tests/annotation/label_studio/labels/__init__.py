"""Tests of the labels made from Label Studio's annotations."""
