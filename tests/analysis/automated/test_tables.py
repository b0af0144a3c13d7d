"""Tables from database rows, compared with the measures of the same numbers, and the reasons for empty tables."""

import csv
import json

import pandas as pd
import pytest
from django.core.management import call_command
from django.utils import timezone

from analysis.metrics.automated.concordance import concordance
from analysis.metrics.captions.matcher import match_captions
from analysis.metrics.captions.salience import salience
from analysis.metrics.embeddings.mcas import mcas
from analysis.metrics.embeddings.mcas_categories import mcas_categories
from analysis.metrics.embeddings.pull import pull
from analysis.models import AttributeScore, Caption, Encoder
from analysis.results.data import machine_scores
from analysis.results.output.csv_tables import cell
from analysis.results.schema import AUTOMATED, records
from analysis.results.tables.automated_measures import caption_units
from analysis.scoring import score_tables
from annotation.models import Judgement
from catalog.models import Attribute
from foundation.errors import DomainError
from generation.models import Image
from tests.analysis.automated import factories

pytestmark = pytest.mark.django_db


def analyze(output, *options: str) -> dict[str, list[dict[str, str]]]:
    call_command("analyze", "--study", "isles", "--output", str(output), "--resamples", "200", *options)
    return {
        path.stem: list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
        for path in output.glob("*.csv")
    }


def same(rows: list[dict[str, str]], expected, *columns: str) -> None:
    """Check that the rows of a file have the numbers of a measure's table."""
    found = records(expected.to_frame())
    assert len(rows) == len(found) > 0
    for row, wanted in zip(rows, found, strict=True):
        for name in columns:
            value = wanted[name]
            if isinstance(value, float):
                assert float(row[name]) == pytest.approx(value, abs=1e-12), name
            else:
                assert row[name] == str(cell(value)), name


def test_mcas_is_the_measure_of_the_studys_vectors_and_prompts(phrases, tmp_path):
    tables = analyze(tmp_path / "out")
    encoder = Encoder.objects.get()
    read = score_tables.image_vectors(phrases, encoder)
    texts = [
        ("attribute", name, None, None, text) for name, words in factories.SETS.items() for text in words
    ]
    texts += [
        ("target", None, category, name, f"an image of a {name}")
        for category, names in factories.TARGETS.items()
        for name in names
    ]
    frame = pd.DataFrame(texts, columns=["kind", "attribute_set", "category", "phrase", "text"])
    expected = mcas(
        read.images, read.vectors, frame, score_tables.text_vectors(encoder, list(frame["text"])),
        sets=("loud", "quiet"), resamples=200, seed=0,
    )  # fmt: skip
    assert len(tables["mcas"]) == 10  # five targets, two models
    same(
        tables["mcas"],
        expected,
        "model",
        "category",
        "target",
        "ii",
        "itp",
        "ita",
        "tt",
        "mcas",
        "ci_low",
        "p_value",
    )
    assert {row["encoder"] for row in tables["mcas"]} == {str(encoder)}
    same(
        tables["mcas_categories"],
        mcas_categories(expected.to_frame()),
        "model",
        "category",
        "terms",
        "n",
        "mean",
    )
    by_target = {(row["model"], row["target"]): float(row["mcas"]) for row in tables["mcas"]}
    assert by_target["sketch", "wren"] > 0 > by_target["sketch", "owl"]


def by_unit(study) -> pd.DataFrame:
    """People's judgements, images named as in results."""
    rows = Judgement.objects.filter(annotation__campaign__study=study).order_by("pk").values_list(
        "annotation__task__image__model_label", "annotation__task__image__group__name",
        "annotation__task__image__sha256", "attribute__text", "annotation__annotator__source_id", "present",
    )  # fmt: skip
    return pd.DataFrame(
        [("\x1f".join(row[:3]), *row[3:]) for row in rows],
        columns=["image", "attribute", "annotator", "present"],
    )


def test_concordance_is_the_measure_of_clip_scores_and_caption_shares(scored, tmp_path):
    tables = analyze(tmp_path / "out")
    answers = by_unit(scored)
    clip = score_tables.attribute_scores(scored).rename(columns={"probability": "score"})
    captions = score_tables.captions(scored)
    for frame in (clip, captions):
        frame["image"] = frame["model"] + "\x1f" + frame["identity_group"] + "\x1f" + frame["image"]
    asked = sorted({text for texts in factories.ASKED.values() for text in texts})
    shares = match_captions(captions, asked).shares().astype({"score": float})
    scores = pd.concat([clip[list(shares.columns)], shares]).astype({"image": object, "attribute": object})
    scores = scores[scores["image"].isin(set(answers["image"]))]
    scores = scores.merge(answers[["image", "attribute"]].drop_duplicates())
    expected = concordance(scores, answers, target_precision=0.9, resamples=200, seed=0)
    same(tables["concordance"], expected, "attribute", "scorer", "n", "precision", "recall", "f1",
         "average_precision", "auc", "threshold", "precision_low", "brier", "automatable")  # fmt: skip
    assert {row["scorer"] for row in tables["concordance"]} == {"CLIP tiny", "BLIP tiny"}
    assert len(tables["calibration"]) == len(expected.calibration)
    found = {(row["scorer"], row["attribute"]): row for row in tables["concordance"]}
    assert float(found["CLIP tiny", ""]["auc"]) > 0.7  # scores tend towards people's answers
    # 12 images of each people, four attributes asked of each, no ties among three
    assert found["CLIP tiny", ""]["n"] == "96"


