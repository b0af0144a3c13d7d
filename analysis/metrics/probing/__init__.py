"""Measures of what models answer to many small questions: parallel images (PAIRS), associations (BiasDora)."""
