"""CLIP scores against the same sums written down plainly, from the model's own answers to whole vectors."""

import numpy as np
import pytest
from django.utils import timezone

from analysis.models import AttributeScore, Encoder, ImageEmbedding, ScoredImage, TextEmbedding
from analysis.scoring import score_tables
from analysis.scoring.backends.choices import EncoderChoice
from analysis.scoring.backends.encoders import load_encoder
from analysis.scoring.inputs.pictures import StoredFile, read_picture
from analysis.scoring.inputs.prompts import PromptTexts, check_templates
from analysis.scoring.launch import plan_scorer
from analysis.scoring.run import RunOptions, run
from analysis.scoring.steps.clip_scores import ensemble, zero_shot
from annotation.models import Campaign, CampaignAttribute
from catalog.models import Attribute
from foundation.errors import DomainError
from jobs.progress.reporter import Unwatched
from tests.analysis.scoring.conftest import add_images

# An ensemble: vectors of both prompts are averaged, and the mean scaled to length one.
TEMPLATES = ["a photo of a person, {attr}", "a drawing of {a_an} {attr}"]
CONTRAST = ["a photo of a person", "a drawing"]


def scored(study, lead, clip, **parameters):
    scorer = plan_scorer(
        study=study,
        kind="clip",
        model_id=clip["model_id"],
        parameters={"pretrained": clip["pretrained"], **parameters},
        by=lead,
    )
    result = run(scorer=scorer, options=RunOptions(batch_size=4), progress=Unwatched())
    scorer.refresh_from_db()
    return scorer, result


def softmax(values: list[float]) -> np.ndarray:
    powers = np.exp(np.array(values) - max(values))
    return powers / powers.sum()


@pytest.mark.models
@pytest.mark.django_db
def test_scores_are_those_of_the_model_asked_directly_prompt_by_prompt(study, lead, clip):
    import torch

    images = add_images(study, 3)
    scorer, result = scored(study, lead, clip, templates=TEMPLATES, contrast=CONTRAST)
    assert str(result) == "6 images scored."
    table = score_tables.attribute_scores(study)
    # Each group of the resource has three stereotypes.
    assert len(table) == 6 * 3
    encoder = load_encoder(EncoderChoice(clip["model_id"], clip["pretrained"]))
    scale = encoder.row.parameters["logit_scale"]
    for row in table.sample(6, random_state=1).to_dict("records"):
        image = next(one for one in images if one.sha256 == row["image"])
        tensor = encoder.prepare(read_picture(StoredFile(image.sha256, image.file)))
        vector = encoder.encode_images([torch.as_tensor(tensor)])[0]
        attribute = row["attribute"]
        article = "an" if attribute[0] in "aeiou" else "a"
        texts = [f"a photo of a person, {attribute}", f"a drawing of {article} {attribute}"]
        mean = encoder.encode_texts(texts).mean(axis=0)
        other = encoder.encode_texts(CONTRAST).mean(axis=0)
        cosine = float(vector @ mean / np.linalg.norm(mean))
        against = float(vector @ other / np.linalg.norm(other))
        assert row["cosine"] == pytest.approx(cosine, abs=1e-6)
        assert row["probability"] == pytest.approx(softmax([scale * cosine, scale * against])[0], abs=2e-6)
    assert scorer.encoder == encoder.row
    assert scorer.model_revision.startswith("sha256:")


@pytest.mark.database_free
def test_probability_is_the_softmax_over_attribute_and_contrast():
    # cos(m,a) = 0.6, cos(m,c) = 0.8, s = 10: p = 1 / (1 + e^(10·(0.8 − 0.6))) = 1 / (1 + e²) = 0.119203
    probability, cosine = zero_shot(
        np.array([[1.0, 0.0]]), np.array([[0.6, 0.8]]), np.array([0.8, 0.6]), scale=10
    )
    assert cosine == pytest.approx(np.array([[0.6]]))
    assert probability == pytest.approx(np.array([[0.119203]]), abs=1e-6)


@pytest.mark.database_free
def test_probabilities_stay_within_bounds_at_any_temperature():
    generator = np.random.default_rng(3)
    images, attributes = generator.normal(size=(20, 8)), generator.normal(size=(5, 8))
    for scale in (0.0, 1.0, 100.0, 1e6):
        probability, _ = zero_shot(images, attributes, generator.normal(size=8), scale=scale)
        assert np.isfinite(probability).all()
        assert ((probability >= 0) & (probability <= 1)).all()
    same, _ = zero_shot(images, attributes, attributes[0], scale=100)
    np.testing.assert_allclose(same[:, 0], 0.5)


