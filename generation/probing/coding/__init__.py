"""Coding rules: what an answer to a choice says."""

from generation.probing.coding.rules import VERSION, CodedAnswer, code_answer

__all__ = ["VERSION", "CodedAnswer", "code_answer"]
