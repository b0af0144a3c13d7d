"""Prompt templates, published prompt sets and MCAS phrases, and the attributes they name."""
