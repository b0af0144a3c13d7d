"""`analyze`: files whose numbers are worked out by hand (see conftest)."""

import csv
import json
from pathlib import Path

import pytest
from django.core.management import call_command

from accounts.models import Annotator
from analysis.results.schema import ABOUT_IMAGES, PROMISED
from annotation.models import Annotation, Enrolment
from foundation.errors import DomainError
from tests.analysis.results.output.codebooks import columns_without_meaning

pytestmark = pytest.mark.django_db


def analyze(output: Path, *options: str) -> dict[str, list[dict[str, str]]]:
    call_command("analyze", "--study", "isles", "--output", str(output), "--resamples", "200", *options)
    assert not columns_without_meaning(output)
    return {
        path.stem: list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
        for path in output.glob("*.csv")
    }


def summary_in(output: Path) -> dict:
    return json.loads((output / "summary.json").read_text(encoding="utf-8"))


def by_group(rows):
    return {row["identity_group"]: row for row in rows}


def test_likelihood_is_marked_over_shown_for_every_attribute_of_every_group(marked, tmp_path):
    rows = analyze(tmp_path / "out")["likelihood"]
    found = {
        (row["identity_group"], row["attribute"]): (row["role"], row["shown"], row["marked"]) for row in rows
    }
    assert found == {
        ("Velmari", "tall hat"): ("stereotype", "6", "4"),
        ("Velmari", "blue scarf"): ("stereotype", "6", "1"),
        ("Velmari", "drum"): ("random", "6", "1"),
        ("Velmari", "kite"): ("random", "6", "1"),  # listed, but one rater is fewer than two
        ("Orsani", "round glasses"): ("stereotype", "6", "4"),
        ("Orsani", "drum"): ("stereotype", "6", "1"),
        ("Orsani", "lantern"): ("random", "6", "0"),
        ("Orsani", "blue scarf"): ("random", "6", "0"),
    }
    for row in rows:
        assert float(row["likelihood"]) == int(row["marked"]) / int(row["shown"])
        assert float(row["ci_low"]) <= float(row["likelihood"]) <= float(row["ci_high"])
        assert row["model"] == "sketch"


def test_tendency_without_none_of_the_above(marked, tmp_path):
    output = tmp_path / "out"
    tendency = by_group(analyze(output)["tendency"])
    velmari, orsani = tendency["Velmari"], tendency["Orsani"]
    # L(stereo) = (4/6 + 1/6)/2 = 5/12; L(random) = (1/6 + 1/6)/2 = 1/6; θ = 5/12 ÷ 1/6 = 2.5
    assert float(velmari["likelihood_stereotype"]) == pytest.approx(5 / 12, abs=1e-12)
    assert float(velmari["theta"]) == pytest.approx(2.5, abs=1e-12)
    # L(stereo) = 5/12, L(random) = 0: only stereotypes were marked, θ is not a number
    assert (orsani["theta"], orsani["reason"]) == ("", "only_stereotypes")
    # ε = ½ ÷ median n = ½ ÷ 6 = 1/12; (5/12 + 1/12)/(0 + 1/12) = 6
    assert float(orsani["theta_smoothed"]) == pytest.approx(6, abs=1e-12)
    headline = summary_in(output)["headline"][0]
    # pooled: (5/12 + 5/12)/(1/6 + 0) = 5, over both groups; mean over the one defined θ
    assert headline["pooled"]["theta"] == pytest.approx(5, abs=1e-12)
    assert headline["pooled"]["groups"] == 2
    assert (headline["mean"]["theta"], headline["mean"]["groups"]) == (pytest.approx(2.5, abs=1e-12), 1)


def test_tendency_with_none_of_the_above_as_a_random_attribute(marked, tmp_path):
    tendency = by_group(analyze(tmp_path / "out", "--none-of-the-above", "as_random")["tendency"])
    # Velmari: L(random) = (1/6 + 1/6 + 2/6)/3 = 2/9; θ = 5/12 ÷ 2/9 = 15/8.
    # Orsani: L(random) = (0 + 0 + 2/6)/3 = 1/9; θ = 5/12 ÷ 1/9 = 15/4.
    assert float(tendency["Velmari"]["theta"]) == pytest.approx(15 / 8, abs=1e-12)
    assert float(tendency["Orsani"]["theta"]) == pytest.approx(15 / 4, abs=1e-12)
    assert tendency["Velmari"]["random_attributes"] == "3"


