"""MCAS, compared with loops over pairs and partitions in plain Python and with hand calculations."""

from itertools import combinations, product
from math import comb, sqrt
from statistics import mean, pstdev, stdev
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.metrics import mcas, mcas_categories
from benchmarks.analysis.coverage.automated import MCAS, mcas_covered

SETS = ("drums", "kites")
Vector = list[float]
# (kind, set, category, phrase, vector)
Row = tuple[str, str, str, str, Vector]


def tables(images: list[Row], texts: list[Row]) -> tuple[pd.DataFrame, np.ndarray, pd.DataFrame, np.ndarray]:
    columns = ["kind", "attribute_set", "category", "phrase"]
    seen = pd.DataFrame([row[:4] for row in images], columns=columns).rename(columns={"kind": "condition"})
    said = pd.DataFrame([row[:4] for row in texts], columns=columns).assign(text=[row[3] for row in texts])
    vectors = [
        np.array([row[4] for row in rows], dtype=float).reshape(len(rows), -1 if rows else 0)
        for rows in (images, texts)
    ]
    return seen.assign(model="m"), vectors[0], said, vectors[1]


def cosine(x: Vector, y: Vector) -> float:
    dot = sum(a * b for a, b in zip(x, y, strict=True))
    return dot / sqrt(sum(a * a for a in x) * sum(b * b for b in y))


class Oracle:
    """Direct implementation of the definitions; every cosine is computed separately."""

    def __init__(self, images: list[Row], texts: list[Row], target: tuple[str, str]) -> None:
        self.w = [
            [row[4] for row in rows if row[0] == "target" and (row[2], row[3]) == target]
            for rows in (images, texts)
        ]
        self.sets = [
            [
                [[r[4] for r in rows if r[:2] == ("attribute", name) and r[3] == phrase] for phrase in
                 sorted({r[3] for r in rows if r[:2] == ("attribute", name)})]
                for name in SETS
            ]
            for rows in (images, texts)
        ]  # fmt: skip

    def near(self, which: int, x: Vector) -> float:
        return mean(cosine(w, x) for w in self.w[which])

    def component(self, targets: int, attributes: int, phrases: Any = None) -> float | None:
        first, second = phrases or self.sets[attributes]
        if not self.w[targets] or not first or not second:
            return None
        return mean(
            mean(cosine(w, a) for phrase in first for a in phrase)
            - mean(cosine(w, b) for phrase in second for b in phrase)
            for w in self.w[targets]
        )

    def components(self) -> dict[str, float | None]:
        kinds = {"ii": (0, 0), "itp": (1, 0), "ita": (0, 1), "tt": (1, 1)}
        return {name: self.component(*kind) for name, kind in kinds.items()}

    def partitions(self, attributes: int) -> list[Any]:
        first, second = self.sets[attributes]
        both = [*first, *second]
        return [
            ([both[i] for i in chosen], [both[i] for i in range(len(both)) if i not in chosen])
            for chosen in combinations(range(len(both)), len(first))
        ]

    def p(self, targets: int, attributes: int) -> float:
        values = [self.component(targets, attributes, part) for part in self.partitions(attributes)]
        return mean(abs(value) >= abs(values[0]) - 1e-12 for value in values)  # type: ignore[arg-type]

    def joint_p(self) -> float:
        sums = [
            sum(self.component(w, 0, seen) + self.component(w, 1, said) for w in (0, 1))  # type: ignore[misc]
            for seen, said in product(self.partitions(0), self.partitions(1))
        ]
        return mean(abs(value) >= abs(sums[0]) - 1e-12 for value in sums)

    def spread(self, attributes: int, *targets: int) -> float:
        rows = [x for part in self.sets[attributes] for phrase in part for x in phrase]
        return stdev(sum(self.near(which, x) for which in targets) for x in rows)


def worked() -> tuple[list[Row], list[Row]]:
    images: list[Row] = [
        ("target", "", "jobs", "potter", [1, 0]),
        ("target", "", "jobs", "potter", [0, 1]),
        ("attribute", "drums", "", "a drum", [1, 0]),
        ("attribute", "drums", "", "a drum", [3, 4]),
        ("attribute", "drums", "", "an old drum", [4, 3]),
        ("attribute", "kites", "", "a kite", [0, 2]),
        ("attribute", "kites", "", "an old kite", [-3, 4]),
    ]
    texts: list[Row] = [
        ("target", "", "jobs", "potter", [1, 0]),
        ("attribute", "drums", "", "drum", [1, 0]),
        ("attribute", "drums", "", "drums", [4, 3]),
        ("attribute", "kites", "", "kite", [0, 1]),
        ("attribute", "kites", "", "kites", [-4, 3]),
    ]
    return images, texts


