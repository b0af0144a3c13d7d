"""Every measure of the test kinds: compared with hand calculations, and recovery of planted values."""

from itertools import combinations

import krippendorff
import numpy as np
import pandas as pd
import pytest

from analysis.results.data.labels import load
from analysis.results.parameters import parameters_of
from analysis.results.question_tables import QUESTION_TABLES
from analysis.results.questions.tables import question_results
from generation.models import Image
from jobs.progress.reporter import Unwatched
from tests.analysis.questions.answering import STRENGTHS, comparing, ranking
from tests.analysis.questions.campaigns import Given, images_of, label, open_campaign, people
from tests.analysis.questions.kinds import PAIR, RANKING, RUBRIC

MODELS = [*STRENGTHS]


def measured(study, **chosen):
    parameters = parameters_of(study, resamples=100, **chosen)
    return question_results(load(study=study, parameters=parameters).answers, parameters, Unwatched())


def sets(images: list[Image]) -> list[list[Image]]:
    """The images of each prompt."""
    return [images[place : place + len(MODELS)] for place in range(0, len(images), len(MODELS))]


def pairs(images: list[Image]) -> list[list[Image]]:
    """Return all pairs of images of a prompt, in reverse order for every other prompt."""
    return [
        list(pair) if number % 2 else list(pair)[::-1]
        for number, together in enumerate(sets(images))
        for pair in combinations(together, 2)
    ]


def line(table: pd.DataFrame, **equal: object) -> dict[str, object]:
    for column, value in equal.items():
        table = table[table[column] == value]
    (row,) = table.to_dict("records")
    return row


@pytest.fixture
def compared(study):
    images = images_of(study, models=MODELS, prompts=16)
    annotators = people(study, 8)
    campaign = open_campaign(study, PAIR, annotators)
    label(campaign, pairs(images), annotators, comparing(STRENGTHS, seed=5), prompt_shown=True)
    return campaign


def test_planted_strengths_lie_in_their_intervals(study, compared):
    results = measured(study)
    table = results.tables["preferences"].set_index("item")
    for item, strength in STRENGTHS.items():
        row = table.loc[item]
        assert row["ci_low"] <= strength <= row["ci_high"]
        assert row["comparisons"] == 16 * 2 * 8
        assert row["win_rate_low"] < row["win_rate"] < row["win_rate_high"]
    assert table["rank"].to_dict() == {"aurora": 1, "birch": 2, "cirrus": 3}
    differences = results.tables["preference_pairs"]
    assert differences["distinct"].all()
    row = line(differences, item="aurora", other="cirrus")
    assert row["ci_low"] <= 2.0 <= row["ci_high"]


def test_each_group_has_a_leaderboard(study):
    """The best model for the Orsani is the worst for the Velmari."""
    images = images_of(study, models=MODELS, prompts=20)
    annotators = people(study, 6)
    campaign = open_campaign(study, PAIR, annotators)
    turned = {model: -strength for model, strength in STRENGTHS.items()}
    answering = {"Orsani": comparing(STRENGTHS, seed=3), "Velmari": comparing(turned, seed=4)}
    screens = pairs(images)
    for name, answer in answering.items():
        of_group = [screen for screen in screens if screen[0].group.name == name]
        label(campaign, of_group, annotators, answer, prompt_shown=True)
    tables = measured(study).tables
    assert not tables["preference_pairs"]["distinct"].any(), "together they are as good as each other"
    board = tables["group_leaderboards"]
    assert board["answers"].tolist() == [10 * 2 * 6] * 6
    for name, planted in (("Orsani", STRENGTHS), ("Velmari", turned)):
        of_group = board[board["identity_group"] == name].set_index("item")
        for item, strength in planted.items():
            assert of_group.loc[item, "ci_low"] <= strength <= of_group.loc[item, "ci_high"]
        ordered = sorted(planted, key=planted.__getitem__, reverse=True)
        assert of_group["rank"].sort_values().index.tolist() == ordered
        assert of_group.loc[ordered[0], "rank_high"] < of_group.loc[ordered[2], "rank_low"]


def test_position_bias_is_separated_from_preference(study):
    images = images_of(study, models=MODELS, prompts=12)
    annotators = people(study, 6)
    campaign = open_campaign(study, PAIR, annotators)
    label(campaign, pairs(images), annotators, comparing(STRENGTHS, seed=4, first=1.5), prompt_shown=True)
    row = measured(study).tables["position_bias"].iloc[0]
    assert row["ci_low"] > 0.5
    assert row["first"] + row["second"] + row["ties"] == 36 * 6


