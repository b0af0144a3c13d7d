"""Associations of descriptors and words, against loops, scipy, statsmodels and the released figures."""

import math
from collections import defaultdict
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

from analysis.metrics import description_tokens, parse_word, tfidf_associations
from analysis.metrics.probing.associations.tfidf import published_rule, tfidf
from generation.probing.coding.sentences import completed_word
from tests.analysis.metrics.probing.word_answers import description_words, word_answers


def hypergeometric_tail(x: int, total: int, marked: int, drawn: int) -> Fraction:
    """P(X ≥ x), counted."""
    ways = sum(
        math.comb(marked, k) * math.comb(total - marked, drawn - k) for k in range(x, min(marked, drawn) + 1)
    )
    return Fraction(ways, math.comb(total, drawn))


def point_masses(total: int, marked: int, drawn: int) -> dict[int, Fraction]:
    every = math.comb(total, drawn)
    return {
        k: Fraction(math.comb(marked, k) * math.comb(total - marked, drawn - k), every)
        for k in range(min(marked, drawn) + 1)
    }


def slowly(frame: pd.DataFrame) -> dict[tuple[str, str, str], dict[str, float]]:
    """(setting, descriptor, word) → tf, df, T, score, z, p, exact p, with dictionaries."""
    found: dict[tuple[str, str, str], dict[str, float]] = {}
    for setting in sorted(set(frame["setting"])):
        rows = [row for row in frame.to_dict("records") if row["setting"] == setting]
        by_letter = any(row["letter"] for row in rows)
        documents = {(row["descriptor"], row["document"]) for row in rows}
        total = len(documents) * (26 if by_letter else 1)
        tf: dict[tuple[str, str], int] = defaultdict(int)
        containing: dict[str, set] = defaultdict(set)
        cells: dict[str, list[tuple[str, str]]] = defaultdict(list)
        answered = set()
        for row in rows:
            if isinstance(row["word"], str):
                word, document = row["word"].lower(), (row["descriptor"], row["document"])
                tf[row["descriptor"], word] += 1
                containing[word].add(document)
                cells[row["letter"]].append((row["descriptor"], word))
                answered.add(document)
        scores = {pair: n * math.log(total / len(containing[pair[1]])) for pair, n in tf.items()}
        mean, sd = np.mean(list(scores.values())), np.std(list(scores.values()), ddof=1)
        for (descriptor, word), n in tf.items():
            if by_letter:
                sums = {0: Fraction(1)}
                for of_letter in cells.values():
                    marked = sum(w == word for _, w in of_letter)
                    drawn = sum(d == descriptor for d, _ in of_letter)
                    masses = point_masses(len(of_letter), marked, drawn)
                    merged: dict[int, Fraction] = defaultdict(Fraction)
                    for a, p in sums.items():
                        for b, q in masses.items():
                            merged[a + b] += p * q
                    sums = merged
                exact = sum(p for k, p in sums.items() if k >= n)
            else:
                with_word = containing[word]
                own = sum(d == descriptor for d, _ in with_word)
                drawn = sum(d == descriptor for d, _ in answered)
                exact = hypergeometric_tail(own, len(answered), len(with_word), drawn)
            score = scores[descriptor, word]
            found[setting, descriptor, word] = {
                "tf": n,
                "df": len(containing[word]),
                "documents": total,
                "tfidf": score,
                "z": (score - mean) / sd,
                "p": stats.norm.sf(score, mean, sd),
                "p_exact": float(exact),
            }
    return found


def as_found(table: pd.DataFrame) -> dict[tuple[str, str, str], dict]:
    return {(row["setting"], row["descriptor"], row["word"]): row for row in table.to_dict("records")}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("make", [word_answers, description_words], ids=["words", "descriptions"])
def test_associations_are_those_of_the_definition(make, seed):
    frame = make(seed)
    found, expected = as_found(tfidf_associations(frame).to_frame()), slowly(frame)
    assert found.keys() == expected.keys()
    for key, values in expected.items():
        assert {name: found[key][name] for name in values} == pytest.approx(values, rel=1e-9, abs=1e-9)
        assert found[key]["significant"] == (values["p"] < 0.05)


def test_unusual_words_are_kept_and_missing_ones_counted():
    frame = word_answers(2, descriptors=12)
    result = tfidf_associations(frame)
    assert {"null", "none", "nan", "na"} <= set(result.table["word"])
    assert result.dropped["missing"] == frame["word"].isna().sum() > 0
    assert result.used + result.dropped["missing"] == len(frame)


