"""Captions by BART over n-grams and by BLIP, and what classifiers say of them, with tiny models of the real classes."""

import numpy as np
import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from PIL import Image as Picture

from analysis.models import Caption, ImageEmbedding, ScoredImage, TextScore
from analysis.scoring import score_tables
from analysis.scoring.backends.captioners import (
    CaptionInput,
    ImageCaptioner,
    NgramCaptioner,
    image_seed,
    tidy,
)
from analysis.scoring.backends.choices import SAMPLE, Decoding
from analysis.scoring.inputs.ngrams import keep_ngrams, ngrams_of
from analysis.scoring.launch import plan_scorer
from analysis.scoring.run import RunOptions, run
from analysis.scoring.vectors import unit
from foundation.errors import DomainError, NotFound
from jobs.progress.reporter import Unwatched
from tests.analysis.scoring import tiny_models
from tests.analysis.scoring.conftest import add_images
from tests.analysis.scoring.tiny_models import SENTENCES

VECTORS = unit(np.random.default_rng(5).normal(size=(len(SENTENCES), 16)))


def run_scorer(study, lead, **given):
    scorer = plan_scorer(study=study, by=lead, **given)
    result = run(scorer=scorer, options=RunOptions(batch_size=3), progress=Unwatched())
    scorer.refresh_from_db()
    return scorer, result


def over_ngrams(bart, decoding):
    return NgramCaptioner(bart, ngrams=SENTENCES, vectors=VECTORS, top=2, joiner=", ", decoding=decoding)


@pytest.mark.models
@pytest.mark.database_free
def test_the_nearest_ngrams_are_found_as_by_plain_cosines(bart):
    captioner = over_ngrams(bart, Decoding(2))
    image = unit(np.random.default_rng(6).normal(size=(1, 16)))[0]
    cosines = {
        text: sum(a * b for a, b in zip(row, image, strict=True))
        for text, row in zip(SENTENCES, VECTORS, strict=True)
    }
    assert captioner.nearest_ngrams(image) == sorted(cosines, key=cosines.get, reverse=True)[:2]


@pytest.mark.models
@pytest.mark.database_free
@pytest.mark.parametrize("way", ["beams", "sample"])
def test_captions_of_an_image_are_distinct_and_do_not_depend_on_its_neighbours(bart, way):
    captioner = over_ngrams(bart, Decoding(20, way, max_new_tokens=8))
    inputs = [CaptionInput(seed=seed, vector=VECTORS[seed]) for seed in range(3)]
    together = captioner.caption(inputs)
    for written in together:
        assert 1 < len(written.texts) <= 20
        assert len(set(written.texts)) == len(written.texts)
        assert all(text == " ".join(text.split()) for text in written.texts)
    if way == SAMPLE:
        assert captioner.caption(inputs[2:]) == together[2:]
        other = CaptionInput(seed=99, vector=VECTORS[2])
        assert captioner.caption([other]) != together[2:]


@pytest.mark.models
@pytest.mark.django_db
def test_a_study_is_captioned_from_the_words_that_clip_finds(study, lead, clip, bart):
    add_images(study, 2)
    parameters = {
        "clip": clip["model_id"],
        "clip_pretrained": clip["pretrained"],
        "captions": 5,
        "max_new_tokens": 6,
    }
    scorer, result = run_scorer(study, lead, kind="captions", model_id=bart, parameters=parameters)
    table = score_tables.captions(study)
    assert table.groupby("public_id").size().between(1, 5).all()
    assert table["public_id"].nunique() == 4
    assert str(result) == f"{len(table)} captions of 4 images written."
    assert scorer.encoder is not None
    assert scorer.model_revision.startswith("sha256:")
    assert ImageEmbedding.objects.count() == 4
    # Its words are ours and the attributes that people are, or would be, asked about.
    words = ngrams_of(study, "")
    assert {"tall hat", "round glasses", "smiling"} <= set(words)
    assert score_tables.text_vectors(scorer.encoder, words).shape == (len(words), 16)
    before = set(Caption.objects.values_list("pk", flat=True))
    add_images(study, 1, first=500)
    _, result = run_scorer(study, lead, kind="captions", model_id=bart, parameters=parameters)
    assert str(result).endswith("of 2 images written.")
    assert before < set(Caption.objects.values_list("pk", flat=True))
    _, result = run_scorer(study, lead, kind="captions", model_id=bart, parameters=parameters)
    assert str(result) == "All images already had captions."


@pytest.mark.models
@pytest.mark.django_db
def test_a_captioner_that_sees_the_picture_continues_the_given_prompt(study, lead, blip):
    add_images(study, 1)
    parameters = {"captioner": "model", "captions": 3, "prompt": "a person", "max_new_tokens": 5}
    _, result = run_scorer(study, lead, kind="captions", model_id=blip, parameters=parameters)
    table = score_tables.captions(study)
    assert table["caption"].str.startswith("a person").all()
    assert str(result) == f"{len(table)} captions of 2 images written."
    free = ImageCaptioner(blip, prompt="", decoding=Decoding(2, max_new_tokens=5))
    assert free.caption([CaptionInput(seed=1, picture=Picture.new("RGB", (20, 30)))])[0].texts


@pytest.mark.models
@pytest.mark.database_free
def test_a_captioner_that_chats_is_asked_and_its_question_is_no_part_of_the_caption(models):
    captioner = ImageCaptioner(
        str(tiny_models.save_llava(models / "llava")), prompt="", decoding=Decoding(3, max_new_tokens=5)
    )
    inputs = [CaptionInput(seed=1, picture=Picture.new("RGB", size)) for size in ((20, 30), (64, 32))]
    for written in captioner.caption(inputs):
        assert written.texts
        assert not any("Describe" in text for text in written.texts)