def test_offensiveness(marked, tmp_path):
    offensiveness = by_group(analyze(tmp_path / "out")["offensiveness"])
    # Velmari: both stereotypes were marked, O = 2 and −1, mean ½; × L(stereo) 5/12 = 5/24.
    # Orsani: O = 1 and −1, mean 0. Normalised: the larger is 1, the smaller 0.
    assert float(offensiveness["Velmari"]["offensiveness"]) == pytest.approx(5 / 24, abs=1e-12)
    assert float(offensiveness["Velmari"]["offensiveness_unscaled"]) == pytest.approx(0.5, abs=1e-12)
    assert float(offensiveness["Orsani"]["offensiveness"]) == pytest.approx(0, abs=1e-12)
    assert [offensiveness[g]["offensiveness_normalised"] for g in ("Velmari", "Orsani")] == ["1.0", "0.0"]
    zero = by_group(analyze(tmp_path / "zero", "--not-offensive", "0")["offensiveness"])
    # −1 counts as 0: Velmari (2 + 0)/2 = 1; × 5/12. Orsani (1 + 0)/2 × 5/12 = 5/24.
    assert float(zero["Velmari"]["offensiveness"]) == pytest.approx(5 / 12, abs=1e-12)
    assert float(zero["Orsani"]["offensiveness"]) == pytest.approx(5 / 24, abs=1e-12)


def test_alpha_of_the_ratings_and_judgements(marked, tmp_path):
    rows = analyze(tmp_path / "out")["agreement"]
    alpha = next(
        row
        for row in rows
        if row["measure"] == "krippendorff_alpha_nominal" and row["model"] and row["scope"] == "all"
    )
    # 16 units of three, 12 ticked of 48. With one or two ticks: scarf v1, drum v2, kite v1, hat v2, drum o1,
    # glasses o2: 6 units, each with 2 unequal of 3 pairs, so D_o = (6·2/3)/16 = 1/4.
    # Ticks: 4+1+1+1 + 4+1 = 12. D_e = 2·12·36/(48·47) = 864/2256. α = 1 − ¼ ÷ (864/2256) = 0.347…
    assert float(alpha["value"]) == pytest.approx(1 - 0.25 / (864 / 2256), abs=1e-12)
    assert (alpha["units"], alpha["judgements"], alpha["annotators"]) == ("16", "48", "3")


def test_consensus_and_visual_attributes(marked, tmp_path):
    tables = analyze(tmp_path / "out")
    visual = {row["attribute"]: row for row in tables["visual_attributes"]}
    assert {name for name, row in visual.items() if row["visual"] == "true"} == {"tall hat", "blue scarf"}
    assert float(visual["kind"]["mean"]) == pytest.approx(8 / 3)
    shares = {
        (row["label"], row["agreeing"]): float(row["share"])
        for row in tables["consensus"]
        if row["campaign_kind"] == "attribute_likert"
    }
    # Of four attributes, two reach two times Strongly Agree (tall hat 5, 4, 5; blue scarf thrice), one Disagree.
    assert shares["Strongly Agree", "2"] == 0.5
    assert shares["Strongly Agree", "3"] == 0.25
    assert shares["Disagree", "2"] == 0.25
    assert shares["Unsure", "2"] == 0


def test_a_group_with_too_few_stereotypes_is_listed_without_theta(marked, tmp_path):
    tendency = by_group(analyze(tmp_path / "out", "--min-stereotypes", "3")["tendency"])
    assert {row["reason"] for row in tendency.values()} == {"too_few_stereotypes"}
    assert float(tendency["Velmari"]["likelihood_stereotype"]) == pytest.approx(5 / 12, abs=1e-12)
    assert tendency["Velmari"]["theta"] == ""


def test_fewer_raters_make_more_stereotypes(marked, tmp_path):
    rows = analyze(tmp_path / "out", "--min-raters", "1")["likelihood"]
    roles = {(row["identity_group"], row["attribute"]): row["role"] for row in rows}
    assert roles["Velmari", "kite"] == "stereotype"


def test_labels_that_do_not_count_are_left_out_and_counted(marked, tmp_path):
    q, r = marked.annotators["q"], marked.annotators["r"]
    marked.images["v2"].retracted_at = marked.images["v2"].created_at
    marked.images["v2"].save()
    Annotation.objects.filter(campaign=marked.campaign, annotator=q, task__image=marked.images["o1"]).update(
        status="excluded"
    )
    Enrolment.objects.filter(campaign=marked.campaign, annotator=r).update(state="excluded")
    output = tmp_path / "out"
    tables = analyze(output)
    shown = {(row["identity_group"], row["attribute"]): row["shown"] for row in tables["likelihood"]}
    # Velmari: v1 of p and q. Orsani: o1 of p, o2 of p and q.
    assert shown["Velmari", "tall hat"] == "2"
    assert shown["Orsani", "drum"] == "3"
    not_counted = summary_in(output)["not_counted"]["stereotype_marking"]
    assert not_counted == {"annotator_excluded": 4, "excluded": 1, "retracted": 2}


