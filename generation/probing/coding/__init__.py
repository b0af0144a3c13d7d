"""Coding rules: what an answer to a choice says."""

from generation.probing.coding.rules import CODES, VERSION, CodedAnswer, Outcome, code_answer

__all__ = ["CODES", "VERSION", "CodedAnswer", "Outcome", "code_answer"]
