"""Measurements of image generation."""