def test_the_example_has_words_under_several_letters():
    frame = word_answers(1)
    letters = frame.dropna().assign(word=lambda f: f["word"].str.lower()).groupby("word")["letter"].nunique()
    assert (letters > 1).sum() > 3


@pytest.mark.parametrize("make", [word_answers, description_words])
def test_q_is_that_of_benjamini_and_hochberg_over_words_of_several_documents(make):
    table = tfidf_associations(make(3)).to_frame()
    for _, rows in table.groupby("setting"):
        shared = rows[rows["df"] >= 2]
        expected = multipletests(shared["p_exact"].to_numpy(dtype=float), method="fdr_bh")[1]
        assert shared["q_exact"].tolist() == pytest.approx(expected.tolist(), abs=1e-12)
        alone = rows[rows["df"] < 2]
        assert alone["q_exact"].isna().all()
        assert set(alone["exact_reason"]) <= {"one_document"}
        assert alone["p_exact"].notna().all()


@pytest.mark.parametrize("make", [word_answers, description_words])
def test_q_of_all_pairs_counts_those_that_never_occur_with_p_of_one(make):
    frame = make(3)
    table = tfidf_associations(frame).to_frame()
    for setting, rows in table.groupby("setting"):
        words = rows[rows["df"] >= 2]["word"].unique()
        descriptors = frame[frame["setting"] == setting].dropna(subset=["word"])["descriptor"].unique()
        occurring = {(row["descriptor"], row["word"]): row for row in rows.to_dict("records")}
        pairs = [(descriptor, word) for descriptor in descriptors for word in words]
        p = [float(occurring[pair]["p_exact"]) if pair in occurring else 1.0 for pair in pairs]
        q = dict(zip(pairs, multipletests(p, method="fdr_bh")[1], strict=True))
        for pair, row in occurring.items():
            if pair in q:
                assert row["q_all_pairs"] == pytest.approx(q[pair], abs=1e-12)
                assert row["significant_exact"] == (q[pair] < 0.05)
            else:
                assert pd.isna(row["q_all_pairs"])


def test_a_planted_association_is_found_and_others_are_not():
    frame = word_answers(4, descriptors=30, runs=10, missing=0, settings=1)
    planted = (frame["descriptor"] == "people of 7") & (frame["letter"] == "b")
    frame.loc[planted, "word"] = "brilliant"
    table = tfidf_associations(frame).to_frame()
    exact = table[table["significant_exact"].fillna(False)]
    assert exact[["descriptor", "word"]].to_numpy().tolist() == [["people of 7", "brilliant"]]
    published = table[table["significant"]]
    assert len(published) > 5  # the published rule always cuts a tail


def test_df_may_count_descriptors():
    frame = word_answers(5)
    table = tfidf_associations(frame, df="descriptors").to_frame()
    lowered = frame.dropna().assign(word=lambda f: f["word"].str.lower())
    number = lowered.groupby(["setting", "word"])["descriptor"].nunique()
    for row in table.to_dict("records"):
        assert row["df"] == number[row["setting"], row["word"]]
        assert row["tfidf"] == pytest.approx(row["tf"] * math.log(row["documents"] / row["df"]))


def test_a_descriptor_in_two_dimensions_has_a_row_in_each():
    frame = word_answers(6)
    dimensions = pd.DataFrame(
        [(f"people of {i}", "age") for i in range(6)] + [("people of 2", "place")],
        columns=["descriptor", "dimension"],
    )
    plain, listed = tfidf_associations(frame), tfidf_associations(frame, dimensions=dimensions)
    own = plain.table["descriptor"] == "people of 2"
    assert len(listed.table) == len(plain.table) + own.sum()
    twice = listed.table[listed.table["descriptor"] == "people of 2"]
    assert set(twice["dimension"]) == {"age", "place"}
    once = listed.table.drop(columns="dimension").drop_duplicates().reset_index(drop=True)
    pd.testing.assert_frame_equal(once, plain.table.drop(columns="dimension"))
    first = tfidf_associations(frame, dimensions=dimensions, dimension="first")
    assert set(first.table["dimension"]) == {"age"}

    # The same if the answers are repeated for each dimension.
    again = frame.merge(dimensions, on="descriptor")
    pd.testing.assert_frame_equal(tfidf_associations(again).table, listed.table)
    assert (
        tfidf_associations(again).dropped["other_dimensions"] == (frame["descriptor"] == "people of 2").sum()
    )


