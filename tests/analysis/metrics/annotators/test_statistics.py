"""Statistics of each annotator."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

from analysis.metrics import annotator_ids_usable, annotator_statistics
from analysis.metrics.annotators import skill
from analysis.metrics.annotators.rating_statistics import rater_statistics
from tests.analysis.metrics import oracles
from tests.analysis.metrics.tables import judgement_tables, judgements


def noisy(accuracy: dict[str, float], *, units: int = 200, chance: float = 0.4) -> pd.DataFrame:
    """Everybody judges every unit, each with a different probability of being right."""
    generator = np.random.default_rng(5)
    truth = generator.random(units) < chance
    return judgements(
        *[
            (f"i{u // 4}", "Aru", f"a{u % 4}", who, int(truth[u] == (generator.random() < right)))
            for u in range(units)
            for who, right in accuracy.items()
        ]
    )


def test_agreement_with_others_needs_no_majority() -> None:
    # Unit i: p yes, q yes, r no, s no. p agrees with 1 of 3 others. Unit j: p and q alone, both no: 1 of 1.
    # p: (1/3 + 1)/2 = 2/3; r: 1/3.
    rows = [("i", w, y) for w, y in zip("pqrs", (1, 1, 0, 0), strict=True)] + [("j", w, 0) for w in "pq"]
    rows += [("k", "r", 1), ("l", "s", 1)]
    frame = judgements(*[(image, "Aru", "hat", who, y) for image, who, y in rows])
    by = {
        r["annotator"]: r["agreement_with_others"] for r in annotator_statistics(frame, skills=False).rows()
    }
    assert by == pytest.approx({"p": 2 / 3, "q": 2 / 3, "r": 1 / 3, "s": 1 / 3})


def ratings(*rows: tuple[str, str, int]) -> pd.DataFrame:
    return pd.DataFrame(list(rows), columns=["attribute", "annotator", "rating"])


def test_agreement_of_raters_is_the_share_of_others_with_the_same_answer() -> None:
    # hat: p 5, q 5, r 4. p agrees with 1 of 2. boat: p and q, 3 and 2: 0 of 1. kite: r alone.
    rows = [
        ("hat", "p", 5),
        ("hat", "q", 5),
        ("hat", "r", 4),
        ("boat", "p", 3),
        ("boat", "q", 2),
        ("kite", "r", 1),
    ]
    table = rater_statistics(ratings(*rows)).rows()
    assert [r["ratings"] for r in table] == [2, 2, 2]
    assert [r["agreement_with_others"] for r in table] == [0.25, 0.25, 0.0]
    assert [r["reason"] for r in table] == [None, None, None]


def test_an_id_that_rated_an_attribute_twice_in_one_campaign_is_not_a_person() -> None:
    twice = ratings(("hat", "p", 5), ("hat", "p", 4), ("hat", "q", 5))
    assert {(r["agreement_with_others"], r["reason"]) for r in rater_statistics(twice).rows()} == {
        (None, "annotator_ids_unusable")
    }
    apart = twice.assign(campaign=["first", "second", "first"])
    assert rater_statistics(apart).rows()[1]["agreement_with_others"] == 0.5


@settings(max_examples=50, deadline=None)
@given(judgement_tables(people=True))
def test_agreement_with_others_equals_a_count_by_hand(frame: pd.DataFrame) -> None:
    usable = bool(annotator_ids_usable(frame))
    records = frame.to_dict("records")
    for row in annotator_statistics(frame, skills=False).rows():
        shares = []
        for mine in (r for r in records if r["annotator"] == row["annotator"]):
            others = [
                r["present"]
                for r in records
                if (r["image"], r["attribute"]) == (mine["image"], mine["attribute"])
                and r["annotator"] != row["annotator"]
            ]
            if others:
                shares.append(sum(y == mine["present"] for y in others) / len(others))
        expected = pytest.approx(sum(shares) / len(shares)) if usable and shares else None
        assert row["agreement_with_others"] == expected
        assert row["reason"] == (None if usable else "annotator_ids_unusable")
    assert sum(r["judgements"] for r in annotator_statistics(frame, skills=False).rows()) == sum(
        map(len, oracles.units(frame).values())
    )


def test_skill_ranks_annotators_and_finds_the_one_who_guesses() -> None:
    frame = noisy({"good": 0.97, "fair": 0.85, "weak": 0.7, "coin": 0.5})
    by = {r["annotator"]: r for r in annotator_statistics(frame).rows()}
    for measure in ("dawid_skene", "mace"):
        assert min(by, key=lambda who: by[who][measure]) == "coin"
        assert by["weak"][measure] < min(by["good"][measure], by["fair"][measure])
    assert by["good"]["dawid_skene"] > 0.85
    assert by["coin"]["dawid_skene"] < 0.65


def test_models_of_skill_report_their_iterations_and_can_be_stopped() -> None:
    frame = noisy({"p": 0.9, "q": 0.9, "r": 0.8}, units=30)
    skill._latest.clear()
    told: list[None] = []
    watched = annotator_statistics(frame, iterated=lambda: told.append(None)).rows()
    # MACE makes 25 iterations; how many Dawid–Skene needs depends on the data.
    assert len(told) > skill.MACE_ITERATIONS
    assert watched == annotator_statistics(frame).rows()

    def stop() -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        annotator_statistics(frame, iterated=stop, seed=1)


def test_skills_are_remembered_for_the_same_judgements_and_seed_only() -> None:
    frame = noisy({"p": 0.9, "q": 0.9, "r": 0.8}, units=30)
    told: list[int] = []

    def skills(frame: pd.DataFrame, seed: int) -> list[tuple[float, float]]:
        before = len(told)
        rows = annotator_statistics(frame, iterated=lambda: told.append(1), seed=seed).rows()
        told.append(-1 if len(told) == before else 0)
        return [(row["dawid_skene"], row["mace"]) for row in rows]

    skill._latest.clear()
    first = skills(frame, 0)
    assert skills(frame, 0) == first
    assert told[-1] == -1  # remembered
    other = frame.assign(present=1 - frame["present"])
    for changed, seed in ((frame, 1), (other, 0)):
        skills(changed, seed)
        assert told[-1] == 0
    assert skills(frame, 0) == first


def test_without_crowd_kit_skill_is_null_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(skill, "PACKAGE", "a_package_that_is_not_here")
    row = annotator_statistics(noisy({"p": 0.9, "q": 0.9}, units=20)).rows()[0]
    assert (row["dawid_skene"], row["mace"], row["reason"]) == (None, None, "crowd_kit_not_installed")
    assert row["agreement_with_others"] is not None


def test_gold_accuracy_and_self_consistency() -> None:
    frame = noisy({"p": 1.0, "q": 1.0}, units=8)
    # p is right on 2 of 3 gold tasks; repeats 4 units, answers one otherwise.
    gold = pd.DataFrame({"annotator": ["p"] * 3, "present": [1, 0, 1], "expected": [1, 0, 0]})
    repeats = frame[frame["annotator"] == "p"].head(4).copy()
    repeats.iloc[0, repeats.columns.get_loc("present")] ^= 1
    unknown = judgements(("never shown", "Aru", "a0", "p", 1))
    rows = annotator_statistics(frame, gold=gold, repeats=pd.concat([repeats, unknown]), skills=False).rows()
    assert [(r["gold_accuracy"], r["self_consistency"]) for r in rows] == [
        (pytest.approx(2 / 3), 0.75),
        (None, None),
    ]