def test_salience_is_the_measure_of_captions_and_likelihoods(scored, tmp_path):
    tables = analyze(tmp_path / "out", "--top-k", "2")
    captions = score_tables.captions(scored)
    likelihood = pd.DataFrame(tables["likelihood"]).astype({"likelihood": float, "shown": int})
    asked = sorted({text for texts in factories.ASKED.values() for text in texts})
    expected = salience(captions, asked, likelihood=likelihood, top=2)
    same(
        tables["salience"],
        expected,
        "identity_group",
        "attribute",
        "salience",
        "rank",
        "captions",
        "above_median",
    )
    rank = {(row["identity_group"], row["attribute"]): row["rank"] for row in tables["salience"]}
    # two captions of three speak of tall hats, one of a blue scarf
    assert (rank["Velmari", "tall hat"], rank["Velmari", "blue scarf"]) == ("1", "2")
    assert {row["attribute"] for row in tables["salience"]} == set(asked)


def test_captions_are_searched_for_every_listed_attribute_on_demand(scored, tmp_path):
    rows = analyze(tmp_path / "out", "--salient-among", "all")["salience"]
    assert "kite" in {row["attribute"] for row in rows}  # listed, never asked


def test_theta_by_a_machine_is_the_measure_of_its_thresholded_scores(scored, tmp_path):
    tables = analyze(tmp_path / "out")
    rows = {(row["scorer"], row["identity_group"]): row for row in tables["automated_tendency"]}
    threshold = {
        row["attribute"]: float(row["threshold"] or 0.5)
        for row in tables["concordance"]
        if row["scorer"] == "CLIP tiny" and row["attribute"]
    }
    clip = score_tables.attribute_scores(scored)
    for group, asked in factories.ASKED.items():
        mine = clip[clip["identity_group"] == group]
        share = [
            (mine.loc[mine["attribute"] == text, "probability"] >= threshold[text]).mean()
            for text in asked[:4]
        ]
        stereo, random = sum(share[:2]) / 2, sum(share[2:4]) / 2
        row = rows["CLIP tiny", group]
        assert float(row["likelihood_stereotype"]) == pytest.approx(stereo, abs=1e-12)
        if random:
            assert float(row["automated_theta"]) == pytest.approx(stereo / random, abs=1e-12)
        human = next(line for line in tables["tendency"] if line["identity_group"] == group)
        assert (row["human_theta"], row["human_theta_low"]) == (human["theta"], human["theta_low"])
        assert row["images"] == "12"


def test_equal_scores_and_seed_give_equal_bytes(scored, tmp_path):
    for name, seed in (("first", "3"), ("second", "3"), ("other", "4")):
        analyze(tmp_path / name, "--seed", seed)
    for name in AUTOMATED:
        first, second = (tmp_path / one / f"{name}.csv" for one in ("first", "second"))
        assert first.read_bytes() == second.read_bytes()
    changing = ("concordance", "pull")
    for name in changing:
        assert (tmp_path / "first" / f"{name}.csv").read_bytes() != (
            tmp_path / "other" / f"{name}.csv"
        ).read_bytes()


def test_retracted_images_are_in_no_table(scored, tmp_path):
    scored.images.filter(group__name="Orsani").update(retracted_at=timezone.now(), retracted_reason="No.")
    tables = analyze(tmp_path / "out")
    for name in ("salience", "pull", "automated_tendency"):
        assert {row["identity_group"] for row in tables[name]} == {"Velmari"}
    assert next(row["n"] for row in tables["concordance"] if not row["attribute"]) == "48"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--target-precision", "1.5"], "target_precision"),
        (["--top-k", "0"], "top_k"),
        (["--target-precision", "nan"], "target_precision"),
    ],
)
def test_wrong_choices_are_one_sentence(scored, tmp_path, options, said):
    with pytest.raises(DomainError) as error:
        analyze(tmp_path / "out", *options)
    assert said in error.value.message


def test_pull_is_the_measure_of_the_studys_vectors(study, tmp_path):
    for group in study.groups.all():
        for number in range(5):
            factories.image(study, f"{group.name} {number}", group=group)
    factories.draw_near(study)
    rows = analyze(tmp_path / "out")["pull"]
    read = score_tables.image_vectors(study, Encoder.objects.get())
    same(
        rows,
        pull(read.images, read.vectors, resamples=200, seed=0),
        "identity_group",
        "s_d_s",
        "s_s_ns",
        "pull",
        "ci_low",
    )
    assert all(float(row["pull"]) > 0 for row in rows)


