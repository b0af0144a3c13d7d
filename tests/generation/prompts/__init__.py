"""Tests of prompts and prompt sets."""