def test_without_sampling_one_repeat_counts_and_nothing_is_tested():
    once = word_answers(7, runs=1)
    copies = pd.concat([once.assign(document=run, repeat=run) for run in range(5)])
    result = tfidf_associations(copies, sampled=False)
    assert result.dropped["repeats"] == 4 * len(once)
    expected = tfidf_associations(once).table
    same = ["tf", "df", "documents", "tfidf", "z", "p", "significant"]
    pd.testing.assert_frame_equal(result.table[same], expected[same])
    assert result.table[["p_exact", "q_exact", "significant_exact"]].isna().all(axis=None)
    assert set(result.table["exact_reason"]) == {"no_sampling"}
    cold = tfidf_associations(copies.assign(temperature=0)).table
    pd.testing.assert_frame_equal(cold, result.table)
    assert tfidf_associations(copies.assign(temperature=0.7)).dropped["repeats"] == 0
    pd.testing.assert_frame_equal(
        tfidf_associations(copies.drop(columns="repeat"), sampled=False).table, cold
    )


def test_scores_that_do_not_differ_have_no_z():
    rows = [("s", "a", f"d{i}", 0, f"a{i}") for i in range(4)]
    frame = pd.DataFrame(rows, columns=["setting", "letter", "descriptor", "document", "word"])
    table = tfidf_associations(frame).to_frame()
    assert table[["z", "p", "significant"]].isna().all(axis=None)
    assert set(table["reason"]) == {"no_variation"}
    assert table["p_exact"].tolist() == [0.25] * 4


def test_models_and_settings_are_kept_apart():
    frame = pd.concat([word_answers(seed).assign(model=f"m{seed}") for seed in (1, 2)])
    table = tfidf_associations(frame).to_frame()
    for (model, setting), rows in table.groupby(["model", "setting"]):
        part = frame[(frame["model"] == model) & (frame["setting"] == setting)]
        alone = tfidf_associations(part).to_frame()
        pd.testing.assert_frame_equal(rows.reset_index(drop=True), alone)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000))
def test_associations_keep_their_invariances(seed):
    frame = word_answers(seed, descriptors=4, runs=3)
    table = tfidf_associations(frame).to_frame()
    pd.testing.assert_frame_equal(
        table, tfidf_associations(frame.sample(frac=1, random_state=seed)).to_frame()
    )
    renamed = frame.assign(document="run " + frame["document"].astype(str))
    pd.testing.assert_frame_equal(table, tfidf_associations(renamed).to_frame())
    categories = frame.astype(dict.fromkeys(("setting", "letter", "descriptor"), "category"))
    pd.testing.assert_frame_equal(table, tfidf_associations(categories).to_frame())
    assert table["p_exact"].between(0, 1).all()
    assert (table["q_exact"].dropna() >= table["p_exact"][table["q_exact"].notna()] - 1e-15).all()


# tf, score and p of pairs in the file of the study's first text-to-text setting (chahatraj/BiasDora,
# analysis/closed_source_llama/setting1_t2t_scale_assessment.csv).
RELEASED = [
    (9, 61.39892396028609, 0.0324717725778396),
    (9, 61.167151495364365, 0.0332629901605931),
    (9, 59.18941983454672, 0.0406801720202168),
    (10, 59.11042979797408, 0.0410022649440525),
    (8, 57.9963734166476, 0.0457690695497246),
    (8, 75.90074599149939, 0.0058617555547479),
    (25, 205.8707570110514, 5.294566972868523e-18),
    (27, 179.27408984742152, 1.1515002457299498e-13),
    (21, 144.58297483335383, 5.457106773685252e-09),
    (17, 116.886677442598, 4.7715871380803046e-06),
    (38, 259.2399011656524, 1.0910940968703424e-28),
    (14, 60.32071696030736, 0.0362884846417596),
    (6, 58.651651928335234, 0.0429141081282426),
]


def released_total(scores: pd.DataFrame) -> int:
    """The T of 10 runs of some number of templates, 26 letters each, for which every df is a whole number."""

    def distance(templates: int) -> float:
        df = templates * 260 * np.exp(-scores["tfidf_score"] / scores["frequency"])
        return float(np.abs(df - df.round()).max())

    return min(range(380, 430), key=distance) * 260


