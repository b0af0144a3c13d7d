"""Tables of scores, as measures read them."""

import hashlib

import numpy as np
import pytest

from analysis.models import (
    AttributeScore,
    Caption,
    Encoder,
    ImageEmbedding,
    ScoredImage,
    Scorer,
    TextEmbedding,
)
from analysis.scoring import score_tables
from analysis.scoring.vectors import packed, text_key, unit, unpacked
from catalog.models import Attribute
from foundation.errors import NotFound
from generation.models import Image

pytestmark = pytest.mark.django_db


@pytest.fixture
def encoder():
    return Encoder.objects.create(architecture="tiny", pretrained="folder", revision="sha256:1", dim=4)


@pytest.fixture
def scorer(study, encoder):
    return Scorer.objects.create(
        study=study, kind="clip", model_id="tiny", model_label="CLIP tiny", configuration="1", encoder=encoder
    )


def image_of(study, name: str, **given) -> Image:
    sha256 = hashlib.sha256(name.encode()).hexdigest()
    given = {"group": study.groups.get(name="Velmari"), "model_label": "painter"} | given
    return Image.objects.create(study=study, sha256=sha256, file=f"{name}.png", **given)


def test_a_study_without_scores_has_empty_tables_with_all_their_columns(study, encoder):
    assert score_tables.encoders_of(study) == []
    empty = score_tables.image_vectors(study, encoder)
    assert empty.vectors.shape == (0, 4)
    assert list(empty.images.columns) == [
        "image",
        "public_id",
        "model",
        "condition",
        "identity_group",
        "attribute",
        "attribute_set",
        "category",
        "phrase",
        "prompt",
    ]
    assert len(score_tables.attribute_scores(study)) == len(score_tables.captions(study)) == 0
    assert "probability" in score_tables.attribute_scores(study)
    assert "caption" in score_tables.captions(study)
    assert score_tables.text_vectors(encoder, []).shape == (0, 4)


def test_vectors_come_back_as_they_were_in_the_order_of_images(study, encoder, scorer):
    vectors = np.random.default_rng(1).normal(size=(3, 4))
    images = [image_of(study, name) for name in ("one", "two", "three")]
    retracted = image_of(study, "four", retracted_at="2026-01-01T00:00Z")
    twin = image_of(study, "one", condition="stereotypical", attribute=Attribute.objects.get(text="kite"))
    # In another order than the images came in, and one of them without a vector.
    for image, vector in reversed(list(zip(images[:2], packed(vectors[:2]), strict=True))):
        ImageEmbedding.objects.create(encoder=encoder, sha256=image.sha256, vector=vector)
    ImageEmbedding.objects.create(encoder=encoder, sha256=retracted.sha256, vector=packed(vectors[2:])[0])
    found = score_tables.image_vectors(study, encoder)
    assert found.images["public_id"].to_list() == [str(one.public_id) for one in (images[0], images[1], twin)]
    assert found.images["image"].to_list() == [images[0].sha256, images[1].sha256, images[0].sha256]
    assert found.images["attribute"].to_list() == [None, None, "kite"]
    assert found.images["condition"].to_list() == ["default", "default", "stereotypical"]
    assert found.images["identity_group"].to_list() == ["Velmari"] * 3
    assert found.vectors.dtype == np.float32
    np.testing.assert_allclose(found.vectors, unit(vectors[[0, 1, 0]]), atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(found.vectors, axis=1), 1, atol=1e-6)
    assert score_tables.encoders_of(study) == [encoder]


def test_a_text_without_a_vector_is_named(encoder):
    vector = packed(np.array([[3.0, 0, 0, 4]]))[0]
    TextEmbedding.objects.create(encoder=encoder, text_sha256=text_key("he"), text="he", vector=vector)
    np.testing.assert_allclose(
        score_tables.text_vectors(encoder, ["he", "he"]), [[0.6, 0, 0, 0.8]] * 2, atol=1e-6
    )
    with pytest.raises(NotFound, match="“she”"):
        score_tables.text_vectors(encoder, ["he", "she"])


