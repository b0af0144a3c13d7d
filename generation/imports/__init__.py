"""Importing images and answers that were made elsewhere."""
