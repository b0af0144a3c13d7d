"""Prompts, images, and models' answers to questions."""

from generation.models.batches import BatchRequest, ProbeBatch
from generation.models.images import (
    Condition,
    GenerationRequest,
    GenerationRun,
    Image,
    Phrase,
    PromptTemplate,
)
from generation.models.probes import Answer, AnswerCount, Coding, ModelCoder, ProbeRun

__all__ = [
    "Answer",
    "AnswerCount",
    "BatchRequest",
    "Coding",
    "Condition",
    "GenerationRequest",
    "GenerationRun",
    "Image",
    "ModelCoder",
    "Phrase",
    "ProbeBatch",
    "ProbeRun",
    "PromptTemplate",
]
