"""Coding rules: the option that an answer to a choice chooses."""

from generation.probing.coding.doubts import Outcome
from generation.probing.coding.rules import CODES, VERSION, CodedAnswer, code_answer

__all__ = ["CODES", "VERSION", "CodedAnswer", "Outcome", "code_answer"]