@pytest.mark.database_free
def test_an_ensemble_is_the_direction_of_the_mean():
    np.testing.assert_allclose(ensemble(np.array([[1.0, 0.0], [0.0, 1.0]])), [2**-0.5, 2**-0.5], rtol=1e-6)


@pytest.mark.database_free
@pytest.mark.parametrize(
    ("templates", "places"),
    [
        (["a photo of a person"], {"attr"}),
        (["a photo of a {id} person, {attr}"], {"attr"}),
        (["{phrase}"], set()),
        (["{attr}"], set()),
        (["a photo {of"], set()),
    ],
)
def test_prompts_with_other_places_are_refused(templates, places):
    with pytest.raises(DomainError):
        check_templates(templates, places=frozenset(places))


@pytest.mark.database_free
def test_each_prompt_is_embedded_once():
    texts = PromptTexts.of({1: "kite", 2: "drum"}, templates=["{attr}"], contrast=["a person", "kite"])
    assert texts.texts == ["a person", "kite", "drum"]


@pytest.mark.models
@pytest.mark.django_db
def test_attributes_are_those_shown_to_people_and_new_ones_are_added_later(study, lead, clip):
    add_images(study, 2)
    velmari = study.groups.get(name="Velmari")
    campaign = Campaign.objects.create(study=study, slug="m", name="M", kind="stereotype_marking", seed=1)

    def show(text: str, role: str) -> None:
        attribute = Attribute.objects.get(text=text)
        CampaignAttribute.objects.create(campaign=campaign, group=velmari, attribute=attribute, role=role)

    show("tall hat", "stereotype")
    show("drum", "random")
    scorer, _ = scored(study, lead, clip)
    found = {(row.image.group.name, row.attribute.text) for row in AttributeScore.objects.all()}
    assert {text for group, text in found if group == "Velmari"} == {"tall hat", "drum"}
    # No campaign shows anything to people of the Orsani: their stereotypes are asked.
    assert {text for group, text in found if group == "Orsani"} == {"round glasses", "drum", "umbrella"}
    before = score_tables.last_score(study)
    show("kite", "random")
    again, result = scored(study, lead, clip)
    assert (again, str(result)) == (scorer, "2 images scored.")
    assert AttributeScore.objects.filter(attribute__text="kite").count() == 2
    assert score_tables.last_score(study) != before


@pytest.mark.models
@pytest.mark.django_db
def test_attributes_of_a_group_without_images_block_nothing(study, lead, clip):
    add_images(study, 1)
    velmari = study.groups.get(name="Velmari")
    study.images.exclude(group=velmari).update(retracted_at=timezone.now())
    scored(study, lead, clip)
    campaign = Campaign.objects.create(study=study, slug="m", name="M", kind="stereotype_marking", seed=1)
    orsani, trumpet = study.groups.get(name="Orsani"), Attribute.objects.create(text="trumpet")
    CampaignAttribute.objects.create(campaign=campaign, group=orsani, attribute=trumpet, role="random")
    assert str(scored(study, lead, clip)[1]) == "0 images scored."
    # Its images come later, and with them its attributes.
    study.images.filter(group=orsani).update(retracted_at=None)
    assert str(scored(study, lead, clip)[1]) == "1 image scored."
    assert AttributeScore.objects.filter(attribute=trumpet).count() == 1


@pytest.mark.models
@pytest.mark.django_db
def test_vectors_are_computed_once_for_all_studies_and_scorers(study, lead, clip):
    add_images(study, 2)
    scored(study, lead, clip)
    vectors = set(ImageEmbedding.objects.values_list("pk", flat=True))
    texts = TextEmbedding.objects.count()
    other, _ = scored(study, lead, clip, contrast=["a painting"])
    assert set(ImageEmbedding.objects.values_list("pk", flat=True)) == vectors
    assert TextEmbedding.objects.count() == texts + 1
    assert Encoder.objects.count() == 1
    assert other.model_label != study.scorers.exclude(pk=other.pk).get().model_label
    assert ScoredImage.objects.filter(scorer=other, outcome="done").count() == 4
