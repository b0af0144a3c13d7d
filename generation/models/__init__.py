"""Prompts, images, and what models answered to questions."""

from generation.models.images import (
    Condition,
    GenerationRequest,
    GenerationRun,
    Image,
    Phrase,
    PromptTemplate,
)
from generation.models.probes import Answer, Coding, ProbeRun

__all__ = [
    "Answer",
    "Coding",
    "Condition",
    "GenerationRequest",
    "GenerationRun",
    "Image",
    "Phrase",
    "ProbeRun",
    "PromptTemplate",
]
