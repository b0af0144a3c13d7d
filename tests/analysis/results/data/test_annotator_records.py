"""Records of annotators other than their labels."""

import pytest

from accounts import profiles
from analysis.results.compute import compute
from analysis.results.data.digest import inputs_digest
from analysis.results.data.labels import load
from analysis.results.parameters import parameters_of
from analysis.results.schema import records
from annotation.models import Campaign, Enrolment
from annotation.quality.measures import qualities
from jobs.progress.reporter import Unwatched
from tests.annotation.assignment.test_check_answers import answered, gold_like
from tests.annotation.conftest import marking, rating  # noqa: F401
from tests.annotation.factories import ticking
from tests.annotation.quality.test_measures import busy, texts

pytestmark = pytest.mark.django_db


def annotators_of(study) -> dict[str, dict]:
    parameters = parameters_of(study, resamples=100)
    data = load(study=study, parameters=parameters)
    results = compute(data=data, parameters=parameters, progress=Unwatched())
    return {row["annotator"]: row for row in records(results.tables["annotators"])}


@pytest.mark.parametrize("kind", ["marking", "rating"])
def test_checks_are_scored_in_results_as_they_are_on_the_lead_s_pages(kind, request):
    campaign: Campaign = request.getfixturevalue(kind)
    people = busy(campaign)
    task = campaign.tasks.order_by("pk").first()
    if kind == "marking":
        gold = gold_like(task, {})
        for shown in task.task_attributes.all():
            gold.known_answers.create(attribute=shown.attribute, present=True)
        for person in people[:2]:
            answered(gold, person, ticking(_shown(gold), *texts(task)[:2]), "gold", "gold")
    rows = annotators_of(campaign.study)
    found = qualities(campaign)
    scored = 0
    for person in people:
        for measure in ("gold_accuracy", "self_consistency"):
            value = found[person.pk][measure].value
            row = rows[person.pseudonym]
            scored += value is not None
            assert row[measure] == (None if value is None else pytest.approx(value)), measure
    assert scored >= (3 if kind == "marking" else 0)


def _shown(task):
    from annotation.models import Assignment

    return Assignment(task=task)


def test_profiles_are_read_only_of_those_whose_labels_count(marked):
    p, q, r = (marked.annotators[name] for name in "pqr")
    profiles.describe(annotator=p, gender="Woman", languages=["Quechua", "quechua ", "Spanish", "Velmi"])
    profiles.describe(annotator=q, nationality="Velmari")
    profiles.describe(annotator=r, gender="Man")
    Enrolment.objects.filter(campaign=marked.campaign, annotator=r).update(state="excluded")
    data = load(study=marked.study, parameters=parameters_of(marked.study))
    assert data.profiles.to_records(index=False).tolist() == [
        ("p", "gender", "woman"),
        ("p", "languages", "quechua"),
        ("p", "languages", "spanish"),
        ("q", "nationality", "velmari"),
    ]
    depicted = {row[0]: row[1:] for row in data.depicted.to_records(index=False).tolist()}
    assert depicted["Velmari"] == ("velmari", "north isles")


def test_self_descriptions_of_annotators_change_the_digest_of_the_inputs(marked):
    parameters = parameters_of(marked.study)
    before = inputs_digest(load(study=marked.study, parameters=parameters))
    assert inputs_digest(load(study=marked.study, parameters=parameters)) == before
    profiles.describe(annotator=marked.annotators["p"], gender="Woman")
    assert inputs_digest(load(study=marked.study, parameters=parameters)) != before