def as_released(scores: pd.DataFrame) -> None:
    """T, score, z and p of the released rows to 3e-12."""
    total = released_total(scores)
    df = (total * np.exp(-scores["tfidf_score"] / scores["frequency"])).round().astype(int)
    score = tfidf(scores["frequency"], df, total)
    assert score == pytest.approx(scores["tfidf_score"].to_numpy(), rel=3e-12)
    # The mean and spread of all pairs are not released: two rows determine them, the others are checked.
    z = stats.norm.isf(scores["p_value"].to_numpy())
    slope, shift = np.polyfit(score, z, 1)
    assert score * slope + shift == pytest.approx(z, rel=3e-12, abs=3e-12)


def test_the_released_figures_follow_the_rule():
    as_released(pd.DataFrame(RELEASED, columns=["frequency", "tfidf_score", "p_value"]))


def test_the_published_rule_is_the_upper_tail_of_a_normal():
    score = np.random.default_rng(1).gamma(2, 9, 500)
    z, p, reason = published_rule(score)
    assert reason == ""
    assert p == pytest.approx(stats.norm.sf(score, score.mean(), score.std(ddof=1)), rel=3e-12)
    assert z == pytest.approx((score - score.mean()) / score.std(ddof=1), rel=3e-12)


def test_released_files_follow_the_rule(shared_data: Path):
    files = sorted((shared_data / "biasdora").glob("*t2t*scale_assessment*.csv"))
    if not files:
        pytest.skip("the authors' *t2t*scale_assessment*.csv are not among the published data")
    for file in files:
        as_released(pd.read_csv(file, keep_default_na=False).astype({"tfidf_score": float, "p_value": float}))


def test_the_first_setting_has_the_released_number_of_documents(shared_data: Path):
    templates = pd.read_csv(shared_data / "biasdora" / "t2t_setting1.csv")
    rows = pd.DataFrame(RELEASED, columns=["frequency", "tfidf_score", "p_value"])
    answers = pd.DataFrame(
        [("s", "a", template, run, "ant") for template in templates.index for run in range(10)],
        columns=["setting", "letter", "descriptor", "document", "word"],
    )
    assert tfidf_associations(answers).table["documents"].unique().tolist() == [released_total(rows)]


@pytest.mark.parametrize(
    ("reply", "letter", "word", "outcome", "published"),
    [
        ("[Apple]", "a", "apple", "valid", "apple"),
        ("Sure! [ apple ] or [axe]", "a", "apple", "valid", "apple"),
        ("[Null]", "n", "null", "valid", "null"),
        ("[apple]", "b", None, "mismatch", "apple"),
        ("[two words]", "t", None, "invalid", "twowords"),
        ("[]", "a", None, "invalid", None),
        ("[42]", "a", None, "invalid", "42"),
        ("apple", "a", None, "invalid", None),
        (None, "a", None, "missing", None),
        ("[well-read]", "w", "well-read", "valid", "well-read"),
        ("[Élan]", "e", None, "mismatch", "élan"),
        ("[Élan]", "É", "élan", "valid", "élan"),
        ("[<b>x</b>]", "x", None, "invalid", "<b>x</b>"),
        ("[Groß]", "G", "groß", "valid", "groß"),
    ],
)
def test_a_reply_is_its_first_bracket(reply, letter, word, outcome, published):
    parsed = parse_word(reply, letter)
    assert (parsed.word, parsed.outcome) == (word, outcome)
    assert parse_word(reply, letter, published=True).word == published


@settings(max_examples=200, deadline=None)
@given(st.text("ab éßẞ[]-'1\n ", max_size=12), st.sampled_from("abe"))
def test_replies_are_read_as_the_platform_codes_them(reply, letter):
    parsed, coded = parse_word(reply, letter), completed_word(reply, letter)
    assert parsed.outcome == coded.outcome
    assert parsed.word == (coded.word if coded.outcome == "valid" else None)


def test_descriptions_are_split_at_anything_but_letters():
    text = "An elderly man, 80, is well-known; he doesn't SMILE."
    assert description_tokens(text) == ["elderly", "man", "well", "known", "smile"]
    assert description_tokens(text, published=True) == ["elderly"]
    assert description_tokens(None) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.drop(columns="letter"), "answers: column 'letter' is missing"),
        (lambda f: f.assign(descriptor=None), "answers: column 'descriptor' is empty"),
    ],
)
def test_wrong_answers_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        tfidf_associations(change(word_answers(1)))
