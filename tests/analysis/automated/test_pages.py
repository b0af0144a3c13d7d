"""Pages of automated measures: who sees them, what they say, what they offer where there is nothing."""

import pytest
from django.urls import reverse

from analysis import reports
from analysis.models import Encoder, Report, TextEmbedding
from analysis.parameters import parameters_of
from jobs.models import Job
from tests.analysis.automated import made

pytestmark = pytest.mark.django_db
PAGES = ["automated", "concordance", "captions", "pull", "mcas", "automated_tendency"]
OTHERS = ["overview", "groups", "attributes", "agreement", "disagreement", "annotator_groups", "compare",
          "visual_attributes", "annotators"]  # fmt: skip


def address(page: str, **places) -> str:
    return reverse(f"analysis:{page}", kwargs={"study": "isles", **places})


def text_of(client, url: str) -> str:
    answer = client.get(url)
    assert answer.status_code == 200, url
    return " ".join(answer.content.decode().split())


def test_a_study_without_campaign_has_a_report_and_pages(phrases, report, analyst_client):
    assert "6 images" not in text_of(analyst_client, address("overview"))
    assert "54 images scored by machines" in text_of(analyst_client, address("overview"))
    analyst_client.post(address("compute"), {"resamples": "200"})
    assert Report.objects.count() == 1
    for page in [*PAGES, *OTHERS]:
        text_of(analyst_client, address(page))
    overview = text_of(analyst_client, address("overview"))
    assert "Machines saw the images of 2 models" in overview
    assert "No judgements of images yet" in overview
    # only what there is something to say of is among the tabs
    assert address("agreement") not in overview


def test_targets_lean_by_category_with_another_model_beside(phrases, report, analyst_client):
    report(phrases)
    page = text_of(analyst_client, address("mcas"))
    assert page.count("Towards which side do") >= 2  # birds and trees
    assert "nearer to <strong>loud</strong>" in page
    beside = text_of(analyst_client, address("mcas") + "?model=sketch&beside=brush")
    assert beside.count('class="drawing drawing-wide"') == 4
    assert "Mean MCAS of all targets, model by model" in beside
    plot = analyst_client.get(address("plot", plot="mcas", format="csv") + "?category=birds&model=brush")
    assert plot.content.decode().splitlines()[0].startswith("target,ii,itp,ita,tt,mcas")
    assert len(plot.content.decode().splitlines()) == 4
    assert (
        analyst_client.get(address("plot", plot="mcas", format="svg") + "?category=fish").status_code == 404
    )
    assert analyst_client.get(address("mcas") + "?model=nobody").status_code == 404
    assert analyst_client.get(address("mcas") + "?encoder=nobody").status_code == 404


def test_a_missing_text_is_said_and_what_to_do(phrases, report, analyst_client):
    TextEmbedding.objects.filter(text="moss").delete()
    computed = report(phrases)
    assert computed.summary["empty_tables"]["mcas"] == "texts_without_vectors"
    page = text_of(analyst_client, address("mcas"))
    assert "has not read all phrases and prompts" in page
    assert "python manage.py score --study isles --scorer mcas" in page


def test_without_scores_every_page_says_how_to_get_them(judged, report, analyst_client):
    computed = report(judged)
    assert (
        computed.summary["empty_tables"]
        | {
            "concordance": "no_scores",
            "calibration": "no_scores",
            "salience": "no_captions",
            "pull": "no_images_of_these_conditions",
            "mcas": "no_images_of_these_conditions",
            "mcas_categories": "no_images_of_these_conditions",
            "automated_tendency": "no_scores",
        }
        == computed.summary["empty_tables"]
    )
    said = {
        "automated": "--scorer clip",
        "concordance": "--scorer clip",
        "captions": "--scorer captions",
        "pull": "default, stereotypical and non-stereotypical images",
        "mcas": "protocol MCAS",
        "automated_tendency": "--scorer clip",
    }
    for page in PAGES:
        assert said[page] in text_of(analyst_client, address(page)), page


def test_strangers_learn_nothing(phrases, report, stranger_client):
    report(phrases)
    for page in PAGES:
        assert stranger_client.get(address(page)).status_code == 404


def test_new_scores_make_results_old_and_unchanged_ones_do_not(phrases, report, analyst_client):
    computed = report(phrases)
    assert "changed after these results" not in text_of(analyst_client, address("mcas"))
    again = report(phrases)
    assert again.inputs_digest == computed.inputs_digest
    made.associate_more(phrases)
    assert "What machines say of the images changed" in text_of(analyst_client, address("mcas"))
    assert report(phrases).inputs_digest != computed.inputs_digest
    assert "changed after these results" not in text_of(analyst_client, address("mcas"))


def test_many_scored_images_are_measured_by_a_worker(phrases, analyst, monkeypatch):
    monkeypatch.setattr(reports, "INLINE_SCORED", 10)
    asked = reports.request_report(study=phrases, parameters=parameters_of(phrases), by=analyst)
    assert isinstance(asked, Job)


def test_pages_take_few_queries(phrases, report, analyst_client, django_assert_max_num_queries):
    report(phrases)
    assert Encoder.objects.count() == 1
    for page in [*PAGES, *OTHERS]:
        with django_assert_max_num_queries(22):
            analyst_client.get(address(page))
