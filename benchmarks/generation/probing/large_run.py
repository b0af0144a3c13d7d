"""A study with a coded probe run of 500,000 answers and nineteen small runs, written in pieces in about a minute."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import islice, product
from typing import Any

ANSWERS = 500_000
STUDY = "isles"
RARE = "lantern"  # in one of ten answers
_VARIANTS = ("short_orsani", "short_velmari", "tall_orsani", "tall_velmari")
_SCENARIOS = tuple(f"scene_{number}" for number in range(1, 51))
_QUESTIONS = tuple(f"trade_{number}" for number in range(1, 26))
_REPEATS = 50
_SMALL_RUNS = 19
_PIECE = 20_000
# Outcomes and rule codings of a hundred consecutive answers.
_CODED = ("plus",) * 45 + ("minus",) * 45 + ("refused",) * 5 + ("both",) * 2 + ("other",) * 3
_CODES = {"plus": 1, "minus": -1}


def make() -> None:
    """Create the study in the database of `DATABASE_URL`."""
    from accounts.models import User
    from foundation.database.bulk import refresh_statistics
    from generation.models import Answer, AnswerCount, Coding
    from studies.models import Study

    study = Study.objects.create(name="Isles", slug=STUDY, seed=7, protocol=Study.Protocol.PAIRS)
    study.memberships.create(user=User.objects.create_user("bench"), role="lead")
    images = _images(study)
    for _ in range(_SMALL_RUNS):
        _fill(_run(study), islice(_subjects(images), 500))
    _fill(_run(study), _subjects(images))
    refresh_statistics(Answer, AnswerCount, Coding)


def _images(study: Any) -> dict[tuple[str, str], int]:
    from generation.models import Image
    from studies.models import StudyGroup

    keys: dict[tuple[str, str], int] = {}
    for variant in _VARIANTS:
        group = StudyGroup.objects.create(study=study, name=variant, display_name=variant.replace("_", " "))
        for scenario in _SCENARIOS:
            image = Image.objects.create(
                study=study,
                group=group,
                experiment="trades",
                scenario=scenario,
                file="none.png",
                sha256=f"{len(keys):064x}",
            )
            keys[scenario, variant] = image.pk
    return keys


def _run(study: Any) -> Any:
    from generation.models import ProbeRun
    from generation.probing.probe_sets import ProbeSet

    questions = [
        {
            "name": name,
            "kind": "choice",
            "text": "Is this person {a_an} {first} or {a_an} {second}?",
            "options": {"plus": "lamplighter", "minus": "kite maker"},
        }
        for name in _QUESTIONS
    ]
    experiment = {
        "name": "trades",
        "comparison": "height",
        "scenarios": list(_SCENARIOS),
        "questions": questions,
    }
    content = {
        "title": "Lamps and kites",
        "runs": _REPEATS,
        "orders": "both",
        "sampling": {"temperature": 0.75, "top_p": 1.0, "max_tokens": 40},
        "experiments": [experiment],
    }
    probe_set = ProbeSet.model_validate(content)
    number = ProbeRun.objects.count()
    return ProbeRun.objects.create(
        study=study,
        probe_set="trades",
        probe_set_digest=probe_set.digest,
        questions=probe_set.model_dump(mode="json"),
        backend="script",
        model_label=f"model {number}",
        parameters={"max_tokens": 40},
        seed=7,
        runs=_REPEATS,
        orders="both",
    )


def _subjects(images: dict[tuple[str, str], int]) -> Iterator[tuple[str, int, str, str, int]]:
    for (scenario, _), image in images.items():
        for question, order, repeat in product(_QUESTIONS, ("published", "reversed"), range(_REPEATS)):
            yield scenario, image, question, order, repeat


def _fill(run: Any, subjects: Iterator[tuple[str, int, str, str, int]]) -> None:
    from django.db import transaction

    start = 0
    while piece := list(islice(subjects, _PIECE)):
        with transaction.atomic():
            _write(run, piece, start)
        start += len(piece)


def _write(run: Any, subjects: Sequence[tuple[str, int, str, str, int]], start: int) -> None:
    from django.utils import timezone

    from foundation.database.bulk import allocate_keys, insert
    from generation.models import Answer, Coding

    numbers = range(start, start + len(subjects))
    outcomes = ["failed" if n % 1000 == 7 else "declined" if n % 500 == 9 else "done" for n in numbers]
    keys = allocate_keys(Answer, len(subjects))
    moment = timezone.now()
    same = {"run_id": run.pk, "experiment": "trades", "descriptor_id": None, "letter": "", "fingerprint": ""}
    same |= {"finish_reason": "stop", "tokens_in": 300, "tokens_out": 9, "seconds": 0.4, "provenance": {}}
    columns: dict[str, Sequence[Any]] = {
        "id": keys,
        **{name: [value] * len(subjects) for name, value in same.items()},
        "scenario": [row[0] for row in subjects],
        "image_id": [row[1] for row in subjects],
        "question": [row[2] for row in subjects],
        "order": [row[3] for row in subjects],
        "repeat": [row[4] for row in subjects],
        "request_sha256": [f"{run.pk:032x}{n:032x}" for n in numbers],
        "outcome": outcomes,
        "reason": ["No memory." if outcome == "failed" else "" for outcome in outcomes],
        "text": [_text(n) if o == "done" else "" for n, o in zip(numbers, outcomes, strict=True)],
        "served_model": ["model-2" if n > ANSWERS // 2 else "model-1" for n in numbers],
        "cost": ["0.00012345"] * len(subjects),
        "reused_from_id": [None] * len(subjects),
        "finished_at": [moment + timedelta(milliseconds=n) for n in numbers],
    }
    insert(Answer, columns)
    coded = [
        (k, _CODED[n * 37 % 100], n) for k, n, o in zip(keys, numbers, outcomes, strict=True) if o == "done"
    ]
    _code(Coding, coded)


def _text(number: int) -> str:
    word = RARE if number % (ANSWERS // 10) == 11 else "lamplighter" if number % 2 else "kite maker"
    return f"Judging by what this person wears and holds, I would say that they are a {word}."


def _code(model: Any, coded: Sequence[tuple[int, str, int]]) -> None:
    from foundation.database.bulk import insert

    by_person = [row for row in coded if row[2] % 500 == 3]  # a person's coding of these is both
    rows = [(key, "rules", "1", "", outcome, n % 10 > 0) for key, outcome, n in coded]
    rows += [(key, "person", "p1", f"{n}-{key}", "both", True) for key, _, n in by_person]
    insert(
        model,
        {
            "answer_id": [row[0] for row in rows],
            "coder": [row[1] for row in rows],
            "version": [row[2] for row in rows],
            "source": [row[3] for row in rows],
            "outcome": [row[4] for row in rows],
            "code": [_CODES.get(row[4], 0) for row in rows],
            "span": ["lamplighter"] * len(rows),
            "sure": [row[5] for row in rows],
            "reason": ["named: one option"] * len(rows),
        },
    )