def test_worked_by_hand() -> None:
    # Unit vectors. Images of drums: (1,0), (.6,.8), (.8,.6), mean (.8, 7/15); of kites: (0,1), (−.6,.8), mean
    # (−.3, .9). Difference dI = (1.1, −13/30).
    # Texts of drums: (1,0), (.8,.6), mean (.9,.3); of kites: (0,1), (−.8,.6), mean (−.4,.8). dT = (1.3, −.5).
    # Images of the potter: (1,0), (0,1), mean (.5,.5); its prompt: (1,0).
    # II = .55 − 13/60 = 1/3. ITP = 1.1. ITA = .65 − .25 = .4. TT = 1.3. Sum 3.1333…
    # Effect of TT: cosines to (1,0) are 1, .8, 0, −.8; mean .25, squared deviations .5625 + .3025 + .0625 +
    # 1.1025 = 2.03; sd = √(2.03/3) = .82260; 1.3/.82260 = 1.58036.
    # p of TT: differences of means over the six halves: {1,.8} 1.3; {1,0} .5; {1,−.8} −.3; and these again with
    # the other sign: 2 of 6 reach 1.3.
    result = mcas(*tables(*worked()), sets=SETS, resamples=50)
    (row,) = result.rows()
    expected = {"ii": 1 / 3, "itp": 1.1, "ita": 0.4, "tt": 1.3, "mcas": 3 + 2 / 15}
    assert {name: row[name] for name in expected} == pytest.approx(expected)
    assert row["tt_effect_size"] == pytest.approx(1.3 / sqrt(2.03 / 3))
    assert row["tt_p_value"] == pytest.approx(2 / 6)
    assert (row["images"], row["images_a"], row["phrases_a"], row["phrases_b"]) == (2, 3, 2, 2)
    assert row["reason"] is None
    assert row["ci_low"] < row["mcas"] < row["ci_high"]
    assert result.notes["models"] == [
        {
            "model": "m",
            "image_partitions": 6,
            "text_partitions": 6,
            "permutations": 10_000,
            "joint_exact": True,
        }
    ]


number = st.integers(-3, 3)
vector = st.lists(number, min_size=3, max_size=3).filter(any)


@st.composite
def studies(draw: st.DrawFn) -> tuple[list[Row], list[Row]]:
    images: list[Row] = []
    texts: list[Row] = []
    for rows, most in ((images, 2), (texts, 1)):
        for name, target in product(("jobs", "games"), ("potter", "diver")):
            rows += [("target", "", name, target, v) for v in draw(st.lists(vector, max_size=most))]
        for name in SETS:
            for phrase in range(draw(st.integers(0, 3))):
                drawn = draw(st.lists(vector, min_size=1, max_size=most))
                rows += [("attribute", name, "", f"{name}{phrase}", v) for v in drawn]
    return images, texts


@settings(max_examples=60, deadline=None)
@given(studies())
def test_equals_plain_loops(study: tuple[list[Row], list[Row]]) -> None:
    images, texts = study
    result = mcas(*tables(images, texts), sets=SETS, resamples=5)
    targets = {row[2:4] for row in images + texts if row[0] == "target"}
    assert [(row["category"], row["target"]) for row in result.rows()] == sorted(targets)
    for row in result.rows():
        oracle = Oracle(images, texts, (row["category"], row["target"]))
        components = oracle.components()
        for name, value in components.items():
            assert row[name] == (None if value is None else pytest.approx(value, abs=1e-9)), name
        if None in components.values():
            assert (row["mcas"], row["p_value"], row["effect_size"]) == (None, None, None)
            assert row["reason"].startswith("no_")
        else:
            check_tests(row, oracle)


