"""L(a, g)."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

from analysis.metrics import likelihood, pigeonhole_bootstrap
from tests.analysis.metrics import oracles
from tests.analysis.metrics.tables import ROLES, judgement_tables, judgements, marks, role_tables


def test_likelihood_is_marked_over_shown() -> None:
    # hat: 4 of 6 answers; boat: 1 of 3
    frame = judgements(*marks("Aru", "hat", 6, 4), *marks("Aru", "boat", 3, 1))
    result = likelihood(frame, ROLES, resamples=200)
    assert [(r["attribute"], r["role"], r["shown"], r["marked"], r["likelihood"]) for r in result.rows()] == [
        ("boat", "random", 3, 1, 1 / 3),
        ("hat", "stereotype", 6, 4, 4 / 6),
    ]
    assert (result.used, result.seed, result.resamples) == (9, 0, 200)


@settings(max_examples=60, deadline=None)
@given(judgement_tables(models=True), role_tables())
def test_likelihood_equals_a_count_by_hand(frame: pd.DataFrame, roles: pd.DataFrame) -> None:
    expected = oracles.cell_counts(frame)
    listed = oracles.stereotypes(roles)
    rows = likelihood(frame, roles, resamples=20).rows()
    assert {
        (r["model"], r["identity_group"], r["attribute"]): (r["shown"], r["marked"]) for r in rows
    } == expected
    for row in rows:
        assert row["likelihood"] == row["marked"] / row["shown"]
        pair = (row["identity_group"], row["attribute"])
        assert row["role"] == ("stereotype" if pair in listed else "random")


@settings(max_examples=20, deadline=None)
@given(judgement_tables(people=True), role_tables())
def test_intervals_equal_quantiles_over_resamples_taken_one_by_one(
    frame: pd.DataFrame, roles: pd.DataFrame
) -> None:
    shared = pigeonhole_bootstrap(frame, resamples=60, seed=3)
    draws: dict[tuple[str, str, str], list[float | None]] = {}
    data = shared.judgements
    images = [(data.group_names[g], name) for g, name in zip(data.image_group, data.image_names, strict=True)]
    for b in range(60):
        image_weights = {key: float(w) for key, w in zip(images, shared.image_weights[:, b], strict=True)}
        annotator_weights = (
            {a: float(w) for a, w in zip(data.annotator_names, shared.annotator_weights[:, b], strict=True)}
            if shared.annotators_resampled
            else None
        )
        for key, (shown, marked) in oracles.cell_counts(frame, image_weights, annotator_weights).items():
            draws.setdefault(key, []).append(marked / shown if shown else None)
    for row in likelihood(frame, roles, resampling=shared).rows():
        values = draws[(row["model"], row["identity_group"], row["attribute"])]
        kept = [v for v in values if v is not None]
        if row["interval"] == "wilson":
            assert (
                row["likelihood"] in (0, 1)
                or len(set(kept)) <= 1
                or np.quantile(kept, 0.025) == np.quantile(kept, 0.975)
            )
        elif len(kept) < 0.95 * len(values):
            assert (row["ci_low"], row["ci_high"], row["reason"]) == (None, None, "too_sparse")
        else:
            assert row["ci_low"] == pytest.approx(oracles.quantile(kept, 0.025), abs=1e-6)
            assert row["ci_high"] == pytest.approx(oracles.quantile(kept, 0.975), abs=1e-6)


def test_never_marked_has_wilson_interval_on_effective_number() -> None:
    # One judgement per image and per annotator: nothing is clustered, so the design effect is 1 and Wilson's
    # upper end for 0 of 20 is z²/(n + z²) = 3.8415/23.8415 = 0.16113.
    rows = [(f"i{i}", "Aru", "hat", f"p{i}", 0) for i in range(20)]
    row = likelihood(judgements(*rows), ROLES, resamples=100).rows()[0]
    assert row["interval"] == "wilson"
    assert row["ci_low"] == 0
    assert row["ci_high"] == pytest.approx(0.161125, abs=1e-5)


def test_design_effect_counts_images_that_everybody_answers_alike() -> None:
    # In the varying cell the three answers of an image are always alike: ρ = 1, so 3 answers count as one.
    # The cell never marked has 30 answers in 10 images: n_eff = 10, upper end z²/(10 + z²) = 3.8415/13.8415 =
    # 0.27753.
    rows = [(f"i{i}", "Aru", "hat", f"s{i}{j}", i % 2) for i in range(10) for j in range(3)]
    rows += [(f"i{i}", "Aru", "boat", f"s{i}{j}", 0) for i in range(10) for j in range(3)]
    boat = likelihood(judgements(*rows), ROLES, resamples=100).rows()[0]
    assert boat["design_effect"] == pytest.approx(3)
    assert boat["ci_high"] == pytest.approx(0.277532, abs=1e-5)


@pytest.mark.parametrize("seed", range(6))
def test_design_effect_equals_pairs_counted_one_by_one(seed: int) -> None:
    # Images differ and people differ, so that both correlations are between 0 and 1.
    generator = np.random.default_rng(seed)
    image_chance, person_chance = generator.uniform(-0.3, 0.3, 6), generator.uniform(-0.2, 0.2, 5)
    answers = [
        (
            f"i{i}",
            "Aru",
            attribute,
            f"p{p}",
            int(generator.random() < 0.5 + image_chance[i] + person_chance[p]),
        )
        for i in range(6)
        for attribute in ("hat", "drum", "boat")
        for p in generator.choice(5, generator.integers(1, 5), replace=False)
    ]
    frame = judgements(*answers)
    shared = pigeonhole_bootstrap(frame, resamples=5, annotators="ignore" if seed % 2 else "auto")
    cells = [list(rows) for _, rows in frame.groupby(["identity_group", "attribute"]).indices.items()]
    records = frame.to_dict("records")
    effects = [1.0] * len(cells)
    for key in ("image", "annotator") if shared.annotators_resampled else ("image",):
        torn_within = torn_expected = 0.0
        for rows in cells:
            pairs = [(records[a], records[b]) for a in rows for b in rows if a < b]
            within = [p["present"] != q["present"] for p, q in pairs if p[key] == q[key]]
            across = [p["present"] != q["present"] for p, q in pairs if p[key] != q[key]]
            if within and across:
                torn_within += sum(within)
                torn_expected += sum(across) / len(across) * len(within)
        correlation = min(max(1 - torn_within / torn_expected, 0), 1) if torn_expected else 1
        for number, rows in enumerate(cells):
            met = [sum(records[a][key] == records[b][key] for b in rows) for a in rows]
            effects[number] += (sum(met) / len(met) - 1) * correlation
    table = likelihood(frame, ROLES, resampling=shared).table
    assert table["design_effect"].tolist() == pytest.approx(effects)


def test_an_equal_share_in_every_image_is_not_taken_for_certainty() -> None:
    # One of three marked in each image: every resample has L = 1/3, yet nobody knows L exactly.
    rows = [(f"i{i}", "Aru", "hat", f"s{i}{j}", int(j == 0)) for i in range(5) for j in range(3)]
    row = likelihood(judgements(*rows), ROLES, resamples=100).rows()[0]
    assert row["interval"] == "wilson"
    assert row["ci_low"] < 1 / 3 < row["ci_high"]


def test_cell_seen_on_one_of_many_images_has_no_interval() -> None:
    # Of 10 images, one shows the kite: it is missing from (9/10)^10 = 35 % of resamples.
    rows = [(f"i{i}", "Aru", "hat", f"s{i}", i % 2) for i in range(10)]
    rows += [("i0", "Aru", "kite", f"k{j}", j % 2) for j in range(4)]
    row = likelihood(judgements(*rows), ROLES, resamples=400).rows()[1]
    assert row["attribute"] == "kite"
    assert (row["ci_low"], row["ci_high"], row["reason"]) == (None, None, "too_sparse")


def test_roles_that_contradict_themselves_are_refused() -> None:
    both = pd.DataFrame(
        [("Aru", "hat", "stereotype"), ("Aru", "hat", "random")],
        columns=["identity_group", "attribute", "role"],
    )
    with pytest.raises(ValueError, match=r"roles: \('Aru', 'hat'\) is both stereotype and random"):
        likelihood(judgements(*marks("Aru", "hat", 3, 1)), both)
