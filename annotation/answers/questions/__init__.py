"""Answers to the questions that a kind declares: checked, stored as judgements, and read back."""