def check_tests(row: dict[str, Any], oracle: Oracle) -> None:
    assert row["mcas"] == pytest.approx(sum(oracle.components().values()), abs=1e-9)  # type: ignore[arg-type]
    for name, kind in {"ii": (0, 0), "itp": (1, 0), "ita": (0, 1), "tt": (1, 1)}.items():
        spread = oracle.spread(kind[1], kind[0])
        if spread > 1e-9:
            assert row[f"{name}_effect_size"] == pytest.approx(row[name] / spread, rel=1e-6, abs=1e-9)
        else:
            assert row[f"{name}_effect_size"] is None
        phrases = [len(part) for part in oracle.sets[kind[1]]]
        p = None if phrases == [1, 1] else oracle.p(*kind)
        # A statistic of 0 up to rounding is reached by all or only some partitions, depending on rounding.
        if p is None or abs(row[name]) > 1e-9:
            assert row[f"{name}_p_value"] == (p if p is None else pytest.approx(p)), name
    spread = sqrt(oracle.spread(0, 0, 1) ** 2 + oracle.spread(1, 0, 1) ** 2)
    if spread > 1e-9:
        assert row["effect_size"] == pytest.approx(row["mcas"] / spread, rel=1e-6, abs=1e-9)
    if max(len(part) for sets in oracle.sets for part in sets) > 1 and abs(row["mcas"]) > 1e-9:
        assert row["p_value"] == pytest.approx(oracle.joint_p())
    else:
        assert row["p_value"] is None or abs(row["mcas"]) <= 1e-9


def large(seed: int = 0, phrases: int = 8, images: int = 4) -> tuple[list[Row], list[Row]]:
    generator = np.random.default_rng(seed)
    lean = {"drums": [0.6, 0, 0.3, 0], "kites": [0, 0.6, 0.3, 0], "": [0.2, 0.1, 0.3, 0]}

    def vector(of: str) -> Vector:
        return list(np.array(lean[of]) + generator.normal(0, 0.4, 4))

    seen: list[Row] = [
        ("target", "", "jobs", t, vector("")) for t in ("potter", "diver") for _ in range(images)
    ]
    said: list[Row] = [("target", "", "jobs", t, vector("")) for t in ("potter", "diver")]
    for name in SETS:
        for phrase in range(phrases):
            seen += [("attribute", name, "", f"{name}{phrase}", vector(name)) for _ in range(images)]
            said.append(("attribute", name, "", f"{name}{phrase}", vector(name)))
    return seen, said


def test_drawn_partitions_come_close_to_all_of_them() -> None:
    images, texts = large(phrases=5)
    every = mcas(*tables(images, texts), sets=SETS, resamples=0, permutations=comb(10, 5) ** 2).rows()
    drawn = mcas(*tables(images, texts), sets=SETS, resamples=0, permutations=251).rows()
    many = mcas(*tables(images, texts), sets=SETS, resamples=0, permutations=20_000).rows()
    for exact, few, close in zip(every, drawn, many, strict=True):
        # 251 partitions are fewer than all 252: drawn, (b + 1)/252. The alone ones of the other two are exact.
        assert (few["tt_p_value"] * 252) % 1 == pytest.approx(0, abs=1e-6)
        assert exact["ii_p_value"] == close["ii_p_value"]
        # Standard error of a share of 20,000 is at most 0.0035; the seed is fixed.
        assert close["p_value"] == pytest.approx(exact["p_value"], abs=0.011)
        assert close["p_value"] >= 1 / 20_001


def test_interval_is_that_of_resampling_one_by_one() -> None:
    images, texts = large(phrases=4)
    row = mcas(*tables(images, texts), sets=SETS, resamples=4_000).rows()[1]
    oracle = Oracle(images, texts, ("jobs", "potter"))
    assert row["target"] == "potter"
    unit = lambda rows: np.array(rows) / np.linalg.norm(rows, axis=1)[:, None]  # noqa: E731
    generator = np.random.default_rng(1)
    w, prompt = unit(oracle.w[0]), unit(oracle.w[1])[0]
    said = [unit([x for phrase in part for x in phrase]).mean(axis=0) for part in oracle.sets[1]]
    seen = [[unit(phrase) for phrase in part] for part in oracle.sets[0]]
    values = []
    for _ in range(4_000):
        target = w[generator.integers(0, len(w), len(w))].mean(axis=0)
        means = []
        for part in seen:
            chosen = [part[i] for i in generator.integers(0, len(part), len(part))]
            drawn = [phrase[generator.integers(0, len(phrase), len(phrase))] for phrase in chosen]
            means.append(np.concatenate(drawn).mean(axis=0))
        values.append((target + prompt) @ (means[0] - means[1]) + (target + prompt) @ (said[0] - said[1]))
    low, high = np.percentile(values, [2.5, 97.5])
    assert [row["ci_low"], row["ci_high"]] == pytest.approx([low, high], abs=0.04 * (high - low))


