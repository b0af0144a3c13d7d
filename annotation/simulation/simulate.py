"""Simulated annotators: invented people with known error rates who label over HTTP like real annotators.

They label only in simulated studies. An annotator's answer depends on the seed, the annotator's number, and
the content of the task, but not on the order of tasks.
"""

import hashlib
import random
import time
import uuid
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from accounts import profiles, tokens
from accounts.models import Annotator, ApiToken, User
from accounts.profile_codes import codes
from annotation.assignment import leases
from annotation.assignment.campaign_quotas import own_values
from annotation.campaigns.instruments.languages import translations
from annotation.campaigns.progress import progress as campaign_progress
from annotation.kinds.registry import UNSURE
from annotation.models import Campaign, Task
from annotation.people import invitations, withdrawal
from annotation.simulation.connection import ApiConnection
from annotation.simulation.loopback import serving
from annotation.simulation.questions import QuestionTruth, answer_questions, explained
from annotation.simulation.truth import Sight, Truth
from foundation.errors import Conflict
from foundation.parameters import ParameterSet, parameter
from generation.models import Image
from studies import consent

_GENDERS = ("woman", "man", "non-binary", "")
_JITTER = 0.02  # standard deviation of a drawn corner, in fractions of the image
_LEAST_SIDE = 0.01
# The largest relative deviation of an annotator's error rates from those requested.
_SPREAD = 0.3


_RATE: dict[str, Any] = {"ge": 0, "lt": 1, "expected": "from 0 to less than 1"}


class SimulationProgress(Protocol):
    """The progress reporter of a command or job."""

    def start(self, total: int | None = None) -> None: ...
    def advance(self, n: int = 1, message: str = "") -> None: ...
    def check_cancelled(self) -> None: ...


class CrowdParameters(ParameterSet):
    """The number of simulated annotators, and the quality of their work."""

    annotators: int = parameter(
        ge=1,
        le=10_000,  # each has an account with a token
        expected="at least 1 and at most 10,000",
        label="Annotators",
        help="Number of invented people.",
    )
    seed: int = parameter(
        0,
        label="Seed",
        help="The seed of the random numbers. The same seed creates the same invented people.",
    )
    limit: int | None = parameter(
        None, ge=1, expected="at least 1", label="Limit", help="Stop after this many submissions."
    )
    false_negative: float = parameter(
        0.1,
        **_RATE,
        label="False negatives",
        help="How often an annotator does not mark an attribute that the image shows.",
    )
    false_positive: float = parameter(
        0.05,
        **_RATE,
        label="False positives",
        help="How often an annotator marks an attribute that the image does not show.",
    )
    spread: float = parameter(
        1.0,
        ge=0,
        le=10,
        label="Spread",
        help="How much models differ when people compare, rank or rate them, as a standard deviation.",
    )
    ties: float = parameter(
        0.3, ge=0, le=10, label="Ties", help="How often two equal items are called a tie: Davidson’s ν."
    )
    position_bias: float = parameter(
        0.0, ge=-5, le=5, label="Position bias", help="Log-odds in favour of the item that is shown first."
    )
    noise: float = parameter(
        0.8,
        ge=0,
        le=10,
        label="Noise",
        help="The standard deviation of the random part of an answer on a scale.",
    )


@dataclass(frozen=True)
class SimulationSummary:
    """The numbers of a finished simulation."""

    annotators: int
    submissions: int
    judgements: int
    seconds: float
    planted: Mapping[str, Any]  # for campaigns of questions: see `QuestionTruth.planted`

    @property
    def judgements_per_second(self) -> float:
        return self.judgements / self.seconds if self.seconds else 0.0


@dataclass(frozen=True)
class SimulatedAnnotator:
    """A simulated annotator with an API key and error rates."""

    annotator: Annotator
    token: ApiToken
    key: str
    number: int
    seed: int
    false_negative: float
    false_positive: float

    def generator(self, *parts: object) -> random.Random:
        """Return a random generator with a seed from this annotator and `parts`."""
        digest = hashlib.sha256("\x1f".join(map(str, (self.seed, self.number, *parts))).encode()).digest()
        return random.Random(int.from_bytes(digest[:8], "big"))


def simulate(
    *,
    campaign: Campaign,
    truth: Truth | None = None,
    base_url: str | None = None,
    try_first: str | None = None,
    progress: SimulationProgress | None = None,
    **parameters: Any,
) -> SimulationSummary:
    """Let simulated annotators label `campaign` until no task is left, or `limit` tasks are answered.

    `parameters` are those of `CrowdParameters`. The server is `base_url`, or `try_first` if it answers and
    uses this database, or a temporary server in this process. The same seed continues with the same people.
    """
    _check(campaign)
    crowd = CrowdParameters.read(parameters)
    truth = truth or Truth(seed=campaign.seed)
    of_questions = _question_truth(campaign, crowd)
    with ExitStack() as stack:
        workers = [
            stack.enter_context(_enrolled(campaign, number, crowd))
            for number in range(1, crowd.annotators + 1)
        ]
        if base_url is None and try_first is not None and _knows(try_first, workers[0].key):
            base_url = try_first
        address = base_url or stack.enter_context(serving())
        if progress is not None:
            free = campaign_progress(campaign).free
            progress.start(free if crowd.limit is None else min(free, crowd.limit))
        started = time.perf_counter()
        submissions, judgements = _work(
            address, campaign, workers, _Truths(truth, of_questions), crowd.limit, progress
        )
        return SimulationSummary(
            annotators=len(workers),
            submissions=submissions,
            judgements=judgements,
            seconds=time.perf_counter() - started,
            planted=of_questions.planted(campaign),
        )


