"""Drawing from a distribution by adding noise and taking the largest: each row with its own generator."""

from collections.abc import Callable, Sequence

import torch
from transformers.generation.logits_process import TemperatureLogitsWarper, TopPLogitsWarper


class RowNoise:
    """Adds Gumbel noise to the logits of each row, so that the largest is a draw from their softmax.

    A row's noise comes from its own seed, so its draws do not depend on other rows. (Gumbel 1954; with temperature 0
    nothing is added.) It has the interface of a `LogitsProcessor` of transformers.
    """

    def __init__(
        self, seeds: Sequence[int], *, device: torch.device, temperature: float, top_p: float
    ) -> None:
        self._generators = [torch.Generator(device).manual_seed(seed) for seed in seeds]
        self._warpers: list[Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = []
        self._greedy = temperature == 0
        if not self._greedy and temperature != 1:
            self._warpers.append(TemperatureLogitsWarper(float(temperature)))
        if not self._greedy and top_p < 1:
            self._warpers.append(TopPLogitsWarper(float(top_p)))

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        scores = scores.float()
        if self._greedy:
            return scores
        for warper in self._warpers:
            scores = warper(input_ids, scores)
        noise = torch.empty_like(scores)
        for row, generator in zip(noise, self._generators, strict=True):
            row.exponential_(generator=generator)
        return scores - noise.log()
