"""Importing models' answers that were made elsewhere."""