class _Truths(NamedTuple):
    """The truths that simulated annotators see: for attributes and for questions."""

    of_attributes: Truth
    of_questions: QuestionTruth


def _question_truth(campaign: Campaign, crowd: CrowdParameters) -> QuestionTruth:
    return QuestionTruth(
        seed=campaign.seed,
        spread=crowd.spread,
        ties=crowd.ties,
        position_bias=crowd.position_bias,
        noise=crowd.noise,
    )


def _check(campaign: Campaign) -> None:
    if not campaign.study.simulated:
        raise Conflict(
            "study_not_simulated",
            f"“{campaign.study.name}” is a study of people: simulated annotators may label only in a study "
            "that was created as simulated.",
        )
    if campaign.state != Campaign.State.OPEN:
        raise Conflict("campaign_not_open", f"“{campaign.name}” is {campaign.state}; open it first.")


def _knows(address: str, key: str) -> bool:
    """Return whether the server at `address` uses this database, by whether it accepts a new key."""
    with ApiConnection(address, key) as line:
        try:
            return line.status("studies/") in {200, 403}
        except OSError:
            return False


@contextmanager
def _enrolled(campaign: Campaign, number: int, crowd: CrowdParameters) -> Iterator[SimulatedAnnotator]:
    """Invite and enrol a simulated annotator with profile and consent; yield them with an API key."""
    source_id = f"simulated-{crowd.seed}-{number}"
    annotator = Annotator.objects.filter(source=campaign.study.slug, source_id=source_id).first()
    if annotator is None:
        annotator = Annotator.objects.create(
            user=User.objects.create(username=f"annotator-{uuid.uuid4().hex}"),
            origin=Annotator.Origin.SIMULATED,
            source=campaign.study.slug,
            source_id=source_id,
        )
        _describe(annotator, campaign, number)
    if not annotator.enrolments.filter(campaign=campaign).exists():
        _, token = invitations.invite(campaign=campaign, by=None, label="simulated", annotator=annotator)
        enrolment = invitations.accept(token=token, user=annotator.user)
        if campaign.offered_languages:  # annotators are spread evenly over languages
            language = campaign.offered_languages[number % len(campaign.offered_languages)]
            translations.choose(enrolment=enrolment, language=language)
    study = campaign.study
    withdrawal.agree(annotator=annotator, text=consent.current_text(study), study=study)
    assert annotator.user is not None
    api_token, key = tokens.issue(user=annotator.user, name="simulation", scopes=[ApiToken.Scope.ANNOTATE])
    generator = random.Random(f"{crowd.seed}:{number}")
    try:
        yield SimulatedAnnotator(
            annotator=annotator,
            token=api_token,
            key=key,
            number=number,
            seed=crowd.seed,
            false_negative=crowd.false_negative * (1 + _SPREAD * generator.uniform(-1, 1)),
            false_positive=crowd.false_positive * (1 + _SPREAD * generator.uniform(-1, 1)),
        )
    finally:
        tokens.revoke(token=api_token)
        # Open tasks are released at once instead of when their leases expire.
        leases.release(annotator=annotator, campaign=campaign)


def _describe(annotator: Annotator, campaign: Campaign, number: int) -> None:
    groups = [own_values(group) for group in campaign.study.groups.all()]
    regions, names = (
        sorted({codes.label(field, code, language="en") for values in groups for code in values[part]})
        for field, part in (("region_of_origin", "region"), ("nationality", "nationality"))
    )
    profiles.describe(
        annotator=annotator,
        gender=_GENDERS[number % len(_GENDERS)],
        region_of_origin=regions[number % len(regions)] if regions else "",
        nationality=names[number % len(names)] if names else "",
    )


def _work(
    address: str,
    campaign: Campaign,
    workers: list[SimulatedAnnotator],
    truths: _Truths,
    limit: int | None,
    progress: SimulationProgress | None,
) -> tuple[int, int]:
    submissions = judgements = 0
    with ExitStack() as stack:
        queue: deque[tuple[SimulatedAnnotator, ApiConnection, dict[str, Any] | None]] = deque(
            (worker, stack.enter_context(ApiConnection(address, worker.key)), None) for worker in workers
        )
        while queue and (limit is None or submissions < limit):
            worker, line, task = queue.popleft()
            if task is None:
                if not _practise(worker, line, campaign, truths):
                    continue
                task = line.post(f"campaigns/{campaign.pk}/next")
                if task is None:
                    continue
            answered = (
                answer_questions(task, truths.of_questions, worker.generator)
                if "questions" in task
                else answer(worker, task, truths.of_attributes)
            )
            body = {"submission_id": str(uuid.uuid4()), "answer": answered, "active_seconds": 1.0}
            saved = line.post(f"assignments/{task['assignment']}/submit", body) or {}
            submissions += 1
            judgements += len(answered["answers"] if "questions" in task else task["attributes"])
            if progress is not None:
                progress.advance()
                progress.check_cancelled()
            if saved.get("next") is not None or saved.get("why") != "nothing_left":
                queue.append((worker, line, saved.get("next")))
    return submissions, judgements


