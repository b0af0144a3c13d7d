"""Resample weights: the pigeonhole bootstrap."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.metrics import (
    Judgements,
    annotator_ids_usable,
    compare_models,
    krippendorff_alpha,
    pigeonhole_bootstrap,
)
from analysis.metrics.data.annotator_ids import ids_stand_for_people
from analysis.metrics.resampling import bootstrap as module
from analysis.metrics.resampling.bootstrap import multinomial_weights
from tests.analysis.metrics import oracles
from tests.analysis.metrics.tables import ROLES, judgement_tables, judgements, role_tables


def crossed(groups: int = 2, images: int = 6, people: int = 5, seed: int = 0) -> pd.DataFrame:
    generator = np.random.default_rng(seed)
    return judgements(
        *[
            (f"i{i}", group, attribute, f"p{p}", int(generator.random() < 0.4))
            for group in ("Aru", "Bel", "Cir")[:groups]
            for i in range(images)
            for attribute in ("hat", "drum", "boat", "kite")
            for p in generator.choice(people, 3, replace=False)
        ]
    )


def test_each_stratum_keeps_its_size_in_every_resample() -> None:
    weights = multinomial_weights([3, 1, 7], 500, (0, 1)).astype(int)
    for part, size in ((slice(0, 3), 3), (slice(3, 4), 1), (slice(4, 11), 7)):
        assert (weights[part].sum(axis=0) == size).all()


def test_weights_have_the_multinomial_mean_and_variance() -> None:
    # Drawn 8 of 8: mean 1, variance 8·(1/8)·(7/8) = 0.875, covariance −1/8
    weights = multinomial_weights([8], 40_000, (1, 1)).astype(float)
    covariance = np.cov(weights)
    assert weights.mean(axis=1) == pytest.approx(np.ones(8), abs=0.03)
    assert np.diag(covariance) == pytest.approx(np.full(8, 0.875), abs=0.04)
    assert covariance[np.triu_indices(8, 1)] == pytest.approx(np.full(28, -0.125), abs=0.03)


def test_weights_do_not_depend_on_how_many_are_drawn_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = crossed()
    whole = pigeonhole_bootstrap(frame, resamples=64, seed=3)
    blocks = [np.concatenate([getattr(b, name) for b in whole.blocks()]) for name in ("n_shown", "n_marked")]
    for limit in ("HELD_AT_ONCE", "KEPT"):
        monkeypatch.setattr(module, limit, 256)
    small = pigeonhole_bootstrap(frame, resamples=64, seed=3)
    assert len(list(small.blocks())) > 1
    for name, expected in zip(("n_shown", "n_marked"), blocks, strict=True):
        assert np.array_equal(np.concatenate([getattr(b, name) for b in small.blocks()]), expected)
    # Image-only resampling uses another path, which must not depend on blocks either.
    small = pigeonhole_bootstrap(frame, resamples=64, seed=3, annotators="ignore")
    pieces = np.concatenate([b.n_marked for b in small.blocks()])
    monkeypatch.undo()
    whole = pigeonhole_bootstrap(frame, resamples=64, seed=3, annotators="ignore")
    assert np.array_equal(np.concatenate([b.n_marked for b in whole.blocks()]), pieces)


def test_a_judgement_weighs_its_image_times_its_annotator() -> None:
    frame = crossed()
    shared = pigeonhole_bootstrap(frame, resamples=20, seed=9)
    assert shared.annotators_resampled
    data = shared.judgements
    images = [(data.group_names[g], name) for g, name in zip(data.image_group, data.image_names, strict=True)]
    shown = np.concatenate([block.n_shown for block in shared.blocks()])
    marked = np.concatenate([block.n_marked for block in shared.blocks()])
    for b in range(20):
        counts = oracles.cell_counts(
            frame,
            dict(zip(images, map(float, shared.image_weights[:, b]), strict=True)),
            dict(zip(data.annotator_names, map(float, shared.annotator_weights[:, b]), strict=True)),
        )
        assert list(zip(shown[:, b], marked[:, b], strict=True)) == [counts[k] for k in sorted(counts)]


def test_annotators_are_not_resampled_where_ids_are_screens() -> None:
    frame = judgements(
        *[(f"i{i}", "Aru", a, f"s{i}{j}", j) for i in range(5) for j in range(2) for a in ("hat", "boat")]
    )
    ids = annotator_ids_usable(frame)
    assert not ids
    assert ids.reason == "annotator_ids_unusable"
    shared = pigeonhole_bootstrap(frame, resamples=10)
    assert not shared.annotators_resampled
    assert shared.method == "bootstrap of images"


@pytest.mark.parametrize(
    ("rows", "usable"),
    [
        # two of three ids on one image each: most
        ([("i", "p"), ("j", "q"), ("i", "r"), ("j", "r")], False),
        # one of two: not most
        ([("i", "p"), ("i", "r"), ("j", "r")], True),
        # an id judged a unit twice
        ([("i", "p"), ("j", "p"), ("i", "q"), ("j", "q"), ("j", "q")], False),
        # a single image says nothing
        ([("i", "p"), ("i", "q"), ("i", "r")], True),
    ],
)
def test_ids_are_people_unless_they_stay_on_one_image_or_repeat_judgements(rows: list, usable: bool) -> None:
    frame = judgements(*[(image, "Aru", "hat", annotator, 1) for image, annotator in rows])
    assert bool(annotator_ids_usable(frame)) == usable


def crossed_by_people(images: int, people: int, *, doubled: int) -> pd.DataFrame:
    rows = [(f"i{i}", "Aru", "hat", f"p{p}", 1) for i in range(images) for p in range(people)]
    return judgements(*rows, *rows[:doubled])


@pytest.mark.parametrize(("doubled", "usable"), [(0, True), (1, True), (5, True), (6, False)])
def test_ids_are_unusable_by_a_share_of_repeated_judgements_and_not_by_one_case(
    doubled: int, usable: bool
) -> None:
    # 5 of 95 + 5 judgements are 5 %, 6 of 101 are 5.94 %.
    frame = crossed_by_people(19, 5, doubled=doubled)
    ids = annotator_ids_usable(frame)
    assert bool(ids) == usable
    assert ids_stand_for_people(Judgements.of(frame)) == usable
    row = ids.rows()[0]
    assert row["repeated_judgements"] == doubled
    assert row["repeated_share"] == pytest.approx(doubled / len(frame))
    if not usable:
        assert ids.sentence == (
            "5.94 % of the judgements repeat an earlier judgement by the same annotator id (more than 5 %), "
            "so an id does not stand for one person."
        )


def test_the_sentence_names_single_images_where_that_is_the_sign() -> None:
    frame = judgements(*[(f"i{i}", "Aru", "hat", f"s{i}{j}", j) for i in range(5) for j in range(2)])
    more = judgements(("i0", "Aru", "hat", "q", 1), ("i1", "Aru", "hat", "q", 1))
    ids = annotator_ids_usable(pd.concat([frame, more]))
    assert ids.sentence == (
        "90.91 % of the annotator ids occur with one image only, so an id does not stand for one person."
    )


def test_a_rating_given_twice_makes_raters_no_screens() -> None:
    ratings = pd.DataFrame(
        [(f"a{a}", f"p{p}", 4) for a in range(20) for p in range(3)],
        columns=["attribute", "annotator", "rating"],
    )
    for doubled, people in ((1, 3), (4, None)):  # 1 of 61; 4 of 64 are 6 %
        frame = pd.concat([ratings, ratings[:doubled]])
        (row,) = krippendorff_alpha(frame, level="ordinal", resamples=0).rows()
        assert row["annotators"] == people


def test_people_who_judge_the_same_images_in_two_campaigns_are_people() -> None:
    twice = [("i", "p", "first"), ("j", "p", "first"), ("i", "p", "second"), ("j", "p", "second")]
    frame = judgements(*[(image, "Aru", "hat", annotator, 1) for image, annotator, _ in twice])
    assert not annotator_ids_usable(frame)
    assert annotator_ids_usable(frame.assign(campaign=[campaign for *_, campaign in twice]))
    assert not annotator_ids_usable(frame.assign(campaign=["first", "second", "second", "second"]))


def test_the_order_of_rows_does_not_matter_and_the_seed_does() -> None:
    frame = crossed()
    first = pigeonhole_bootstrap(frame, resamples=100, seed=1).to_frame()
    shuffled = pigeonhole_bootstrap(frame.sample(frac=1, random_state=4), resamples=100, seed=1).to_frame()
    pd.testing.assert_frame_equal(first, shuffled)
    other = pigeonhole_bootstrap(frame, resamples=100, seed=2).to_frame()
    assert not first["ci_low"].equals(other["ci_low"])


def test_images_shared_by_two_campaigns_move_together_and_others_apart() -> None:
    frame = crossed(groups=1)
    shared = pd.concat([frame.assign(model="a"), frame.assign(model="b")])
    apart = pd.concat([frame.assign(model="a"), frame.assign(model="b", image="x" + frame["image"])])
    rows = compare_models(shared, ROLES, resamples=200).rows()
    # The same answers in both campaigns: the difference is 0 in every resample.
    assert [(r["difference"], r["reason"]) for r in rows] == [(0, "zero_width")] * 3
    rows = compare_models(apart, ROLES, resamples=200).rows()
    assert all(r["ci_low"] < 0 < r["ci_high"] for r in rows)


def test_difference_of_a_group_whose_cell_is_often_lost_has_no_interval() -> None:
    # Model b shows the kite on one of six images: it is lost in (5/6)^6 = 33 % of resamples.
    frame = crossed(groups=1)
    b = frame[(frame["attribute"] != "kite") | (frame["image"] == "i0")].assign(image="x" + frame["image"])
    models = pd.concat([frame.assign(model="a"), b.assign(model="b")])
    for by, reason in (("identity_group", "too_sparse"), ("all", None)):
        rows = compare_models(models, ROLES, by=by, resamples=200).rows()
        row = next(r for r in rows if r["measure"] == "likelihood_stereotype")
        assert row["reason"] == reason
        assert row["difference"] is not None


def test_a_resampling_of_other_judgements_is_refused() -> None:
    shared = pigeonhole_bootstrap(crossed(), resamples=10)
    with pytest.raises(ValueError, match="resampling: was made from"):
        compare_models(crossed(images=3), ROLES, resampling=shared)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"resamples": 0}, "resamples: expected a whole number of at least 1, got 0"),
        ({"seed": -1}, "seed: expected a whole number of at least 0, got -1"),
        ({"annotators": "all"}, "annotators: 'all' is not one of"),
    ],
)
def test_wrong_options_are_refused_by_name(options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pigeonhole_bootstrap(crossed(), **options)


@settings(max_examples=40, deadline=None)
@given(judgement_tables(models=True), role_tables(), st.sampled_from(["all", "identity_group"]))
def test_differences_and_their_intervals_equal_weighing_judgements_one_by_one(
    frame: pd.DataFrame, roles: pd.DataFrame, by: str
) -> None:
    shared = pigeonhole_bootstrap(frame, resamples=30, seed=4)
    data = shared.judgements
    images = [(data.group_names[g], name) for g, name in zip(data.image_group, data.image_names, strict=True)]

    def measured(weights: int | None) -> dict[tuple[str, str, str], float | None]:
        """(model, scope value, measure) → value, as it stands or in one resample."""
        drawn = None if weights is None else dict(zip(images, shared.image_weights[:, weights], strict=True))
        people = None
        if weights is not None and shared.annotators_resampled:
            people = dict(zip(data.annotator_names, shared.annotator_weights[:, weights], strict=True))
        means = oracles.role_means(oracles.cell_counts(frame, drawn, people), roles)
        found: dict[tuple[str, str, str], float | None] = {}
        for model in data.model_names:
            mine = {group: pair for (name, group), pair in means.items() if name == model}
            scopes = {group: [pair] for group, pair in mine.items()} if by == "identity_group" else {}
            scopes |= {"": [pair for pair in mine.values() if None not in pair]} if by == "all" else {}
            for scope, pairs in scopes.items():
                for role, name in enumerate(("likelihood_stereotype", "likelihood_random")):
                    values = [pair[role] for pair in pairs]
                    found[model, scope, name] = (
                        sum(values) / len(values) if values and None not in values else None
                    )
                stereo, random = (found[model, scope, f"likelihood_{r}"] for r in ("stereotype", "random"))
                found[model, scope, "theta"] = stereo / random if stereo is not None and random else None
        return found

    stands, draws = measured(None), [measured(number) for number in range(30)]
    for row in compare_models(frame, roles, by=by, resampling=shared).rows():
        a, b = ((row[side], row["scope_value"], row["measure"]) for side in ("model_a", "model_b"))
        values = stands.get(a), stands.get(b)
        if None in values:
            assert (row["difference"], row["reason"]) == (None, "not_defined")
            continue
        assert row["difference"] == pytest.approx(values[0] - values[1], abs=1e-12)
        assert row["ratio"] == (pytest.approx(values[0] / values[1]) if values[1] else None)
        pairs = [(draw.get(a), draw.get(b)) for draw in draws]
        kept = [one - other for one, other in pairs if one is not None and other is not None]
        assert row["resamples_undefined"] == 30 - len(kept)
        if row["ci_low"] is not None:
            assert row["ci_low"] == pytest.approx(oracles.quantile(kept, 0.025), abs=1e-6)
            assert row["ci_high"] == pytest.approx(oracles.quantile(kept, 0.975), abs=1e-6)


def test_joint_difference_of_models_by_hand() -> None:
    # Aru, model a: stereotypes 3/6 and 1/6 → 1/3, random 1/6; model b: 2/6, 0 → 1/6, random 1/6. θ 2 against
    # 1.
    def rows(model: str, marked: dict[str, int]) -> pd.DataFrame:
        answers = [
            (f"{i}", "Aru", a, f"p{j}", int(3 * j + i < k))
            for a, k in marked.items()
            for i in range(3)
            for j in range(2)
        ]
        return judgements(*answers).assign(model=model)

    frame = pd.concat(
        [rows("a", {"hat": 3, "drum": 1, "boat": 1}), rows("b", {"hat": 2, "drum": 0, "boat": 1})]
    )
    by = {r["measure"]: r for r in compare_models(frame, ROLES, resamples=50).rows()}
    assert by["likelihood_stereotype"]["difference"] == pytest.approx(1 / 6)
    assert by["theta"]["difference"] == pytest.approx(1)
    assert by["theta"]["ratio"] == pytest.approx(2)