def test_scores_and_captions_of_retracted_images_are_left_out(study, scorer):
    kept, retracted = image_of(study, "one"), image_of(study, "two", retracted_at="2026-01-01T00:00Z")
    kite = Attribute.objects.get(text="kite")
    for image in (kept, retracted):
        AttributeScore.objects.create(
            scorer=scorer, image=image, attribute=kite, probability=0.75, cosine=0.25
        )
        Caption.objects.create(scorer=scorer, image=image, position=1, text="a person with a kite")
        Caption.objects.create(scorer=scorer, image=image, position=0, text="a kite")
    scores = score_tables.attribute_scores(study)
    assert scores.drop(columns="public_id").to_dict("records") == [
        {
            "scorer": "CLIP tiny",
            "model": "painter",
            "identity_group": "Velmari",
            "image": kept.sha256,
            "attribute": "kite",
            "probability": 0.75,
            "cosine": 0.25,
        }
    ]
    assert score_tables.captions(study)["caption"].to_list() == ["a kite", "a person with a kite"]


def test_the_last_score_changes_with_every_score_and_with_no_other_study(study, scorer, encoder):
    before = score_tables.last_score(study)
    image = image_of(study, "one")
    assert score_tables.last_score(study) == before
    # Neither failures nor planned scores are in any table.
    ScoredImage.objects.create(
        scorer=scorer, image=image, outcome="failed", reason="The image file is damaged."
    )
    other = Scorer.objects.create(
        study=study, kind="pull", model_id="tiny", model_label="Pull tiny", configuration="2"
    )
    assert score_tables.last_score(study) == before
    ScoredImage.objects.all().delete()
    done = ScoredImage.objects.create(scorer=scorer, image=image, outcome="done")
    after = score_tables.last_score(study)
    assert after != before
    done.delete()
    ScoredImage.objects.create(scorer=scorer, image=image, outcome="done")
    assert score_tables.last_score(study) not in {before, after}
    ScoredImage.objects.create(scorer=other, image=image, outcome="done")
    before = score_tables.last_score(study)
    scorer.delete()  # the older one, so that the newest rows stay
    assert other == Scorer.objects.get()
    assert score_tables.last_score(study) != before


def test_reading_asks_the_database_a_fixed_number_of_times(study, encoder, scorer, django_assert_num_queries):
    def add(names):
        for name in names:
            image = image_of(study, name)
            ImageEmbedding.objects.create(
                encoder=encoder, sha256=image.sha256, vector=packed(np.ones((1, 4)))[0]
            )

    for names in (("one",), ("two", "three", "four")):
        add(names)
        with django_assert_num_queries(2):
            score_tables.image_vectors(study, encoder)
        with django_assert_num_queries(1):
            score_tables.attribute_scores(study)
        with django_assert_num_queries(1):
            score_tables.last_score(study)


def test_packing_keeps_directions():
    rows = np.array([[3.0, 4.0], [-1e-3, 0.0]])
    np.testing.assert_allclose(unpacked(packed(rows), 2), [[0.6, 0.8], [-1, 0]], atol=1e-7)


def test_encoders_that_share_a_name_are_distinguished_by_their_difference(study):
    def label_of(**given) -> int:
        row = {
            "architecture": "tiny",
            "pretrained": "folder",
            "revision": "sha256:1111111111",
            "dim": 4,
        } | given
        encoder = Encoder.objects.create(**row)
        Scorer.objects.create(
            study=study,
            kind="pull",
            model_id="tiny",
            model_label=f"{encoder.pk}",
            configuration=f"{encoder.pk}",
            encoder=encoder,
        )
        return encoder.pk

    alone = label_of()
    assert score_tables.encoder_labels(study) == {alone: "tiny · folder"}
    half = label_of(precision="fp16")
    assert score_tables.encoder_labels(study) == {alone: "tiny · folder · fp32", half: "tiny · folder · fp16"}
    newer = label_of(revision="sha256:2222222222")
    alike = label_of(revision="sha256:2222222222ff", precision="fp16")
    other = label_of(pretrained="other")
    labels = score_tables.encoder_labels(study)
    assert len(set(labels.values())) == 5
    assert labels[other] == "tiny · other"
    assert labels[alone] == "tiny · folder · fp32 · 11111111"
    assert labels[newer] == "tiny · folder · fp32 · 22222222"
    assert labels[alike] == "tiny · folder · fp16 · 22222222"