def _practise(worker: SimulatedAnnotator, line: ApiConnection, campaign: Campaign, truths: _Truths) -> bool:
    """Practise if the campaign requires it; return whether the annotator may go on to real tasks.

    The first round is answered like real tasks; later rounds repeat the right answers from feedback.
    """
    learnt: dict[tuple[str, str], Any] = {}
    learnt_answers: dict[str, dict[tuple[str, str], Any]] = {}  # right answers to questions, by task
    while (task := line.post(f"campaigns/{campaign.pk}/practice/next")) is not None:
        if "questions" in task:
            known = learnt_answers.get(task["task"])
            response = answer_questions(task, truths.of_questions, worker.generator, learnt=known)
        else:
            response = _as_learnt(task, learnt) or answer(worker, task, truths.of_attributes)
        feedback = line.post(f"practice/{task['task']}/answer", {"answer": response}) or {}
        if feedback["practice"]["state"] == "failed":
            return False
        if "questions" in task:
            learnt_answers.setdefault(task["task"], {}).update(explained(task, feedback))
            continue
        for attribute in feedback["attributes"]:
            learnt[task["task"], attribute["ref"]] = (
                attribute["yours"] if attribute["right"] is None else attribute["right"]
            )
    return True


def _as_learnt(task: dict[str, Any], learnt: dict[tuple[str, str], Any]) -> dict[str, Any] | None:
    """Return the right answer from feedback, or None before any feedback."""
    refs = [attribute["ref"] for attribute in task["attributes"]]
    if (task["task"], refs[0]) not in learnt:
        return None
    right = {ref: learnt[task["task"], ref] for ref in refs}
    if task["image"] is None:
        (rating,) = right.values()
        rating = rating[0] if isinstance(rating, list) else rating
        return {"rating": rating, "justification": "As explained." if rating == UNSURE else ""}
    ticked = [ref for ref in refs if right[ref]]
    return {"ticked": ticked, "boxes": [], "none_of_the_above": not ticked}


def answer(worker: SimulatedAnnotator, task: dict[str, Any], truth: Truth) -> dict[str, Any]:
    """Return a simulated annotator's answer to a task."""
    if task["image"] is None:
        return _rate(worker, task["attributes"][0]["text"], truth)
    image = _image(task)
    ticked, boxes = [], []
    for attribute in task["attributes"]:
        sight = truth.sight(image, attribute["text"])
        generator = worker.generator(image.public_id, attribute["text"])
        wrong = generator.random() < (worker.false_negative if sight.present else worker.false_positive)
        if sight.present != wrong:
            ticked.append(attribute["ref"])
            boxes.append({"attribute": attribute["ref"], **_box(sight, generator)})
    return {"ticked": ticked, "boxes": boxes, "none_of_the_above": not ticked}


def _image(task: dict[str, Any]) -> Image:
    # A person sees the picture; a simulated annotator needs the image's key, which no payload contains.
    tasks = Task.objects.select_related("image__group")
    shown_task = (
        tasks.get(assignments__public_id=task["assignment"])
        if "assignment" in task
        else tasks.get(public_id=task["task"])
    )
    assert shown_task.image is not None
    return shown_task.image


def _rate(worker: SimulatedAnnotator, attribute: str, truth: Truth) -> dict[str, Any]:
    generator = worker.generator("rating", attribute)
    if generator.random() < 0.04:
        return {"rating": 3, "justification": "The answer depends on how the image would be drawn."}
    visual = truth.visual(attribute)
    wrong = generator.random() < (worker.false_negative if visual else worker.false_positive)
    choices = (5, 5, 4) if visual != wrong else (1, 2)
    return {"rating": generator.choice(choices), "justification": ""}


def _box(sight: Sight, generator: random.Random) -> dict[str, float]:
    x1, x2 = _side(sight.x, sight.x + sight.width, generator)
    y1, y2 = _side(sight.y, sight.y + sight.height, generator)
    return {"x": x1, "y": y1, "width": x2 - x1, "height": y2 - y1}


def _side(low: float, high: float, generator: random.Random) -> tuple[float, float]:
    low, high = sorted(min(1.0, max(0.0, end + generator.gauss(0, _JITTER))) for end in (low, high))
    if high - low < _LEAST_SIDE:
        low = min(low, 1 - _LEAST_SIDE)
        high = low + _LEAST_SIDE
    return low, high
