"""Automated scoring on pages and over HTTP: access, starting, and results."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from accounts.tokens import issue
from analysis.models import AttributeScore, Caption, ScoredImage, Scorer, TextScore
from analysis.scoring.inputs.scope import attributes_asked
from analysis.scoring.launch import plan_scorer, remove_scorer
from analysis.scoring.overview import estimate, line_of
from analysis.scoring.steps.store import note_done, note_failed
from annotation.models import Campaign, CampaignAttribute
from catalog.models import Attribute
from jobs.models import Job
from jobs.run.execution import execute
from studies.models import StudyGroup
from tests.analysis.scoring.conftest import add_images

pytestmark = pytest.mark.django_db


def address(name, **places):
    return reverse(f"scoring:{name}", kwargs={"study": "isles", **places})


def api(rest=""):
    return f"/api/v1/studies/isles/scorers/{rest}"


def text(answer):
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split())


@pytest.fixture
def scorer(study, lead):
    """A scorer that has scored one of four images, and could not read another."""
    images = add_images(study, 2)
    found = plan_scorer(study=study, kind="clip", by=lead)
    kite = Attribute.objects.get(text="kite")
    AttributeScore.objects.create(scorer=found, image=images[0], attribute=kite, probability=0.5, cosine=0.25)
    ScoredImage.objects.create(scorer=found, image=images[0], outcome="done")
    ScoredImage.objects.create(
        scorer=found, image=images[1], outcome="failed", reason="The image file is damaged."
    )
    return found


@pytest.fixture
def captioned(scorer, lead):
    """Captions of the same image, and what a classifier says of one of two."""
    image = scorer.study.images.first()
    writer = plan_scorer(study=scorer.study, kind="captions", model_id="org/bart", by=lead)
    captions = [
        Caption.objects.create(scorer=writer, image=image, position=place, text=said)
        for place, said in enumerate(("a kite", "a drum"))
    ]
    reader = plan_scorer(study=scorer.study, kind="sentiment", by=lead)
    TextScore.objects.create(scorer=reader, caption=captions[0], label="POSITIVE", score=0.75)
    return writer, reader


def test_a_stranger_gets_404(scorer, stranger_client):
    pages = [address("list"), address("new"), address("scorer", scorer=scorer.pk)]
    pages += [api(), api(f"{scorer.pk}/"), *(api(f"{scorer.pk}/{part}/") for part in ("scores", "captions"))]
    for page in pages:
        answer = stranger_client.get(page)
        assert answer.status_code == 404, page
        assert b"ViT" not in answer.content
    assert stranger_client.post(address("new"), {"kind": "clip"}).status_code == 404
    assert stranger_client.post(address("go_on", scorer=scorer.pk)).status_code == 404
    assert stranger_client.post(address("remove", scorer=scorer.pk)).status_code == 404


def test_an_analyst_reads_and_does_not_start(scorer, analyst_client):
    assert analyst_client.get(address("list")).status_code == 200
    assert analyst_client.get(address("scorer", scorer=scorer.pk)).status_code == 200
    assert analyst_client.get(address("new")).status_code == 403
    assert analyst_client.post(address("go_on", scorer=scorer.pk)).status_code == 403
    assert analyst_client.post(api(), {"kind": "clip"}, content_type="application/json").status_code == 403


def test_a_study_without_scorers_says_what_they_are_for(study, lead_client, analyst_client):
    assert "Start scoring" in text(lead_client.get(address("list")))
    assert "A lead of the study can start scoring." in text(analyst_client.get(address("list")))
    assert "No images scored by models yet" in text(
        lead_client.get(reverse("studies:detail", args=["isles"]))
    )


def test_the_list_shows_the_progress_of_each_scorer(scorer, captioned, lead_client):
    said = text(lead_client.get(address("list")))
    assert (
        "CLIP ViT-B-32 laion2b_s34b_b79k CLIP scores of attributes incomplete 1 4 images 1 1 score none"
        in said
    )
    assert "2 captions" in said
    assert "sentiment of captions incomplete 1 2 captions 0 1 score none" in said


def test_a_scorer_is_done_when_every_image_has_every_score_that_is_asked(study, lead):
    velmari = study.groups.get(name="Velmari")
    StudyGroup.objects.create(study=study, name="Nobody", display_name="Nobody")
    add_images(study, 1)  # one of each group, and no scores are needed for the last
    study.images.filter(group__name="Orsani").update(retracted_at="2026-01-01T00:00Z")
    scorer = plan_scorer(study=study, kind="clip", by=lead)
    assert estimate(study, "clip", {}).total == 1
    image = study.images.get(group=velmari)
    note_failed(scorer, {image.pk: "The image file is damaged."})
    assert (line_of(scorer).failed, line_of(scorer).total, line_of(scorer).state) == (1, 1, "incomplete")

    def give(attributes):
        for key in attributes:
            AttributeScore.objects.create(
                scorer=scorer, image=image, attribute_id=key, probability=0.5, cosine=0.25
            )
        note_done(scorer, [image.pk])

    give(attributes_asked(study)[velmari.pk])
    assert (line_of(scorer).done, line_of(scorer).total, line_of(scorer).state) == (1, 1, "done")
    campaign = Campaign.objects.create(study=study, slug="m", name="M", kind="stereotype_marking", seed=1)
    trumpet = Attribute.objects.create(text="trumpet")
    CampaignAttribute.objects.create(campaign=campaign, group=velmari, attribute=trumpet, role="random")
    assert line_of(scorer).state == "incomplete"
    assert line_of(scorer).wrote.endswith("1 missing")
    give([trumpet.pk])
    assert line_of(scorer).state == "done"


def test_a_scorer_shows_its_settings_and_failures(scorer, lead_client):
    said = text(lead_client.get(address("scorer", scorer=scorer.pk)))
    for expected in (
        "a photo of a person, {attr}",
        "attributes shown to people, or stereotypes if there are none",
        "The image file is damaged.",
        "not known until the model is loaded",
        "Go on",
    ):
        assert expected in said


def test_the_number_of_queries_does_not_grow_with_scorers_or_scores(scorer, captioned, lead, lead_client):
    lead_client.get(address("list"))
    with CaptureQueriesContext(
        connection,
    ) as few:
        lead_client.get(address("list"))
    for number in range(5):
        more = plan_scorer(study=scorer.study, kind="clip", label=f"again {number}", by=lead)
        for image in scorer.study.images.all():
            ScoredImage.objects.create(scorer=more, image=image, outcome="done")
    with CaptureQueriesContext(connection) as many:
        lead_client.get(address("list"))
    assert len(many) == len(few)


def test_a_lead_starts_scoring_on_the_page(study, lead_client):
    add_images(study, 1)
    assert "2 images" in text(lead_client.get(address("new")))
    chosen = {
        "kind": "captions-ngrams",
        "model_id": "org/bart",
        "captions": "20",
        "ngrams": "a kite\na drum\n\na kite",
        "model_label": "Words",
    }
    answer = lead_client.post(address("new"), chosen)
    scorer = Scorer.objects.get()
    assert answer.url == reverse("jobs:detail", args=[scorer.job_id])
    assert (scorer.kind, scorer.model_label) == ("captions", "Words")
    assert scorer.parameters["captions"] == 20
    assert scorer.parameters["captioner"] == "ngrams"
    assert len(scorer.parameters["ngrams"]) == 64
    again = lead_client.post(address("new"), chosen)
    assert again.status_code == 400
    assert "These images are already being scored" in text(again)


def test_time_is_estimated_from_the_last_run_of_the_same_scorer(study, lead, lead_client):
    add_images(study, 30)
    scorer = plan_scorer(study=study, kind="clip", by=lead)
    began = datetime(2026, 1, 1, tzinfo=UTC)
    # 50 steps in 100 seconds: two minutes for 60 images.
    scorer.job = Job.objects.create(
        kind="score",
        title="Score",
        state="succeeded",
        steps_done=50,
        steps_total=50,
        started_at=began,
        finished_at=began + timedelta(seconds=100),
    )
    scorer.save()
    said = text(lead_client.get(address("new")))
    assert "CLIP scores of attributes 60 images about 2 minutes" in said
    assert "vectors for MCAS 0 images not known yet" in said


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ({"kind": "clip", "templates": "a photo"}, "must contain the placeholder {attr}"),
        ({"kind": "clip", "contrast": "a {attr}"}, "must not contain placeholders such as {attr}"),
        ({"kind": "captions-model"}, "Enter a model"),
        ({"kind": "captions-ngrams", "model_id": "x", "captions": "51"}, "less than or equal to 50"),
        ({"kind": "palm-reading"}, "Select a valid choice"),
    ],
)
def test_start_errors_are_shown_on_the_form(study, lead_client, chosen, said):
    answer = lead_client.post(address("new"), chosen)
    assert answer.status_code == 400
    assert said in text(answer)
    assert not Job.objects.exists()


def test_a_failed_job_is_shown_and_can_be_resumed(study, lead, lead_client):
    reader = plan_scorer(study=study, kind="toxicity", by=lead)
    answer = lead_client.post(address("go_on", scorer=reader.pk))
    job = Job.objects.get()
    assert answer.url == reverse("jobs:detail", args=[job.pk])
    assert "Scoring is under way" in text(lead_client.get(address("scorer", scorer=reader.pk)))
    execute(job.pk)
    said = text(lead_client.get(address("scorer", scorer=reader.pk)))
    assert "The last job failed The study “Isles” has no captions to read yet. Write captions first." in said
    assert "Go on" in said


def test_scorers_and_scores_are_read_over_the_api(scorer, captioned, study, analyst, client):
    headers = {"HTTP_AUTHORIZATION": f"Bearer {issue(user=analyst, name='t', scopes=['read'])[1]}"}

    def read(rest=""):
        answer = client.get(api(rest), **headers)
        assert answer.status_code == 200
        return answer.json()

    assert [one["kind"] for one in read()["results"]] == ["sentiment", "captions", "clip"]
    one = read(f"{scorer.pk}/")
    assert (one["done"], one["failed"], one["total"], one["state"]) == (1, 1, 4, "incomplete")
    assert one["scorer"]["model_label"] == "CLIP ViT-B-32 laion2b_s34b_b79k"
    image = str(study.images.first().public_id)
    assert read(f"{scorer.pk}/scores/")["results"] == [
        {"image": image, "attribute": "kite", "probability": 0.5, "cosine": 0.25}
    ]
    writer, reader = captioned
    assert [row["text"] for row in read(f"{writer.pk}/captions/?page_size=1")["results"]] == ["a drum"]
    assert [row["text"] for row in read(f"{reader.pk}/text-scores/")["results"]] == ["a kite"]
    study.images.update(retracted_at="2026-01-01T00:00Z")
    for rest in (f"{scorer.pk}/scores/", f"{writer.pk}/captions/", f"{reader.pk}/text-scores/"):
        assert read(rest)["results"] == []


def test_scoring_is_started_and_resumed_over_the_api(study, lead_client):
    add_images(study, 1)
    given = {"kind": "clip", "model_id": "ViT-B-16", "parameters": {"pretrained": "openai"}}
    answer = lead_client.post(api(), given, content_type="application/json")
    assert answer.status_code == 202
    scorer, job = Scorer.objects.get(), Job.objects.get()
    assert answer.json() == {"scorer": scorer.pk, "job": job.pk}
    Job.objects.update(state="failed", finished_at=job.created_at)
    assert lead_client.post(api(f"{scorer.pk}/")).status_code == 202
    wrong = lead_client.post(api(), given | {"parameters": {"shoe": 7}}, content_type="application/json")
    assert wrong.status_code == 400
    assert "no parameter “shoe”" in wrong.json()["error"]["message"]


def test_a_lead_removes_a_scorer_and_its_scores(scorer, captioned, study, lead_client, analyst_client):
    writer, reader = captioned
    page = address("remove", scorer=writer.pk)
    assert analyst_client.get(page).status_code == 403
    assert analyst_client.post(page).status_code == 403
    assert "2 captions of org/bart over" in text(lead_client.get(page))
    assert lead_client.post(page).url == address("list")
    assert not Caption.objects.exists()
    assert not TextScore.objects.exists()
    assert AttributeScore.objects.filter(scorer=scorer).exists()
    assert analyst_client.delete(api(f"{scorer.pk}/")).status_code == 403
    assert lead_client.delete(api(f"{scorer.pk}/")).status_code == 204
    assert list(Scorer.objects.all()) == [reader]
    history = text(lead_client.get(reverse("studies:history", args=["isles"])))
    assert "started scoring with CLIP ViT-B-32 laion2b_s34b_b79k" in history
    assert "removed the scorer CLIP ViT-B-32 laion2b_s34b_b79k and its scores" in history


def test_queries_to_remove_a_scorer_do_not_grow_with_scores(study, lead):
    image = add_images(study, 1)[0]
    taken = []
    for number in (1, 400):
        scorer = plan_scorer(study=study, kind="captions", model_id="org/bart", by=lead)
        reader = plan_scorer(study=study, kind="sentiment", by=lead)
        captions = Caption.objects.bulk_create(
            Caption(scorer=scorer, image=image, position=place, text=f"kite {place}")
            for place in range(number)
        )
        TextScore.objects.bulk_create(
            TextScore(scorer=reader, caption=one, label="POSITIVE", score=0.5) for one in captions
        )
        with CaptureQueriesContext(connection) as asked:
            remove_scorer(scorer=scorer, by=lead)
        assert not Caption.objects.exists()
        assert not TextScore.objects.exists()
        taken.append(len(asked))
    assert taken[0] == taken[1]


def test_a_scorer_at_work_is_not_removed(scorer, lead_client):
    lead_client.post(address("go_on", scorer=scorer.pk))
    assert lead_client.post(address("remove", scorer=scorer.pk)).status_code == 409
    assert Scorer.objects.filter(pk=scorer.pk).exists()


def test_no_path_of_the_server_is_revealed(study, lead, lead_client):
    scorer = plan_scorer(
        study=study,
        kind="clip",
        model_id="/srv/secret/tiny-clip.json",
        parameters={"pretrained": "/srv/secret/weights.pt"},
        by=lead,
    )
    assert scorer.model_label == "CLIP tiny-clip weights"
    for page in (address("list"), address("scorer", scorer=scorer.pk), api(), api(f"{scorer.pk}/")):
        assert b"secret" not in lead_client.get(page).content, page
