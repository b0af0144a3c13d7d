"""Scoring as a job: only missing scores are computed, despite failures; pull and MCAS; the command."""

import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from analysis.models import AttributeScore, ImageEmbedding, ScoredImage, Scorer, TextEmbedding
from analysis.scoring import score_tables
from analysis.scoring.launch import plan_scorer, start, start_here
from analysis.scoring.run import RunOptions, run
from foundation.errors import Conflict, DomainError
from generation.images.storage import store_image
from generation.models import Image, Phrase
from jobs.models import Job
from jobs.progress.reporter import Cancelled, Unwatched
from jobs.run.execution import execute
from tests.analysis.scoring import tiny_models
from tests.analysis.scoring.conftest import add_images, picture

pytestmark = pytest.mark.django_db


def plan(study, lead, clip, kind="clip", **parameters):
    return plan_scorer(
        study=study,
        kind=kind,
        model_id=clip["model_id"],
        parameters={"pretrained": clip["pretrained"], **parameters},
        by=lead,
    )


@pytest.mark.models
def test_a_damaged_and_a_missing_file_fail_alone_and_are_tried_again(study, lead, clip, settings):
    images = add_images(study, 2)
    media = Path(settings.MEDIA_ROOT)
    whole = (media / images[0].file).read_bytes()
    (media / images[0].file).write_bytes(whole[:60])
    (media / images[1].file).unlink()
    scorer = plan(study, lead, clip)
    job = start_here(scorer=scorer, by=lead, progress=Unwatched())
    assert job.state == "succeeded"
    assert job.result["summary"] == "2 images scored, 2 images could not be read."
    reasons = dict(ScoredImage.objects.filter(outcome="failed").values_list("image", "reason"))
    assert reasons == {
        images[0].pk: "Its file is truncated or damaged.",
        images[1].pk: "The image file is missing.",
    }
    assert job.steps_done == job.steps_total
    (media / images[0].file).write_bytes(whole)
    of_missing = ScoredImage.objects.get(image=images[1])
    again = start_here(scorer=scorer, by=lead, progress=Unwatched())
    assert again.result["summary"] == "1 image scored, 1 image could not be read."
    # Its stored details are not rewritten.
    assert ScoredImage.objects.get(image=images[1]) == of_missing
    assert ScoredImage.objects.filter(outcome="done").count() == 3


@pytest.mark.models
def test_one_start_at_a_time_and_one_scorer_of_a_configuration(study, lead, clip):
    add_images(study, 1)
    scorer = plan(study, lead, clip)
    assert plan(study, lead, clip) == scorer
    job = start(scorer=scorer, by=lead)
    with pytest.raises(Conflict, match="already being scored"):
        start(scorer=scorer, by=lead)
    execute(job.pk)
    job.refresh_from_db()
    assert (job.state, job.result["summary"]) == ("succeeded", "2 images scored.")
    assert job.result["url"] == "/studies/isles/scoring/"
    again = start(scorer=scorer, by=lead)
    before = AttributeScore.objects.count()
    execute(again.pk)
    again.refresh_from_db()
    assert again.result["summary"] == "0 images scored."
    assert AttributeScore.objects.count() == before


@pytest.mark.models
def test_a_model_that_changed_underneath_is_refused(study, lead, models):
    config, weights = tiny_models.save_clip(models / "changing")
    clip = {"model_id": str(config), "pretrained": str(weights)}
    add_images(study, 1)
    scorer = plan(study, lead, clip)
    run(scorer=scorer, options=RunOptions(), progress=Unwatched())
    tiny_models.save_clip(models / "changing", seed=9)
    add_images(study, 1, first=300)
    with pytest.raises(Conflict, match="Use another label"):
        run(scorer=scorer, options=RunOptions(), progress=Unwatched())
    other = plan_scorer(
        study=study,
        kind="clip",
        model_id=clip["model_id"],
        parameters={"pretrained": clip["pretrained"]},
        label="Changed",
        by=lead,
    )
    assert str(run(scorer=other, options=RunOptions(), progress=Unwatched())) == "4 images scored."


class StopsAfter:
    """Progress that requests a stop after some steps."""

    def __init__(self, steps: int) -> None:
        self._left = steps

    def start(self, total=None) -> None: ...

    def advance(self, n=1, message="") -> None:
        self._left -= n

    def check_cancelled(self) -> None:
        if self._left <= 0:
            raise Cancelled


@pytest.mark.models
def test_work_done_before_a_cancellation_is_kept(study, lead, clip):
    add_images(study, 6)
    scorer = plan(study, lead, clip)
    with pytest.raises(Cancelled):
        run(scorer=scorer, options=RunOptions(batch_size=2), progress=StopsAfter(4))
    kept = set(ImageEmbedding.objects.values_list("pk", flat=True))
    assert 4 <= len(kept) < 12
    run(scorer=scorer, options=RunOptions(batch_size=2), progress=Unwatched())
    assert kept < set(ImageEmbedding.objects.values_list("pk", flat=True))
    assert ImageEmbedding.objects.count() == 12


@pytest.mark.models
def test_the_number_of_queries_is_that_of_batches_not_of_images(study, lead, clip):
    scorer = plan(study, lead, clip)
    add_images(study, 1, first=900)
    run(
        scorer=scorer, options=RunOptions(), progress=Unwatched()
    )  # the encoder and the texts exist from now on
    counted = []
    for number in (2, 8):
        add_images(study, number, first=100 * number)
        with CaptureQueriesContext(connection) as queries:
            run(scorer=scorer, options=RunOptions(), progress=Unwatched())
        counted.append(len(queries))
    assert counted[0] == counted[1] < 60


