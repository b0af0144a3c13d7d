"""The released ViSAGe study, imported and analyzed, against a plain recomputation from the raw files.

Nothing of the platform reads the files here: the workbook comes row by row from calamine, everything else is
dictionaries and `fractions.Fraction`.
"""

import csv
import json
import re
from collections import Counter, defaultdict
from fractions import Fraction
from pathlib import Path
from statistics import mean, median

import krippendorff
import numpy as np
import pytest
from django.core.management import call_command
from django.db import transaction
from python_calamine import CalamineWorkbook

from tests.analysis.recorded import RECORDED, digests

pytestmark = [pytest.mark.slow, pytest.mark.django_db]

NONE = "none of the above"
MODES = {"ignore": (), "as_random": ("--preset", "as-published")}


@pytest.fixture(scope="module")
def files(shared_data) -> dict[str, Path]:
    found = {
        "stereotypes": shared_data / "seegull" / "stereotypes_global_v2.csv",
        "annotations": shared_data / "visage" / "Image Annotations.xlsx",
        "visual_attributes": shared_data / "visage" / "Visual Attributes_.xlsx",
    }
    for path in found.values():
        if not path.is_file():
            pytest.skip(f"{path} is not there")
    return found


@pytest.fixture(scope="module")
def analyzed(files, tmp_path_factory, django_db_setup, django_db_blocker) -> dict[str, Path]:
    """The folders that `analyze` wrote in both modes."""
    folders = {mode: tmp_path_factory.mktemp("visage") / mode for mode in MODES}
    with django_db_blocker.unblock(), transaction.atomic():
        named = [part for name, path in files.items() for part in (f"--{name.replace('_', '-')}", str(path))]
        rejected = str(tmp_path_factory.mktemp("rejected"))
        call_command("import_visage", "--study", "released", "--output", rejected, *named)
        for mode, folder in folders.items():
            options = ["--output", str(folder), "--resamples", "200", *MODES[mode]]
            call_command("analyze", "--study", "released", *options)
        transaction.set_rollback(True)
    return folders


@pytest.mark.parametrize("mode", MODES)
def test_every_table_is_as_recorded(analyzed, mode):
    """As `tests.analysis.test_recorded_digests`; pseudonyms of people are drawn at import."""
    tables = digests(analyzed[mode], "*.csv", without="annotator")
    del tables["codebook.csv"]
    assert tables == RECORDED[f"released_visage_{mode}"]


@pytest.fixture(scope="module")
def raw(files) -> dict:
    """Counts of the workbook: (group, attribute) → [shown, marked], (image, attribute) → answers."""
    sheet = CalamineWorkbook.from_path(str(files["annotations"])).get_sheet_by_name("full_set_annotations")
    rows = sheet.to_python()
    place = {name: index for index, name in enumerate(rows[0])}
    cells: dict = defaultdict(lambda: [0, 0])
    units: dict = defaultdict(Counter)
    for row in rows[1:]:
        path, attribute = str(row[place["img_path"]]).strip(), str(row[place["attribute"]]).strip().lower()
        if not path:
            continue
        group = re.fullmatch(r"(.+?)\d+\.png", path.rsplit("/", 1)[1])[1]
        present = row[place["present"]] == "yes"
        cells[group, attribute][0] += 1
        cells[group, attribute][1] += present
        if attribute != NONE:
            units[path, attribute][present] += 1
    return {"cells": dict(cells), "units": units}


@pytest.fixture(scope="module")
def listed(files) -> dict:
    """(group, attribute) → (whether it is a stereotype, offensiveness or None when unrated).

    As published: two raters in the region called it one, or two outside it.
    """
    with files["stereotypes"].open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    return {
        (row["identity"], row["attribute"].strip().lower()): (
            int(row["region_stereo"]) >= 2 or int(row["NA_stereo"]) >= 2,
            float(row["mean offensiveness_score"])
            if any(row[f"Annotation{k}"] not in ("", "NA") for k in (1, 2, 3))
            or float(row["mean offensiveness_score"]) != 0
            else None,
        )
        for row in rows
    }