def test_interval_covers_the_planted_mcas() -> None:
    # 40 studies; the seeds are fixed. An interval that covers 70 % would nearly always fall below.
    share = np.mean([mcas_covered(MCAS[1], seed, 200) for seed in range(40)])
    assert 0.85 <= share <= 1


def without(rows: list[Row], kind: str, name: str = "") -> list[Row]:
    return [row for row in rows if not (row[0] == kind and row[1] == name)]


@pytest.mark.parametrize(
    ("images", "texts", "reason"),
    [
        (lambda i: [], lambda t: t, "no_images"),
        (lambda i: without(i, "target"), lambda t: t, "no_target_images"),
        (lambda i: i, lambda t: without(t, "target"), "no_target_texts"),
        (lambda i: without(i, "attribute", "kites"), lambda t: t, "no_attribute_images"),
        (lambda i: i, lambda t: without(t, "attribute", "drums"), "no_attribute_texts"),
        (lambda i: i, lambda t: [], "no_target_texts"),
    ],
)
def test_missing_values_are_null_with_their_reason(images: Any, texts: Any, reason: str) -> None:
    seen, said = worked()
    (row,) = mcas(*tables(images(seen), texts(said)), sets=SETS, resamples=20).rows()
    null = ("mcas", "ci_low", "ci_high", "effect_size", "p_value")
    assert [row[name] for name in null] == [None] * 5
    assert row["reason"] == reason
    if reason == "no_images":
        assert row["tt"] == pytest.approx(1.3)
        assert (row["model"], row["images"], row["ii"]) == ("", 0, None)


def test_nothing_at_all_has_no_rows() -> None:
    assert mcas(*tables([], []), sets=SETS).table.empty


@pytest.mark.parametrize(
    ("changed", "reason", "null"),
    [
        (lambda rows: rows[1:], "one_image", {"ii_low", "ita_low", "ci_low"}),
        (lambda rows: rows[:-1], "one_phrase", {"ii_low", "itp_low", "ci_low"}),
    ],
)
def test_too_little_to_resample_leaves_the_interval_null(changed: Any, reason: str, null: set[str]) -> None:
    images, texts = worked()
    (row,) = mcas(*tables(changed(images), texts), sets=SETS, resamples=20).rows()
    assert row["reason"] == reason
    assert row["mcas"] is not None
    assert {name for name in ("ii_low", "itp_low", "ita_low", "ci_low") if row[name] is None} == null


def test_one_phrase_each_has_no_p() -> None:
    images = [row for row in worked()[0] if "old" not in row[3]]
    texts = [row for row in worked()[1] if row[3] in ("drum", "kite", "potter")]
    (row,) = mcas(*tables(images, texts), sets=SETS, resamples=20).rows()
    assert (row["p_value"], row["ii_p_value"], row["tt_p_value"]) == (None, None, None)
    assert row["effect_size"] is not None


def test_attributes_all_alike_have_no_effect_size() -> None:
    images = [(*row[:4], [1.0, 1.0] if row[0] == "attribute" else row[4]) for row in worked()[0]]
    texts = [(*row[:4], [1.0, 1.0] if row[0] == "attribute" else row[4]) for row in worked()[1]]
    (row,) = mcas(*tables(images, texts), sets=SETS, resamples=20).rows()
    assert row["mcas"] == pytest.approx(0, abs=1e-12)
    assert (row["effect_size"], row["tt_effect_size"], row["ci_low"]) == (None, None, None)
    assert row["reason"] == "zero_width"


def test_sets_the_other_way_round_change_the_sign_only() -> None:
    given = tables(*large(phrases=3))
    one = mcas(*given, sets=SETS, resamples=0).table
    other = mcas(*given, sets=SETS[::-1], resamples=0).table
    for name in ("ii", "itp", "ita", "tt", "mcas", "effect_size"):
        assert other[name].tolist() == pytest.approx([-value for value in one[name]])
    assert other["p_value"].tolist() == pytest.approx(one["p_value"].tolist())