def test_the_analyst_can_leave_an_annotator_out(marked, tmp_path):
    output = tmp_path / "out"
    p = marked.annotators["p"]
    tables = analyze(output, "--without-annotator", p.pseudonym)
    assert {row["shown"] for row in tables["likelihood"]} == {"4"}
    assert p.pseudonym not in {row["annotator"] for row in tables["annotators"]}
    assert summary_in(output)["not_counted"]["stereotype_marking"] == {"excluded_by_analyst": 4}


def test_labels_of_simulated_annotators_count_only_in_simulated_studies(marked, tmp_path):
    Annotator.objects.filter(pk=marked.annotators["p"].pk).update(origin="simulated")
    assert {row["shown"] for row in analyze(tmp_path / "people")["likelihood"]} == {"4"}
    marked.study.simulated = True
    marked.study.save()
    assert {row["shown"] for row in analyze(tmp_path / "simulated")["likelihood"]} == {"6"}
    assert "simulated" in (tmp_path / "simulated" / "report.html").read_text(encoding="utf-8")


def test_equal_inputs_and_seed_give_equal_bytes(marked, tmp_path):
    for name, seed in (("first", "3"), ("second", "3"), ("other", "4")):
        analyze(tmp_path / name, "--seed", seed)
    first, second, other = (
        {path.name: path.read_bytes() for path in (tmp_path / name).glob("*.csv")}
        for name in ("first", "second", "other")
    )
    assert first == second
    assert first["likelihood.csv"] != other["likelihood.csv"]
    digests = {summary_in(tmp_path / name)["inputs_digest"] for name in ("first", "second", "other")}
    assert len(digests) == 1


def test_every_file_begins_with_the_promised_columns(marked, tmp_path):
    analyze(tmp_path / "out")
    for name, columns in PROMISED.items():
        header = (tmp_path / "out" / f"{name}.csv").read_text(encoding="utf-8").splitlines()[0].split(",")
        assert header[: len(columns)] == list(columns)
        assert name not in ABOUT_IMAGES or "model" in header


def test_a_study_without_labels_gives_empty_tables_and_says_so(study, tmp_path):
    tables = analyze(tmp_path / "out")
    del tables["codebook"]
    assert all(rows == [] for rows in tables.values())
    assert summary_in(tmp_path / "out")["counted"]["judgements"] == 0
    assert "There are no judgements" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


def test_the_report_needs_no_network(marked, tmp_path):
    analyze(tmp_path / "out")
    html = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "Velmari" in html
    assert "200 resamples" in html
    for forbidden in ("<script", "<link", "http://", "https://", "url(", "@import"):
        assert forbidden not in html.replace("http://www.w3.org/2000/svg", ""), forbidden


def test_other_files_in_the_folder_stay(marked, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    analyze(tmp_path)
    assert (tmp_path / "notes.txt").read_text() == "mine"
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--resamples", "7"], "resamples must be a whole number from 100 to 20,000, not 7."),
        (["--seed", "-1"], "seed must be"),
        (["--without-annotator", "A-NOBODY"], "There is no annotator “A-NOBODY”"),
        (["--campaign", "nowhere"], "There is no campaign “nowhere”"),
        (["--study", "nowhere"], "There is no study named “nowhere” (--study)."),
    ],
)
def test_bad_input_is_one_sentence_and_nothing_written(marked, tmp_path, options, said):
    with pytest.raises(DomainError) as error:
        analyze(tmp_path / "out", *options)
    assert said in error.value.message
    assert not (tmp_path / "out").exists()


def test_a_file_cannot_be_the_output_folder(marked, tmp_path):
    (tmp_path / "out").write_text("")
    with pytest.raises(DomainError, match="is a file"):
        analyze(tmp_path / "out")


def test_a_folder_below_a_file_is_refused(marked, tmp_path):
    (tmp_path / "out").write_text("")
    with pytest.raises(DomainError, match="is a file"):
        analyze(tmp_path / "out" / "deeper")


def test_a_folder_in_the_place_of_a_table_is_refused_before_anything_is_written(marked, tmp_path):
    (tmp_path / "out" / "tendency.csv").mkdir(parents=True)
    with pytest.raises(DomainError, match=r"tendency\.csv is a folder"):
        analyze(tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["tendency.csv"]


def test_an_unwritable_output_folder_is_refused(marked):
    with pytest.raises(DomainError, match="cannot be written"):
        analyze(Path("/proc/results"))