def test_a_pair_by_hand(study):
    """Three people: first, second, tie; quality 5 and 3, then 4 and unsure, then 5 and 2."""
    images = images_of(study, models=["aurora", "birch"], prompts=1)
    annotators = people(study, 3)
    campaign = open_campaign(study, PAIR, annotators)
    given = [
        (Given.of("better", 0, present=True), 5, 3),
        (Given.of("better", 1, present=True), 4, 9),
        (Given.of("better", code="tie"), 5, 2),
    ]

    def answer(person, shown):
        better, first, second = given[person]
        return [better, Given.of("quality", 0, rating=first), Given.of("quality", 1, rating=second)]

    label(campaign, [images], annotators, answer, prompt_shown=True)
    tables = measured(study).tables
    aurora = line(tables["preferences"], item="aurora")
    assert (aurora["wins"], aurora["losses"], aurora["ties"], aurora["win_rate"]) == (1, 1, 1, 0.5)
    assert aurora["strength"] == pytest.approx(0, abs=1e-9)
    row = line(tables["scales"], by="model", item="birch")
    assert (row["mean"], row["answers"], row["apart"], row["apart_share"]) == (2.5, 2, 1, 1 / 3)
    row = line(tables["question_differences"], item="aurora")
    assert row["difference"] == pytest.approx(14 / 3 - 2.5)
    row = tables["position_bias"].iloc[0]
    assert (row["first"], row["second"], row["ties"], row["share"]) == (1, 1, 1, 0.5)


def test_images_of_one_model_do_not_compare_models(study, compared):
    Image.objects.filter(model_label="birch").update(model_label="aurora")
    results = measured(study)
    left_out = results.campaigns[0]["questions"][0]["left_out"]
    assert left_out == {"same_item": 16 * 8}
    assert results.tables["preferences"]["comparisons"].tolist() == [16 * 2 * 8] * 2


def test_planted_strengths_of_rankings_lie_in_their_intervals(study):
    strengths = {**STRENGTHS, "dune": -0.2}
    images = images_of(study, models=[*strengths], prompts=20)
    annotators = people(study, 10)
    campaign = open_campaign(study, RANKING, annotators)
    screens = [images[place : place + 4] for place in range(0, 80, 4)]
    label(campaign, screens, annotators, ranking(strengths, seed=5))
    results = measured(study)
    table = results.tables["rankings"].set_index("item")
    mean = np.mean(list(strengths.values()))
    for item, strength in strengths.items():
        assert table.loc[item, "ci_low"] <= strength - mean <= table.loc[item, "ci_high"]
        assert table.loc[item, "rankings"] == 200
    agreement = results.tables["question_agreement"].set_index("measure")
    assert set(agreement.index) == {"kendall_w", "mean_spearman"}
    assert agreement.loc["mean_spearman", "ci_low"] > 0.1
    assert agreement.loc["kendall_w", ["units", "answers", "annotators"]].tolist() == [20, 200, 10]


def test_an_image_ranked_beside_another_of_its_model_leaves_the_ranking_out(study):
    images = images_of(study, models=[*STRENGTHS, "dune"], prompts=4)
    annotators = people(study, 3)
    campaign = open_campaign(study, RANKING, annotators)
    screens = [images[place : place + 4] for place in range(0, 16, 4)]
    screens[0] = [*images[:3], images[4]]  # aurora twice
    label(campaign, screens, annotators, ranking({**STRENGTHS, "dune": 0.0}, seed=6))
    results = measured(study)
    assert results.campaigns[0]["questions"][0]["left_out"]["same_item"] == 3 * 4
    assert results.tables["rankings"]["rankings"].tolist() == [9] * 4


@pytest.fixture
def rated(study):
    """Twelve images of two models, four people. Aurora is realistic (4 or 5), birch less so (2 or 3)."""
    images = images_of(study, models=["aurora", "birch"], prompts=12)
    annotators = people(study, 6)
    campaign = open_campaign(study, RUBRIC, annotators)
    generator = np.random.default_rng(7)

    def answer(person, shown):
        (image,) = shown
        better = image.model_label == "aurora"
        yield Given.of(
            "realism", rating=int(generator.integers(4, 6) if better else generator.integers(2, 4))
        )
        yes = generator.random() < (0.8 if better else 0.3)
        yield Given.of("shows", code="yes" if yes else "no")
        if not yes:
            yield Given.of("why", text="no kite is there")
        if person < 3:
            yield Given.of("faults", code="hands")
        if person == 0:
            yield Given.of("faults", code="text")
        words = ["w1"] if better else ["w1", "w3"]
        yield from (Given.of("missing", code=code) for code in words)
        yield Given("worst", values={"rating": 1}, points=((0.1 + person / 100, 0.2),))

    label(campaign, [[image] for image in images], annotators, answer, each=4, prompt_shown=True)
    return campaign


def test_scales_by_model_and_group(study, rated):
    tables = measured(study).tables
    table = tables["scales"]
    aurora = line(table, question="realism", by="model", item="aurora")
    assert aurora["ci_low"] <= 4.5 <= aurora["ci_high"]
    assert (aurora["answers"], aurora["units"], aurora["annotators"]) == (48, 12, 6)
    assert set(table.loc[table["by"] == "identity_group", "item"]) == {"Velmari", "Orsani"}
    realism = tables["question_differences"].query("question == 'realism'")
    row = line(realism, by="model")
    assert row["distinct"]
    assert row["ci_low"] <= 2 <= row["ci_high"]
    groups = realism[realism["by"] == "identity_group"]
    assert not groups["distinct"].any()
    assert groups["other"].isna().all()