def test_the_same_bytes_twice_for_a_group_are_one_image(scored, tmp_path):
    """Imported twice, once for each of two attributes: allowed, though the condition is default."""
    once = analyze(tmp_path / "once")
    first = scored.images.filter(group__name="Velmari", condition="default").first()
    drum = Attribute.objects.get(text="drum")
    twin = Image.objects.create(
        study=scored, group=first.group, attribute=drum, model_label=first.model_label,
        sha256=first.sha256, file=first.file, width=64, height=64,
    )  # fmt: skip
    AttributeScore.objects.bulk_create(
        AttributeScore(
            scorer=one.scorer,
            image=twin,
            attribute=one.attribute,
            probability=one.probability,
            cosine=one.cosine,
        )
        for one in AttributeScore.objects.filter(image=first)
    )
    Caption.objects.bulk_create(
        Caption(scorer=one.scorer, image=twin, position=one.position, text=one.text)
        for one in Caption.objects.filter(image=first)
    )
    twice = analyze(tmp_path / "twice")
    for name in ("concordance", "calibration", "salience", "automated_tendency"):
        assert twice[name] == once[name], name
    left_out = json.loads((tmp_path / "twice" / "summary.json").read_text(encoding="utf-8"))["left_out"]
    # by two scorers; one of them writes captions
    assert left_out["concordance"]["same_bytes_of_the_same_model_and_group"] == 2
    assert left_out["salience"]["same_bytes_of_the_same_model_and_group"] == 1


@pytest.mark.parametrize("which", ["first", "last"])
def test_an_image_retracted_while_scores_are_read_lends_its_scores_to_no_other(scored, monkeypatch, which):
    before = machine_scores.load_scores(scored).scores
    gone = getattr(scored.images.filter(condition="default").order_by("pk"), which)()
    fetch = machine_scores.fetch

    def retracting(*given, **options):
        rows = fetch(*given, **options)
        scored.images.filter(pk=gone.pk).update(retracted_at=timezone.now(), retracted_reason="No.")
        return rows

    monkeypatch.setattr(machine_scores, "fetch", retracting)
    found = machine_scores.load_scores(scored).scores
    kept = before[~before["image"].astype(str).str.endswith(gone.sha256)]
    assert len(kept) == len(before) - 6  # scored for six attributes
    columns = ["scorer", "image", "attribute", "score"]
    assert found[columns].astype(str).values.tolist() == kept[columns].astype(str).values.tolist()


def test_captions_of_a_model_that_nobody_judged_are_scored_by_what_concerns_their_group(judged, tmp_path):
    """Not by every attribute of every group, which would be too many for many images."""
    for group in judged.groups.all():
        for number in range(3):
            factories.image(judged, f"brush {group.name} {number}", group=group, model_label="brush")
    factories.describe(judged)
    rows = {
        (row["model"], row["identity_group"]): row for row in analyze(tmp_path / "out")["automated_tendency"]
    }
    # tall hat and blue scarf each in one or two captions of three, drum and umbrella in none: at one half only the hat
    velmari = rows["brush", "Velmari"]
    assert (velmari["images"], velmari["random_attributes"]) == ("3", "2")
    assert float(velmari["likelihood_stereotype"]) == pytest.approx(0.5)
    assert float(velmari["likelihood_random"]) == 0.0


def test_captions_of_a_study_that_nobody_judged_are_scored_by_listed_and_as_many_other_attributes(study):
    for group in study.groups.all():
        factories.image(study, f"brush {group.name}", group=group)
    factories.describe(study)
    captions = machine_scores.load_scores(study).captions
    matches = match_captions(
        captions, ["tall hat", "blue scarf", "drum", "kite", "moss", "lantern", "umbrella"]
    )
    nobody = pd.DataFrame(columns=["model", "identity_group", "image", "attribute"])
    listed = pd.DataFrame(
        [("Velmari", "tall hat"), ("Velmari", "kite"), ("Velmari", "unseen"), ("Orsani", "drum")],
        columns=["identity_group", "attribute"],
    )
    found = caption_units(matches, nobody, listed, 7)
    assert found.equals(caption_units(matches, nobody, listed, 7))
    by_image = {image: set(rows["attribute"]) for image, rows in found.groupby("image", observed=True)}
    velmari, orsani = (
        next(texts for image, texts in by_image.items() if f"\x1f{name}\x1f" in image)
        for name in ("Velmari", "Orsani")
    )
    assert ({"tall hat", "kite"} < velmari, len(velmari)) == (True, 4)
    assert ({"drum"} < orsani, len(orsani)) == (True, 2)
