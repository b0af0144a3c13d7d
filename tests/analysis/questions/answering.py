"""Simulated people with preferences: their answers about images, from planted strengths and shares."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from generation.models import Image
from tests.analysis.questions.campaigns import Answering, Given

STRENGTHS = {"aurora": 0.9, "birch": 0.2, "cirrus": -1.1}
TIE = 0.5


def comparing(strengths: Mapping[str, float], *, seed: int = 0, first: float = 0.0) -> Answering:
    """Answer `better` by Davidson's model; `first` is added to what is shown first. Quality: 1 to 5, now and then 9."""
    generator = np.random.default_rng(seed)

    def answer(_: int, images: Sequence[Image]) -> Iterable[Given]:
        half = (strengths[images[0].model_label] + first - strengths[images[1].model_label]) / 2
        weights = np.array([np.exp(half), np.exp(-half), TIE])
        choice = int(generator.choice(3, p=weights / weights.sum()))
        if choice == 2:
            yield Given.of("better", code="tie")
        else:
            yield Given.of("better", choice, present=True)
        for place, image in enumerate(images):
            mean = 3 + strengths[image.model_label]
            unsure = generator.random() < 0.1
            rating = 9 if unsure else int(np.clip(round(generator.normal(mean, 1)), 1, 5))
            yield Given.of("quality", place, rating=rating)

    return answer


def ranking(strengths: Mapping[str, float], *, seed: int = 0, step: float = 0.0) -> Answering:
    """Answer `order` by utilities with Gumbel noise; rounded to `step`, so that some are tied."""
    generator = np.random.default_rng(seed)

    def answer(_: int, images: Sequence[Image]) -> Iterable[Given]:
        utility = [strengths[image.model_label] + generator.gumbel() for image in images]
        if step:
            utility = [round(value / step) * step for value in utility]
        for place, value in enumerate(utility):
            yield Given.of("order", place, rank=1 + sum(other > value for other in utility))

    return answer