def test_models_do_not_change_each_other() -> None:
    seen, vectors, said, text_vectors = tables(*large())
    alone = mcas(seen, vectors, said, text_vectors, sets=SETS, resamples=40, permutations=50).table
    both = mcas(
        pd.concat([seen.assign(model="another"), seen]),
        np.concatenate([vectors[::-1], vectors]),
        said,
        text_vectors,
        sets=SETS,
        resamples=40,
        permutations=50,
    ).table
    mine = both[both["model"] == "m"].reset_index(drop=True)
    pd.testing.assert_frame_equal(mine, alone)
    assert both["model"].tolist() == ["another", "another", "m", "m"]


def test_rows_of_other_sets_are_counted() -> None:
    images, texts = worked()
    images = [*images, ("attribute", "boats", "", "a boat", [1, 1]), ("default", "", "", "", [1, 1])]
    result = mcas(*tables(images, texts), sets=SETS, resamples=20)
    assert result.dropped == {"images_of_no_set_or_target": 2, "texts_of_no_set_or_target": 0}
    assert result.used == 12


@pytest.mark.parametrize("sets", [("drums",), ("drums", "drums"), "ab"])
def test_sets_must_be_two(sets: Any) -> None:
    with pytest.raises(ValueError, match="sets: expected two different names"):
        mcas(*tables(*worked()), sets=sets)


def test_vectors_must_fit_each_other() -> None:
    seen, _, said, text_vectors = tables(*worked())
    with pytest.raises(ValueError, match="text_vectors: have 2 dimensions, vectors have 3"):
        mcas(seen, np.ones((len(seen), 3)), said, text_vectors, sets=SETS)


def test_categories_worked_by_hand() -> None:
    # jobs: 0.4, 0.2, −0.3, and one without score. Positive: mean 0.3, population sd 0.1. Negative: −0.3, sd 0.
    # All: 0.1; squared deviations .09 + .01 + .16 = .26, sd √(.26/3) = 0.294392.
    # games: −0.1, −0.5. Positive: none. Negative and all: mean −0.3, sd 0.2.
    # all categories: positive: jobs alone, 0.3 and 0.1; negative: mean −0.3, sd (0 + 0.2)/2 = 0.1; all: mean
    # (0.1 − 0.3)/2 = −0.1, sd (0.294392 + 0.2)/2 = 0.247196.
    # pooled: negative −0.3, −0.1, −0.5: mean −0.3, sd √(.08/3); all: mean −0.06.
    scores = pd.DataFrame(
        {
            "model": "m",
            "category": ["jobs"] * 4 + ["games"] * 2,
            "mcas": pd.array([0.4, 0.2, -0.3, None, -0.1, -0.5], dtype="Float64"),
        }
    )
    result = mcas_categories(scores)
    rows = {(row["category"], row["terms"]): (row["n"], row["mean"], row["sd"]) for row in result.rows()}
    expected = {
        ("games", "positive"): (0, None, None),
        ("games", "negative"): (2, -0.3, 0.2),
        ("games", "all"): (2, -0.3, 0.2),
        ("jobs", "positive"): (2, 0.3, 0.1),
        ("jobs", "negative"): (1, -0.3, 0),
        ("jobs", "all"): (3, 0.1, sqrt(0.26 / 3)),
        ("all categories", "positive"): (2, 0.3, 0.1),
        ("all categories", "negative"): (3, -0.3, 0.1),
        ("all categories", "all"): (5, -0.1, (sqrt(0.26 / 3) + 0.2) / 2),
        ("pooled", "positive"): (2, 0.3, 0.1),
        ("pooled", "negative"): (3, -0.3, sqrt(0.08 / 3)),
        ("pooled", "all"): (5, -0.06, pstdev([0.4, 0.2, -0.3, -0.1, -0.5])),
    }
    assert list(rows) == list(expected)
    for key, (n, average, deviation) in expected.items():
        assert rows[key][0] == n
        assert rows[key][1] == (None if average is None else pytest.approx(average)), key
        assert rows[key][2] == (None if deviation is None else pytest.approx(deviation, abs=1e-12)), key
    assert result.dropped == {"no_score": 1}
    assert {row["reason"] for row in result.rows() if not row["n"]} == {"no_terms"}


def test_categories_take_the_result_itself() -> None:
    scored = mcas(*tables(*worked()), sets=SETS, resamples=0)
    assert mcas_categories(scored).rows() == mcas_categories(scored.to_frame()).rows()