@pytest.mark.models
def test_pull_embeds_the_images_of_three_conditions(study, lead, clip):
    add_images(study, 1)
    add_images(study, 1, condition="stereotypical", attribute="tall hat")
    add_images(study, 1, condition="non_stereotypical", attribute="drum")
    result = run(scorer=plan(study, lead, clip, "pull"), options=RunOptions(), progress=Unwatched())
    assert str(result) == "6 images embedded."
    (encoder,) = score_tables.encoders_of(study)
    found = score_tables.image_vectors(study, encoder)
    assert found.images["condition"].value_counts().to_dict() == {
        "default": 2,
        "stereotypical": 2,
        "non_stereotypical": 2,
    }
    assert found.vectors.shape == (6, 16)


@pytest.mark.models
def test_mcas_embeds_images_texts_and_prompts(study, lead, clip):
    with pytest.raises(DomainError, match="no images of the conditions"):
        run(scorer=plan(study, lead, clip, "mcas"), options=RunOptions(), progress=Unwatched())
    phrase = Phrase.objects.create(
        study=study, condition="target", category="crafts", name="potter", text="a potter"
    )
    of_set = Phrase.objects.create(
        study=study, condition="attribute", attribute_set="tall", name="tower", text="a tower"
    )
    for number, (one, prompt) in enumerate(
        ((phrase, "a picture of a potter"), (of_set, "a picture of a tower"))
    ):
        image = store_image(
            study=study,
            data=picture(number),
            group=None,
            model_label="painter",
            condition=one.condition,
            prompt=prompt,
        ).image
        Image.objects.filter(pk=image.pk).update(phrase=one)
    scorer = plan(study, lead, clip, "mcas")
    with pytest.raises(DomainError, match="has no attribute sets"):
        run(scorer=scorer, options=RunOptions(), progress=Unwatched())
    study.parameters = {
        "mcas": {"sets": [{"name": "tall", "texts": ["a tower"]}, {"name": "flat", "texts": ["a plain"]}]}
    }
    study.save()
    scorer = Scorer.objects.select_related("study").get(pk=scorer.pk)
    assert str(run(scorer=scorer, options=RunOptions(), progress=Unwatched())) == "2 images embedded."
    assert set(TextEmbedding.objects.values_list("text", flat=True)) == {
        "a tower",
        "a plain",
        "a picture of a potter",
    }
    (encoder,) = score_tables.encoders_of(study)
    table = score_tables.image_vectors(study, encoder).images
    assert table["phrase"].to_list() == ["potter", "tower"]
    assert table["category"].to_list() == ["crafts", ""]
    assert table["attribute_set"].to_list() == ["", "tall"]
    # Results are outdated once a missing text has its vector, but not when nothing was missing.
    before = score_tables.last_score(study)
    run(scorer=scorer, options=RunOptions(), progress=Unwatched())
    assert score_tables.last_score(study) == before
    Image.objects.filter(phrase=phrase).update(prompt="a drawing of a potter")
    assert str(run(scorer=scorer, options=RunOptions(), progress=Unwatched())) == "0 images embedded."
    assert TextEmbedding.objects.filter(text="a drawing of a potter").exists()
    assert score_tables.last_score(study) != before


def test_a_study_without_images_says_so(study, lead):
    with pytest.raises(DomainError, match="Generate or import such images first"):
        run(scorer=plan_scorer(study=study, kind="clip", by=lead), options=RunOptions(), progress=Unwatched())


def score(*arguments):
    said = io.StringIO()
    call_command("score", "--study", "isles", *arguments, stdout=said, stderr=io.StringIO())
    return said.getvalue()


@pytest.mark.models
def test_the_command_scores_and_says_where_to_read(study, clip):
    add_images(study, 1)
    chosen = ("--scorer", "clip", "--model", clip["model_id"], "--pretrained", clip["pretrained"])
    templates = json.dumps(["a drawing of {attr}"])
    said = score(*chosen, "--param", f"templates={templates}", "--label", "Mine", "--batch-size", "1")
    assert said.startswith("2 images scored.")
    assert "analyze --study isles" in said
    scorer = Scorer.objects.get()
    assert (scorer.model_label, scorer.parameters["templates"]) == ("Mine", ["a drawing of {attr}"])
    assert TextEmbedding.objects.filter(text="a drawing of kite").exists() is False
    assert TextEmbedding.objects.filter(text="a drawing of tall hat").exists()


def test_the_command_queues(study, lead, tmp_path):
    add_images(study, 1)
    words = tmp_path / "words.txt"
    words.write_text("a kite\na drum")
    said = score(
        "--scorer", "captions", "--model", "org/bart", "--ngrams", str(words), "--queue", "--by", "lena"
    )
    job = Job.objects.get()
    assert said == f"Queued as job {job.pk}.\n"
    assert (job.kind, job.created_by, job.study_id) == ("score", lead, study.pk)
    assert len(Scorer.objects.get().parameters["ngrams"]) == 64


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        (["--scorer", "clip", "--param", "templates"], DomainError, "NAME=VALUE"),
        (["--scorer", "clip", "--param", "shoe=7"], DomainError, "no parameter “shoe”"),
        (["--scorer", "captions", "--model", "x", "--param", "captions=51"], DomainError, "from 1 to 50"),
        (["--scorer", "captions", "--model", "x", "--ngrams", "none.txt"], DomainError, "cannot be read"),
        (["--scorer", "captions"], DomainError, "Enter a model"),
        (
            ["--scorer", "captions", "--model", "x", "--param", "prompt=a"],
            DomainError,
            "has no effect with captions of this kind",
        ),
        (["--scorer", "palm-reading"], CommandError, "invalid choice"),
    ],
)
def test_the_command_refuses_in_one_sentence(study, arguments, error, said):
    with pytest.raises(error, match=said):
        score(*arguments)
