"""Reusing the study's answers: the same request is not asked twice, unless a run is fresh."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from django.db import transaction
from django.utils import timezone

from generation.models import Answer, ProbeRun
from generation.probing.execution.outcomes import RESULT_COLUMNS
from generation.probing.requests import PlannedRequest

_RESULTS = (Answer.Outcome.DONE, Answer.Outcome.DECLINED)


class EarlierAnswers:
    """The answers of other runs of the study to the same model."""

    def __init__(self, run: ProbeRun) -> None:
        others = Answer.objects.filter(run__study=run.study_id, outcome__in=_RESULTS).exclude(run=run)
        # The hash includes the model, so that answers of other models are not reused.
        self._answers = others.filter(run__backend=run.backend, run__model_id=run.model_id)
        # Most studies ask each model once: then there is nothing to reuse.
        self._any = not run.fresh and self._answers.exists()

    def without_answered(self, requests: Sequence[PlannedRequest]) -> tuple[list[PlannedRequest], int]:
        """Copy existing answers; return requests for the remaining rows, and the number of copied answers."""
        sha256s = [sha256 for request in requests for sha256 in request.sha256s]
        if not self._any or not sha256s:
            return list(requests), 0
        earlier = self._answers.filter(request_sha256__in=sha256s).order_by("-pk")
        by_sha256 = {answer.request_sha256: answer for answer in earlier}
        if not by_sha256:
            return list(requests), 0
        reused = 0
        with transaction.atomic():
            for request in requests:
                for row, sha256 in zip(request.rows, request.sha256s, strict=True):
                    if sha256 in by_sha256:
                        _copy(by_sha256[sha256], row)
                        reused += 1
        left = [_left(request, by_sha256) for request in requests]
        return [request for request in left if request.rows], reused


def _copy(earlier: Answer, row: Answer) -> None:
    fields = {name: getattr(earlier, name) for name in RESULT_COLUMNS}
    Answer.objects.filter(pk=row.pk, outcome=Answer.Outcome.PENDING).update(
        **fields, reused_from=earlier.reused_from_id or earlier.pk, finished_at=timezone.now()
    )


def _left(request: PlannedRequest, answered: Mapping[str, Answer]) -> PlannedRequest:
    places = [place for place, sha256 in enumerate(request.sha256s) if sha256 not in answered]
    if len(places) == len(request.rows):
        return request
    return PlannedRequest(
        rows=[request.rows[place] for place in places],
        request=replace(request.request, seeds=tuple(request.request.seeds[place] for place in places)),
        sha256s=[request.sha256s[place] for place in places],
    )