@pytest.mark.models
@pytest.mark.database_free
@pytest.mark.parametrize("way", ["beams", "sample"])
def test_pictures_of_any_size_are_looked_at_together(models, way):
    captioner = ImageCaptioner(
        str(tiny_models.save_qwen(models / "qwen")), prompt="", decoding=Decoding(3, way, max_new_tokens=5)
    )
    pictures = [Picture.new("RGB", size, "red") for size in ((40, 30), (64, 32), (24, 48))]
    inputs = [CaptionInput(seed=seed, picture=one) for seed, one in enumerate(pictures)]
    together = captioner.caption(inputs)
    assert all(1 <= len(written.texts) <= 3 for written in together)
    if way == SAMPLE:
        assert captioner.caption(inputs[1:]) == together[1:]


@pytest.mark.models
@pytest.mark.django_db
def test_classifiers_read_every_caption_once_and_give_each_label_a_share(study, lead, distilbert, roberta):
    from transformers import pipeline

    images = add_images(study, 2)
    writer = plan_scorer(study=study, kind="captions", model_id="org/bart", by=lead)
    texts = [*SENTENCES, "word " * 100]
    for image in images:
        for position, said in enumerate(texts):
            Caption.objects.create(scorer=writer, image=image, position=position, text=said.strip())
    for later, (kind, model) in enumerate((("sentiment", distilbert), ("toxicity", roberta))):
        scorer, result = run_scorer(study, lead, kind=kind, model_id=model)
        assert str(result) == f"{24 + later} captions read."
        direct = pipeline("text-classification", model)
        for text in SENTENCES:
            best = direct(text)[0]
            stored = TextScore.objects.filter(scorer=scorer, caption__text=text, label=best["label"])
            assert [one.score for one in stored] == pytest.approx([best["score"]] * 4, abs=1e-4)
        sums = {}
        for row in TextScore.objects.filter(scorer=scorer):
            sums[row.caption_id] = sums.get(row.caption_id, 0) + row.score
        assert sums == pytest.approx(dict.fromkeys(sums, 1.0), abs=1e-4)
        assert len(sums) == 24 + later
        # What is missing, and no more: a caption that came later.
        Caption.objects.create(scorer=writer, image=images[0], position=50 + len(kind), text=f"later {kind}")
        assert str(run_scorer(study, lead, kind=kind, model_id=model)[1]) == "1 caption read."


@pytest.mark.django_db
def test_a_classifier_without_captions_asks_for_captions_first(study, lead):
    with pytest.raises(DomainError, match="has no captions to read yet"):
        run_scorer(study, lead, kind="sentiment")


@pytest.mark.django_db
def test_a_missing_endpoint_is_reported(study, lead, settings):
    settings.VISION_BASE_URL = ""
    add_images(study, 1)
    with pytest.raises(DomainError, match="VISION_BASE_URL"):
        run_scorer(study, lead, kind="captions", model_id="looker", parameters={"captioner": "endpoint"})
    assert not ScoredImage.objects.exists()


@pytest.mark.django_db
def test_lists_of_ngrams_are_cached_by_content(study):
    digest = keep_ngrams("\ufeffa  kite\n# of ours\n\na drum\na kite\n".encode())
    assert ngrams_of(study, digest) == ["a kite", "a drum"]
    assert keep_ngrams(b"a kite\na drum") == digest
    for wrong in (b"", b"# nothing", b"\xff\xfe"):
        with pytest.raises(DomainError):
            keep_ngrams(wrong)
    with pytest.raises(NotFound):
        ngrams_of(study, "0" * 64)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "refusal"),
    [
        *(
            (name, "No list of n-grams with this digest is stored")
            for name in ("../exports/notes", "../../../x", "0" * 64, "kite")
        ),
        (7, "must be the digest of a stored list"),
    ],
)
def test_a_list_of_ngrams_is_named_by_its_digest_and_by_no_path(study, lead, name, refusal):
    default_storage.save("exports/notes.txt", ContentFile(b"what somebody else wrote"))
    with pytest.raises(DomainError, match=refusal):
        plan_scorer(study=study, kind="captions", model_id="x", parameters={"ngrams": name}, by=lead)


@pytest.mark.django_db
@pytest.mark.parametrize("joiner", [", ", " ", "\n", ""])
def test_the_joiner_of_ngrams_is_stored_exactly(study, lead, joiner):
    given = {"joiner": joiner, "ngrams": keep_ngrams(b"a kite")}
    scorer = plan_scorer(study=study, kind="captions", model_id="x", parameters=given, by=lead)
    scorer.refresh_from_db()
    assert scorer.parameters["joiner"] == joiner


@pytest.mark.database_free
def test_captions_are_tidied_and_none_is_longer_than_can_be_kept():
    assert tidy(["a  kite ", "", "a kite", "\0", "a\ndrum"]) == ["a kite", "a drum"]
    long = tidy(["word " * 200, "x" * 900])
    assert [len(text) <= 600 for text in long] == [True, True]
    assert long[0].endswith("word…")


@pytest.mark.database_free
def test_the_seed_of_an_image_is_its_own():
    assert image_seed(7, "a") == image_seed(7, "a")
    assert len({image_seed(7, "a"), image_seed(8, "a"), image_seed(7, "b")}) == 3
    assert 0 <= image_seed(7, "a") < 2**63
