"""Coding rules: what an answer to a choice says."""

from generation.probing.coding.doubts import Outcome
from generation.probing.coding.rules import CODES, VERSION, CodedAnswer, code_answer

__all__ = ["CODES", "VERSION", "CodedAnswer", "Outcome", "code_answer"]