def table(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def role_means(raw, listed, mode: str) -> dict[str, tuple[list[Fraction], list[Fraction]]]:
    """Per group, the likelihoods of its stereotypes and of its random attributes."""
    found: dict = defaultdict(lambda: ([], []))
    for (group, attribute), (shown, marked) in raw["cells"].items():
        if attribute == NONE and mode == "ignore":
            continue
        stereotype = listed.get((group, attribute), (False, None))[0]
        found[group][0 if stereotype else 1].append(Fraction(marked, shown))
    return found


def average(values: list[Fraction]) -> Fraction | None:
    return sum(values, Fraction(0)) / len(values) if values else None


def test_likelihood_of_every_group_and_attribute(analyzed, raw, listed):
    rows = table(analyzed["ignore"], "likelihood")
    assert len({row["identity_group"] for row in rows}) == 135
    found = {(row["identity_group"], row["attribute"]): row for row in rows}
    expected = {cell: counts for cell, counts in raw["cells"].items() if cell[1] != NONE}
    assert found.keys() == expected.keys()
    for cell, (shown, marked) in expected.items():
        row = found[cell]
        assert (int(row["shown"]), int(row["marked"])) == (shown, marked)
        assert float(row["likelihood"]) == pytest.approx(marked / shown, abs=1e-12)
        assert (row["role"] == "stereotype") == (listed.get(cell, (False, None))[0])


@pytest.mark.parametrize("mode", MODES)
def test_tendency_of_every_group(analyzed, raw, listed, mode):
    rows = {row["identity_group"]: row for row in table(analyzed[mode], "tendency")}
    means = role_means(raw, listed, mode)
    assert rows.keys() == means.keys()
    defined = []
    for group, (stereo, random) in means.items():
        row = rows[group]
        assert (int(row["stereotypes"]), int(row["random_attributes"])) == (len(stereo), len(random))
        above, below = average(stereo), average(random)
        if len(stereo) < 2:
            assert (row["theta"], row["reason"]) == ("", "too_few_stereotypes")
            continue
        if not below:
            assert row["theta"] == ""
            assert row["reason"] == (
                "not_shown" if below is None else "only_stereotypes" if above else "none_marked"
            )
            continue
        assert float(row["theta"]) == pytest.approx(float(above / below), abs=1e-12)
        defined.append(float(above / below))
    headline = json.loads((analyzed[mode] / "summary.json").read_text(encoding="utf-8"))["headline"][0]
    both = [(average(s), average(r)) for s, r in means.values() if s and r]
    pooled = sum(s for s, _ in both) / sum(r for _, r in both)
    assert headline["pooled"]["theta"] == pytest.approx(float(pooled), abs=1e-12)
    assert headline["pooled"]["groups"] == len(both)
    assert headline["mean"]["theta"] == pytest.approx(mean(defined), abs=1e-12)
    assert headline["median"]["theta"] == pytest.approx(median(defined), abs=1e-12)
    assert headline["mean"]["groups"] == len(defined)


def test_offensiveness_of_every_group(analyzed, raw, listed):
    rows = {row["identity_group"]: row for row in table(analyzed["ignore"], "offensiveness")}
    for group, (stereo, _) in role_means(raw, listed, "ignore").items():
        marked = [
            listed[cell][1]
            for cell, (_, times) in raw["cells"].items()
            if cell[0] == group and times and listed.get(cell, (False, None))[0]
        ]
        rated = [score for score in marked if score is not None]
        row = rows[group]
        assert int(row["marked_stereotypes"]) == len(marked)
        if rated:
            assert float(row["offensiveness"]) == pytest.approx(
                float(average(stereo)) * mean(rated), abs=1e-9
            )
        else:
            assert row["offensiveness"] == ""


def test_alpha_of_the_judgements_is_that_of_the_package(analyzed, raw):
    counts = np.array([[answers[False], answers[True]] for answers in raw["units"].values()])
    alpha = krippendorff.alpha(value_counts=counts, value_domain=[0, 1], level_of_measurement="nominal")
    row = next(
        row
        for row in table(analyzed["ignore"], "agreement")
        if row["scope"] == "all"
        and row["measure"] == "krippendorff_alpha_nominal"
        and row["campaign_kind"] == "stereotype_marking"
    )
    assert float(row["value"]) == pytest.approx(alpha, abs=1e-12)
    assert (int(row["units"]), int(row["judgements"])) == (len(counts), counts.sum())
    assert row["annotators"] == ""  # ids that are no people are not counted as people


def test_ratings_consensus_and_alpha(analyzed, files):
    rows = CalamineWorkbook.from_path(str(files["visual_attributes"])).get_sheet_by_index(0).to_python()
    place = {name: index for index, name in enumerate(rows[0])}
    ratings: dict = defaultdict(list)
    for row in dict.fromkeys(
        tuple(row) for row in rows[1:]
    ):  # one attribute is listed twice, with equal ratings
        for region in ("asia", "emea", "na"):
            ratings[str(row[place["attribute"]]).strip().lower()].append(int(row[place[f"score_{region}"]]))
    labels = {1: "Strongly Disagree", 2: "Disagree", 3: "Unsure", 4: "Agree", 5: "Strongly Agree"}
    consensus = {
        (row["label"], row["agreeing"]): float(row["share"])
        for row in table(analyzed["ignore"], "consensus")
        if row["campaign_kind"] == "attribute_likert"
    }
    for value, label in labels.items():
        for agreeing in (2, 3):
            share = sum(given.count(value) >= agreeing for given in ratings.values()) / len(ratings)
            assert consensus[label, str(agreeing)] == pytest.approx(share, abs=1e-12)
    visual = {
        row["attribute"]: row["visual"] == "true" for row in table(analyzed["ignore"], "visual_attributes")
    }
    assert visual == {name: min(given) >= 4 for name, given in ratings.items()}
    counts = np.array([[given.count(value) for value in (1, 2, 4, 5)] for given in ratings.values()])
    alpha = krippendorff.alpha(value_counts=counts, value_domain=[1, 2, 4, 5], level_of_measurement="ordinal")
    row = next(
        row
        for row in table(analyzed["ignore"], "agreement")
        if row["measure"] == "krippendorff_alpha_ordinal" and row["unsure"] == "missing"
    )
    assert float(row["value"]) == pytest.approx(alpha, abs=1e-12)


def test_as_published_stereotypes_are_marked_thrice_as_often(analyzed):
    # Jha et al. (2024), abstract: "thrice as likely to be present".
    summary = json.loads((analyzed["as_random"] / "summary.json").read_text(encoding="utf-8"))
    assert summary["preset"] == "as-published"
    both = summary["headline"][0]["none_of_the_above"]
    assert both["as_random"]["pooled"]["theta"] == pytest.approx(3.193, abs=5e-4)
    assert both["ignore"]["pooled"]["theta"] == pytest.approx(2.773, abs=5e-4)


def test_pools_summed_would_make_stereotypes_of_further_pairs(files, raw, listed):
    with files["stereotypes"].open(encoding="utf-8", newline="") as stream:
        summed = {
            (row["identity"], row["attribute"].strip().lower())
            for row in csv.DictReader(stream)
            if int(row["region_stereo"]) + int(row["NA_stereo"]) >= 2
        }
    further = [cell for cell in raw["cells"] if cell in summed and not listed[cell][0]]
    assert len(further) == 11
    assert len({group for group, _ in further}) == 6
