"""Drawings of invented figures with known attributes: images with known truth, made without a model."""
