"""Automated scoring: CLIP, captions and text classifiers over a study's images."""
