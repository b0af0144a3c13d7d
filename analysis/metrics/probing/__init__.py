"""Measures of models' answers to many small questions: parallel images (PAIRS), associations (BiasDora)."""
