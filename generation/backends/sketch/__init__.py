"""Drawings of invented figures with known attributes: images whose truth is known, made without any model."""