def test_shares_of_choices_and_of_points_of_scales(study, rated):
    table = measured(study).tables["choices"]
    row = line(table, question="shows", by="model", item="aurora", code="yes")
    assert row["ci_low"] <= 0.8 <= row["ci_high"]
    never = line(table, question="shows", by="all", code="partly")
    assert (never["chosen"], never["share"], never["ci_low"]) == (0, 0, 0)
    assert 0 < never["ci_high"] < 0.5
    points = table.query("question == 'realism' and by == 'all'")
    assert points["code"].tolist() == ["1", "2", "3", "4", "5", "9"]
    assert points["apart"].tolist() == [False] * 5 + [True]
    assert points["chosen"].sum() == 96


def test_choosing_none_of_several_counts_as_an_answer(study, rated):
    tables = measured(study).tables
    row = line(tables["choices"], question="faults", by="all", code="hands")
    assert (row["chosen"], row["answers"], row["share"]) == (48, 96, 0.5)
    agreement = tables["question_agreement"].query("question == 'faults' and by == 'all'")
    assert agreement["measure"].tolist() == ["krippendorff_alpha_masi", *["krippendorff_alpha_nominal"] * 3]
    assert agreement["answers"].tolist() == [96] * 4


def test_each_of_several_answers_has_its_own_agreement(study, rated):
    """By hand: p0 of every image chose hands and text, p1 and p2 hands only, the others nothing; nobody faces."""
    table = measured(study).tables["question_agreement"].query("question == 'faults' and by == 'all'")
    by_code = table[table["code"].notna()].set_index("code")
    assert list(by_code.index) == ["hands", "text", "faces"]
    assert by_code.loc["faces", "reason"] == "no_variation"
    # Four of six people in turn see each image: units of p0–p3, p4, p5, p0, p1 and p2–p5, again and again.
    for code, choosing in (("hands", {0, 1, 2}), ("text", {0})):
        units = [
            [person in choosing for person in unit] for unit in ((0, 1, 2, 3), (4, 5, 0, 1), (2, 3, 4, 5))
        ]
        wide = np.repeat(np.array(units, dtype=float), 8, axis=0).T
        expected = krippendorff.alpha(reliability_data=wide, level_of_measurement="nominal")
        assert by_code.loc[code, "value"] == pytest.approx(expected, abs=1e-6)


def test_agreement_is_of_everything_and_of_each_model(study, rated):
    table = measured(study).tables["question_agreement"]
    realism = table[table["question"] == "realism"]
    assert realism["item"].tolist() == ["", "aurora", "birch"]
    assert (realism["measure"] == "krippendorff_alpha_ordinal").all()
    assert realism["value"].iloc[0] > 0.6  # models differ more than people do
    words = line(table, question="missing", by="all")
    assert words["measure"] == "krippendorff_alpha_nominal"
    assert words["value"] == 1.0  # everybody marks the same words of an image
    near = line(table, question="worst", by="all", measure="points_any_near")
    assert near["value"] > 0.9


def test_marked_words_and_texts(study, rated):
    tables = measured(study).tables
    marked = tables["marked_words"]
    assert line(marked, by="model", item="aurora")["share"] == pytest.approx(1 / 5)
    assert line(marked, by="model", item="birch")["share"] == pytest.approx(2 / 5)
    assert line(marked, by="all")["words"] == 96 * 5
    row = line(tables["texts"], by="all")
    no = line(tables["choices"], question="shows", by="all", code="no")
    assert (row["texts"], row["median_words"], row["longest_words"]) == (no["chosen"], 4, 4)


def test_a_conditional_choice_is_shared_among_those_asked(study, rated):
    answers = load(study=study, parameters=parameters_of(study)).answers[0]
    why = RUBRIC.question("why")
    assert len(answers.asked(why)) == len(answers.of(why))
    assert len(answers.asked(RUBRIC.question("faults"))) == 96


def test_without_answers_tables_are_empty_and_have_their_columns(study):
    open_campaign(study, PAIR, [])
    open_campaign(study, RANKING, [])
    open_campaign(study, RUBRIC, [])
    results = measured(study)
    for name, table in results.tables.items():
        assert list(table.columns) == list(QUESTION_TABLES[name])
        values = table.get("value", pd.Series(dtype=float))
        assert values.isna().all(), name


@pytest.mark.parametrize("number", [1, 2])
def test_few_annotators_leave_reasons_and_no_interval(study, number):
    images = images_of(study, models=["aurora", "birch"], prompts=3)
    annotators = people(study, number)
    campaign = open_campaign(study, PAIR, annotators)
    label(campaign, [images[:2]], annotators, comparing(STRENGTHS, seed=8), prompt_shown=True)
    for name, table in measured(study).tables.items():
        assert table["ci_low"].isna().all(), name
        assert table["reason"].notna().all(), name
