"""Prompt templates, published prompt sets, MCAS phrases, and attributes in prompts."""
