"""Pages of results without data, or without values that can be computed."""

import pytest

from analysis.models import Report
from analysis.plots.maps.country_values import MEASURES
from analysis.results.parameters import parameters_of
from analysis.results.reports import compute_report
from annotation.models import Annotation, Box, Judgement
from tests.analysis.results.pages.labelled_study import PAGES, address, write_study

pytestmark = pytest.mark.usefixtures("shared_rows")


def write_rows(folder):
    write_study()


def test_before_the_first_report_the_page_offers_to_compute(marked, analyst_client):
    page = analyst_client.get(address("groups")).content.decode()
    assert "Compute results" in page
    answer = analyst_client.post(address("compute"), {"resamples": "200"}, follow=True)
    assert "The results are up to date." in answer.content.decode()
    assert Report.objects.get().parameters["resamples"] == 200


def test_a_study_without_labels_says_what_to_do(unlabelled, analyst_client):
    assert "Nothing to measure yet" in analyst_client.get(address("overview")).content.decode()


@pytest.mark.parametrize(
    ("url", "said"),
    [
        (("group", {"group": "Nobody"}), "no results of a group"),
        (("attribute", {"attribute": "nothing"}), "no results of an attribute"),
        (("image", {"image": "00000000-0000-0000-0000-000000000000"}), "is not in the study"),
        (("table", {"table": "secrets"}), "There is no table"),
        (("labels", {"table": "secrets"}), "There is no table"),
        (("plot", {"plot": "nothing", "format": "svg"}), "There is no plot"),
    ],
)
def test_missing_objects_are_reported(marked, report, analyst_client, url, said):
    name, places = url
    answer = analyst_client.get(address(name, **places))
    assert answer.status_code == 404
    assert said in answer.content.decode()


def test_an_unknown_model_is_reported(marked, report, analyst_client):
    answer = analyst_client.get(address("groups") + "?model=nothing")
    assert answer.status_code == 404


@pytest.mark.parametrize(
    ("field", "value"),
    [("resamples", "3"), ("min_raters", "0"), ("none_of_the_above", "sometimes"), ("seed", "x")],
)
def test_a_wrong_choice_is_refused_and_nothing_computed(marked, analyst_client, field, value):
    answer = analyst_client.post(address("compute"), {field: value})
    assert answer.status_code == 400
    assert not Report.objects.exists()


def test_a_report_without_images_says_so_on_every_page(marked, analyst, analyst_client):
    Annotation.objects.filter(campaign=marked.campaign).update(status="excluded")
    compute_report(study=marked.study, parameters=parameters_of(marked.study, resamples=200), by=analyst)
    for page in PAGES:
        assert analyst_client.get(address(page)).status_code == 200
    assert "No judgements of images yet" in analyst_client.get(address("agreement")).content.decode()
    assert (
        "There are no judgements of images yet"
        in analyst_client.get(address("annotator_groups")).content.decode()
    )
    assert "Nothing to compare with" in analyst_client.get(address("compare")).content.decode()


def only_one_annotator(marked):
    Annotation.objects.exclude(annotator=marked.annotators["p"]).update(status="excluded")


def all_no(marked):
    Box.objects.filter(judgement__annotation__campaign=marked.campaign).delete()
    Judgement.objects.filter(annotation__campaign=marked.campaign).update(present=False)


def only_one_group(marked):
    Annotation.objects.filter(task__image__group__name="Orsani").update(status="excluded")


def no_stereotypes(marked):
    marked.study.associations.all().delete()


@pytest.mark.parametrize(
    ("change", "page", "said"),
    [
        (only_one_annotator, "agreement", "no unit rated twice"),
        (only_one_annotator, "disagreement", "Nobody disagreed on any image"),
        (only_one_annotator, "agreement", "No two annotators boxed the same attribute"),
        (all_no, "overview", "The pooled θ is not defined: none marked"),
        (all_no, "groups", "none marked"),
        (all_no, "agreement", "no variation"),
        (only_one_group, "overview", "1 group without judgements"),
        (only_one_group, "compare", "Nothing to compare with"),
        (no_stereotypes, "overview", "The pooled θ is not defined: not shown"),
        (no_stereotypes, "groups", "too few stereotypes"),
        (no_stereotypes, "annotator_groups", "Nobody described themselves"),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_values_that_cannot_be_computed_show_their_reason(
    marked, analyst, analyst_client, change, page, said
):
    change(marked)
    compute_report(study=marked.study, parameters=parameters_of(marked.study, resamples=100), by=analyst)
    for name in PAGES:
        assert analyst_client.get(address(name)).status_code == 200, name
    for measure in MEASURES:
        assert analyst_client.get(address("groups") + f"?map={measure}").status_code == 200
    assert analyst_client.get(address("group", group="Velmari")).status_code == 200
    assert analyst_client.get(address("report")).status_code == 200
    assert said in " ".join(analyst_client.get(address(page)).content.decode().split())
