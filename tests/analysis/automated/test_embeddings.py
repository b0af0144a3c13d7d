"""Pull and MCAS by encoder: images and texts that an encoder has not embedded do not count."""

import pytest

from analysis.models import ImageEmbedding, Scorer, TextEmbedding
from analysis.results.data.machine_scores import load_scores
from analysis.results.parameters import parameters_of
from analysis.results.tables.automated_measures import Automated
from analysis.results.tables.embeddings import mcas_tables, pull_table
from analysis.scoring.steps.store import note_texts, write_texts
from analysis.scoring.vectors import unpacked
from generation.models import GenerationRequest, GenerationRun, Image, PromptTemplate
from tests.analysis.automated import factories
from tests.analysis.automated.test_pages import address, text_of

pytestmark = pytest.mark.django_db
LABEL = "tiny · folder"


def measured(study) -> Automated:
    found = Automated()
    scores, parameters = load_scores(study), parameters_of(study, resamples=100)
    pull_table(found, scores, parameters)
    mcas_tables(found, scores, parameters)
    return found


def drawn(study) -> Scorer:
    """Images of pull's three conditions, seen by an encoder."""
    for group in study.groups.all():
        for number in range(5):
            factories.image(study, f"{group.name} {number}", group=group)
    return factories.draw_near(study)


def test_an_encoder_for_scoring_attributes_measures_no_pull(study, report, analyst_client):
    drawn(study)
    others = Image.objects.filter(study=study).exclude(condition="default")
    ImageEmbedding.objects.filter(sha256__in=others.values("sha256")).delete()
    Scorer.objects.filter(study=study).update(kind="clip")
    assert measured(study).reasons["pull"] == "no_vectors"
    report(study)
    assert "python manage.py score --study isles --scorer pull" in text_of(analyst_client, address("pull"))


def test_pull_needs_vectors_of_every_condition_and_counts_images_without_one(study, report, analyst_client):
    drawn(study)
    missing = Image.objects.filter(study=study, condition="stereotypical")
    ImageEmbedding.objects.filter(sha256=missing.first().sha256).delete()
    found = measured(study)
    assert found.left_out["pull"] == {f"images_without_vector ({LABEL})": 1}
    assert len(found.tables["pull"]) == 2
    report(study)
    assert f"1 of the images to compare has no vector by {LABEL}" in text_of(analyst_client, address("pull"))
    assert f"1 image has no vector by {LABEL}" in text_of(analyst_client, address("report"))
    ImageEmbedding.objects.filter(sha256__in=missing.values("sha256")).delete()
    assert measured(study).reasons["pull"] == "no_vectors"


def test_prompts_of_images_that_were_never_made_are_not_compared(phrases):
    """The prompts of failed or pending requests were not read by any scorer."""
    before = measured(phrases).tables["mcas"]
    template = PromptTemplate.objects.create(
        study=phrases, condition="target", text="a blurred {phrase}", images_per_prompt=1
    )
    run = GenerationRun.objects.create(study=phrases, backend="sketch", model_label="sketch", seed=1)
    owl = phrases.phrases.get(name="owl")
    for index, outcome in enumerate(("pending", "failed")):
        GenerationRequest.objects.create(
            run=run, template=template, phrase=owl, prompt="a blurred owl", index=index, seed=index,
            outcome=outcome,
        )  # fmt: skip
    assert measured(phrases).tables["mcas"].equals(before)


def test_a_prompt_without_vector_leaves_only_its_target_without_a_score(phrases, report, analyst_client):
    before = measured(phrases).tables["mcas"]
    TextEmbedding.objects.filter(text="an image of a owl").delete()
    found = measured(phrases)
    table = found.tables["mcas"]
    owl = (table["target"] == "owl").to_numpy()
    assert set(table.loc[owl, "reason"]) == {"no_target_texts"}
    assert table.loc[owl, "mcas"].isna().all()
    assert table.loc[owl, "ii"].equals(before.loc[owl, "ii"])
    numbers = ["ii", "itp", "ita", "tt", "mcas"]
    assert table.loc[~owl, numbers].equals(before.loc[~owl, numbers])
    assert found.left_out["mcas"] == {f"prompts_of_targets_not_read ({LABEL})": 1}
    report(phrases)
    said = f"1 prompt of targets that {LABEL} has not read in full is left out"
    assert said in text_of(analyst_client, address("mcas"))


def test_results_are_outdated_once_a_missing_text_of_mcas_is_embedded(phrases, report, analyst_client):
    before = measured(phrases).tables["mcas"]
    owl = TextEmbedding.objects.get(text="an image of a owl")
    vector = unpacked([owl.vector], factories.DIM)
    owl.delete()
    computed = report(phrases)
    write_texts(factories.encoder(), ["an image of a owl"], vector)
    note_texts(phrases.scorers.get(kind="mcas"))
    page = text_of(analyst_client, address("mcas"))
    assert "Scores or captions of the images changed after these results" in page
    again = report(phrases)
    assert again.inputs_digest != computed.inputs_digest
    assert "changed after these results" not in text_of(analyst_client, address("mcas"))
    assert measured(phrases).tables["mcas"].equals(before)


def test_images_of_targets_without_a_phrase_are_counted_and_reported(phrases, report, analyst_client):
    factories.image(phrases, "imported", condition="target")
    assert measured(phrases).left_out["mcas"] == {"images_without_phrase": 1}
    Image.objects.filter(study=phrases).update(phrase=None)
    assert measured(phrases).reasons == {
        "pull": "no_images_of_these_conditions",
        "mcas": "images_without_phrase",
        "mcas_categories": "images_without_phrase",
    }
    report(phrases)
    page = text_of(analyst_client, address("mcas"))
    assert "were imported without phrases" in page
    assert "manage.py score" not in page


def test_two_encoders_of_one_name_are_distinguished(study, report, analyst_client):
    drawn(study)
    factories.another_encoder(study, "pull")
    table = measured(study).tables["pull"]
    labels = {f"{LABEL} · 1", f"{LABEL} · 2"}
    assert set(table["encoder"]) == labels
    assert not table.duplicated(["encoder", "identity_group"]).any()
    report(study)
    overview = text_of(analyst_client, address("automated"))
    assert overview.count("</strong> of 2 groups are nearer") == 2
    for label in labels:
        assert f"{label}</a>, the default images" in overview
        page = text_of(analyst_client, address("pull") + f"?encoder={label}")
        assert "</strong> of 2 groups are nearer" in page


def test_categories_are_listed_once_for_each_encoder(phrases, report, analyst_client):
    factories.another_encoder(phrases, "mcas")
    table = measured(phrases).tables["mcas"]
    assert not table.duplicated(["encoder", "model", "category", "target"]).any()
    # For the second encoder, image vectors are negated and texts are equal: comparisons of both change sign.
    first, second = (table[table["encoder"] == f"{LABEL} · {one}"].reset_index() for one in (1, 2))
    assert first["ii"].to_numpy() == pytest.approx(second["ii"].to_numpy())
    assert first["ita"].to_numpy() == pytest.approx(-second["ita"].to_numpy())
    report(phrases)
    overview = text_of(analyst_client, address("automated"))
    assert "Seen by</th>" in overview
    for one in (1, 2):
        assert overview.count(f"<td>{LABEL} · {one}</td>") == 4  # two categories, both of them, pooled
