"""Answers that the study has already: the same request is not asked twice, unless a run is fresh."""

from collections.abc import Mapping
from dataclasses import replace

from django.db import transaction
from django.utils import timezone

from generation.models import Answer, ProbeRun
from generation.probing.requests import PlannedRequest

_RESULTS = (Answer.Outcome.DONE, Answer.Outcome.DECLINED)
_COPIED = (
    "outcome",
    "reason",
    "text",
    "finish_reason",
    "served_model",
    "fingerprint",
    "tokens_in",
    "tokens_out",
    "seconds",
    "provenance",
    "request_sha256",
)


class EarlierAnswers:
    """The answers of other runs of the study."""

    def __init__(self, run: ProbeRun) -> None:
        self._answers = Answer.objects.filter(run__study=run.study_id, outcome__in=_RESULTS).exclude(run=run)
        # Most studies ask each model once: then there is nothing to look for.
        self._any = not run.fresh and self._answers.exists()

    def without_known(self, request: PlannedRequest) -> PlannedRequest:
        """Copy the answers that there are; return the request for the rows that are left."""
        if not self._any:
            return request
        found = self._answers.filter(request_sha256__in=request.sha256s).order_by("-pk")
        known = {answer.request_sha256: answer for answer in found}
        if not known:
            return request
        with transaction.atomic():
            for row, sha256 in zip(request.rows, request.sha256s, strict=True):
                if sha256 in known:
                    _copy(known[sha256], row)
        return _left(request, known)


def _copy(earlier: Answer, row: Answer) -> None:
    fields = {name: getattr(earlier, name) for name in _COPIED}
    Answer.objects.filter(pk=row.pk, outcome=Answer.Outcome.PENDING).update(
        **fields, reused_from=earlier.reused_from_id or earlier.pk, finished_at=timezone.now()
    )


def _left(request: PlannedRequest, known: Mapping[str, Answer]) -> PlannedRequest:
    places = [place for place, sha256 in enumerate(request.sha256s) if sha256 not in known]
    return PlannedRequest(
        rows=[request.rows[place] for place in places],
        request=replace(request.request, seeds=tuple(request.request.seeds[place] for place in places)),
        sha256s=[request.sha256s[place] for place in places],
    )
