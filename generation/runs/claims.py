"""Claims of jobs to requests of a run, made block by block so that several jobs can share a run.

A claim is valid while the attempt of the job is running and its lease, which a thread of its worker renews, has not
expired. The block of a killed worker is therefore free when the lease expires.
"""

from collections import deque
from collections.abc import Collection

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from generation.models import GenerationRequest, GenerationRun
from jobs.models import Job
from jobs.run.teams import team_of

Outcome = GenerationRequest.Outcome
_MOST_IN_A_BLOCK = 20
# A block is at most 1/4 of a job's share of the remaining requests, so that jobs end at about the same time.
_BLOCKS_LEFT = 4


class Claims:
    """The requests of a run that a job has claimed and not begun.

    `until`: the number of ended requests, by any job, at which to stop; None for all requests.
    Without a job, no other process may work on the run.
    """

    def __init__(self, run: GenerationRun, job: Job | None, until: int | None) -> None:
        self._run = run
        self._job = job
        self._until = until
        self._jobs = team_of(job).count() if job is not None else 1
        self._ahead: deque[GenerationRequest] = deque()
        self._last = 0
        self._claimed = 0
        self._ended_before = 0 if until is None else self._ended()
        self._failed_before = False  # requests that failed before come last, so that they delay no others

    def take(self, most: int) -> list[GenerationRequest]:
        """Return up to `most` pending requests claimed by this job; an empty list when none is free."""
        while True:
            while len(self._ahead) < most and self._claim(most):
                pass
            requests = [self._ahead.popleft() for _ in range(min(most, len(self._ahead)))]
            if not requests:
                return []
            # If the worker slept longer than its lease, another may have made the claimed requests.
            claimed = self._ours().filter(pk__in=[request.pk for request in requests])
            pending = set(claimed.values_list("pk", flat=True))
            if pending:
                return [request for request in requests if request.pk in pending]

    def put_back(self, requests: Collection[GenerationRequest]) -> None:
        """Return requests that were not begun; the next `take` begins with them."""
        self._ahead.extendleft(reversed(list(requests)))

    def _claim(self, most: int) -> bool:
        """Claim a block; return whether to try again."""
        with transaction.atomic():
            # Lock the run: a limit counts the claims of all its jobs.
            GenerationRun.objects.select_for_update().only("pk").get(pk=self._run.pk)
            keys = self._next_keys(most)
            if self._job is not None and keys:
                claimed = self._free().filter(pk__in=keys)
                if claimed.update(held_by=self._job, held_attempt=self._job.attempts) < len(keys):
                    keys = list(self._ours().filter(pk__in=keys).values_list("pk", flat=True))
        if not keys:
            return self._go_round()
        related = ("group", "attribute", "phrase", "template")
        self._ahead.extend(
            GenerationRequest.objects.filter(pk__in=keys).select_related(*related).order_by("pk")
        )
        self._last = keys[-1]
        return True

    def _next_keys(self, most: int) -> list[int]:
        room = self._room()
        if room is not None and room <= 0:
            return []
        free = self._free().filter(pk__gt=self._last, seconds__isnull=not self._failed_before)
        looked_at = free.order_by("pk").values_list("pk", flat=True)
        size = max(most, _MOST_IN_A_BLOCK)
        if self._jobs > 1:
            remaining = len(looked_at[: size * _BLOCKS_LEFT * self._jobs])
            size = max(most, min(size, remaining // (_BLOCKS_LEFT * self._jobs)))
        keys = list(looked_at[: size if room is None else min(size, room)])
        self._claimed += len(keys)
        return keys

    def _go_round(self) -> bool:
        """Restart from the first request, for blocks that became free; then turn to requests that failed before."""
        if self._last and self._job is not None:
            self._last = 0
            return True
        if self._failed_before:
            # At the next call, blocks may have become free again.
            self._failed_before = self._job is None
            return False
        self._failed_before, self._last = True, 0
        return True

    def _room(self) -> int | None:
        if self._until is None:
            return None
        if self._job is None:
            return self._until - self._ended_before - self._claimed
        claimed_count = self._pending().filter(Exists(_holder())).count()
        return self._until - self._ended() - claimed_count

    def _ended(self) -> int:
        return self._run.requests.exclude(outcome=Outcome.PENDING).count()

    def _pending(self) -> QuerySet[GenerationRequest]:
        return self._run.requests.filter(outcome=Outcome.PENDING)

    def _free(self) -> QuerySet[GenerationRequest]:
        if self._job is None:
            return self._pending()
        return self._pending().filter(Q(held_by=None) | ~Exists(_holder()))

    def _ours(self) -> QuerySet[GenerationRequest]:
        if self._job is None:
            return self._pending()
        return self._pending().filter(held_by=self._job, held_attempt=self._job.attempts)


def _holder() -> QuerySet[Job]:
    """Return the job with a valid claim to the request of the outer query."""
    return Job.objects.filter(
        pk=OuterRef("held_by"),
        attempts=OuterRef("held_attempt"),
        state=Job.State.RUNNING,
        lease_expires_at__gte=timezone.now(),
    )
