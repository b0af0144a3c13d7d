"""Stored vectors: none without a direction; earlier, rounded ones stay readable and are marked as rounded."""

import numpy as np
import pytest

from analysis.models import Encoder, ImageEmbedding, ScoredImage, Scorer, TextEmbedding
from analysis.scoring import score_tables
from analysis.scoring.backends.choices import EncoderChoice
from analysis.scoring.backends.encoders import LoadedEncoder
from analysis.scoring.inputs import scope
from analysis.scoring.launch import plan_scorer
from analysis.scoring.steps import embeddings
from analysis.scoring.vectors import packed, unit, unpacked
from foundation.errors import DomainError
from jobs.progress.reporter import Unwatched
from tests.analysis.scoring.conftest import add_images


@pytest.mark.database_free
@pytest.mark.parametrize(("vector_type", "size", "exact"), [("float32", 4, 1e-7), ("float16", 2, 1e-3)])
def test_a_vector_comes_back_in_the_type_it_was_kept_in(vector_type, size, exact):
    rows = np.random.default_rng(1).normal(size=(5, 64))
    stored = packed(rows, vector_type)
    assert {len(one) for one in stored} == {64 * size}
    assert np.abs(unpacked(stored, 64, vector_type) - unit(rows)).max() < exact


@pytest.mark.database_free
@pytest.mark.parametrize("number", [np.nan, np.inf, 0.0])
def test_a_vector_without_a_direction_is_not_packed(number):
    with pytest.raises(ValueError, match="not finite, or all zeros"):
        packed(np.array([[3.0, 4.0], [number, number]]))


@pytest.fixture
def encoder(db):
    return Encoder.objects.create(
        architecture="tiny", pretrained="folder", revision="sha256:1", dim=4, precision="fp16"
    )


def embed(study, encoder, numbers: list[float], scorer=None):
    """Embed the study's images by an encoder that computes these numbers, image by image."""
    made = iter(numbers)
    loaded = LoadedEncoder(
        row=encoder,
        prepare=lambda picture: picture,
        encode_images=lambda pictures: np.array([[next(made), 1, 1, 1] for _ in pictures], dtype=np.float32),
        encode_texts=lambda texts: np.full((len(texts), 4), np.nan, dtype=np.float32),
    )
    images = scope.scope_images(scope.images_of(study, "clip"))
    result = embeddings.embed_images(
        encoder=loaded, scorer=scorer, images=images, batch_size=2, progress=Unwatched()
    )
    return loaded, result


def test_an_image_whose_vector_is_not_finite_fails_alone(study, encoder):
    add_images(study, 3)
    scorer = Scorer.objects.create(study=study, kind="pull", model_id="t", model_label="t", configuration="t")
    _, result = embed(study, encoder, [1, np.nan, 2, np.inf, 3, 4], scorer)
    assert (result.files, len(result.reasons)) == (4, 2)
    assert ImageEmbedding.objects.count() == 4
    failed = ScoredImage.objects.filter(outcome="failed")
    assert set(failed.values_list("reason", flat=True)) == {
        "The model returned no finite vector for the image with precision fp16."
    }
    assert failed.count() == 2


def test_five_vectors_in_a_row_that_are_not_finite_stop_the_scorer_and_name_the_precision(study, encoder):
    add_images(study, 6)
    with pytest.raises(DomainError, match=r"with precision fp16: use precision fp32 or bf16\."):
        embed(study, encoder, [1, 2, *[np.nan] * 10])
    assert ImageEmbedding.objects.count() == 2


def test_a_text_without_a_finite_vector_stops_the_scorer(study, encoder):
    loaded, _ = embed(study, encoder, [])
    with pytest.raises(DomainError, match="no finite vectors for texts"):
        embeddings.embed_texts(loaded, ["a kite"])
    assert not TextEmbedding.objects.exists()


def plan(study, lead, **parameters) -> Scorer:
    return plan_scorer(study=study, kind="pull", model_id="tiny", parameters=parameters, by=lead)


def test_vectors_from_before_stay_readable(study, encoder):
    encoder.vector_type = "float16"
    encoder.save()
    (image,) = add_images(study, 1)[:1]
    vector = np.array([[0.6, 0.8, 0, 0]], dtype="<f2")
    ImageEmbedding.objects.create(encoder=encoder, sha256=image.sha256, vector=vector.tobytes())
    np.testing.assert_allclose(
        score_tables.image_vectors(study, encoder).vectors, [[0.6, 0.8, 0, 0]], atol=1e-3
    )
    assert str(encoder) == "tiny · folder · float16 vectors"
    assert EncoderChoice("tiny", vectors="float16").label == "tiny, float16 vectors"


def test_a_lead_scores_again_with_unrounded_vectors_from_the_page(study, lead, analyst, client):
    rounded = plan(study, lead, vectors="float16")
    address = f"/studies/isles/scoring/{rounded.pk}/"
    client.force_login(analyst)
    shown = client.get(address).content.decode()
    assert "rounded to float16" in shown
    assert "Score again with float32 vectors" not in shown
    assert client.post(f"{address}unrounded/").status_code in {403, 404}
    client.force_login(lead)
    assert "Score again with float32 vectors" in client.get(address).content.decode()
    answer = client.post(f"{address}unrounded/")
    scorer = Scorer.objects.exclude(pk=rounded.pk).get()
    assert answer["Location"] == f"/jobs/{scorer.job_id}/"
    assert scorer.parameters == rounded.parameters | {"vectors": "float32"}
    assert "rounded to float16" not in client.get(f"/studies/isles/scoring/{scorer.pk}/").content.decode()
