"""The requests of a run that are still to be sent, in their order."""

from collections import deque
from collections.abc import Callable, Sequence

from foundation.errors import DomainError
from generation.answerers.base import Reply
from generation.models import Answer, ProbeRun
from generation.probing.execution.outcomes import Ending
from generation.probing.execution.reuse import EarlierAnswers
from generation.probing.requests import PlannedRequest, RequestBuilder

Outcome = Answer.Outcome
_BLOCK = 256  # rows that are read at a time
_BUILT = 32  # requests that are built at a time; consecutive ones are about the same picture


class RequestBacklog:
    """Builds pending requests, for at most `wanted` rows, and reuses answers from earlier runs.

    `end` is called with rows that end without being sent: rows that cannot be built or are reused.
    """

    def __init__(
        self,
        run: ProbeRun,
        builder: RequestBuilder,
        wanted: int,
        *,
        end: Callable[[Sequence[Ending], int], None],
        samples: int | None = None,
    ) -> None:
        self._run = run
        self._builder = builder
        self._earlier = EarlierAnswers(run)
        self._to_read = wanted
        self._end = end
        self._samples = samples or run.samples_per_request
        self._last = 0
        self._rows: deque[Answer] = deque()
        self._requests: deque[PlannedRequest] = deque()

    def __len__(self) -> int:
        """Return the number of built requests."""
        return len(self._requests)

    def take(self, *, paid: bool) -> PlannedRequest | None:
        """Return the next request; None when there is none."""
        while not self._requests:
            if not self.build(paid=paid):
                return None
        return self._requests.popleft()

    def put_back(self, request: PlannedRequest) -> None:
        """Put an unsent request at the front."""
        self._requests.appendleft(request)

    def ask_alone(self, rows: Sequence[Answer]) -> None:
        """From now on, build requests for one answer, first for these rows: the endpoint gives one answer at a time."""
        self._samples = 1
        for request in reversed(self._requests):
            self._rows.extendleft(reversed(request.rows))
        self._requests.clear()
        self._rows.extendleft(reversed(rows))

    def build(self, *, paid: bool) -> bool:
        """Build more requests; return whether there were rows for them."""
        groups: list[list[Answer]] = []
        while len(groups) < _BUILT and (group := self._next_rows()):
            groups.append(group)
        built, failed = [], []
        for group in groups:
            try:
                built.append(self._builder.build(group, paid=paid))
            except DomainError as error:
                reply = Reply(outcome=Outcome.FAILED, reason=error.message)
                failed += [Ending(row, reply) for row in group]
        left, reused = self._earlier.without_answered(built)
        if failed or reused:
            self._end(failed, reused)
        self._requests.extend(left)
        return bool(groups)

    def _next_rows(self) -> list[Answer]:
        """Return the next rows for one request: they differ only in their repeat."""
        if not self._rows:
            self._read_rows()
        group: list[Answer] = []
        while self._rows and len(group) < self._samples and _alike(group, self._rows[0]):
            group.append(self._rows.popleft())
        return group

    def _read_rows(self) -> None:
        pending = self._run.answers.filter(outcome=Outcome.PENDING, batch_request=None)
        rows = pending.filter(pk__gt=self._last).order_by("pk")
        rows = rows.select_related("image__group", "descriptor")[: min(_BLOCK, self._to_read)]
        self._rows.extend(rows)
        self._to_read -= len(self._rows)
        if self._rows:
            self._last = self._rows[-1].pk


def _alike(group: Sequence[Answer], row: Answer) -> bool:
    return not group or _question(group[0]) == _question(row)


def _question(answer: Answer) -> tuple[object, ...]:
    return (
        answer.experiment,
        answer.question,
        answer.scenario,
        answer.image_id,
        answer.descriptor_id,
        answer.letter,
        answer.order,
    )
