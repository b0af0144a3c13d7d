"""Comparisons of two models, campaigns or studies, and access to them."""

import csv

import pytest
from django.urls import reverse

from analysis.models import ReportTable
from analysis.results import reports, study_comparison
from analysis.results.parameters import parameters_of
from analysis.results.reports import compute_report
from annotation.models import Judgement
from generation.models import Image
from jobs.models import Job
from jobs.run.execution import execute
from studies.models import Study, StudyGroup, StudyMembership
from tests.analysis.conftest import labelled

ADDRESS = reverse("analysis:compare", kwargs={"study": "isles"})
COMPUTE = reverse("analysis:compare_compute", kwargs={"study": "isles"})
WITH_ATOLL = {"with": "study:atoll", "model": "sketch"}


def computed(study):
    return compute_report(study=study, parameters=parameters_of(study, resamples=200), by=None)


@pytest.fixture
def atoll(marked, lead, resource) -> Study:
    """A second study with the same labels, except that nobody marked a tall hat on Velmari."""
    study = Study.objects.create(name="Atoll", slug="atoll", resource=resource, seed=8, created_by=lead)
    for group in resource.groups.all():
        StudyGroup.objects.create(study=study, group=group, name=group.name, display_name=group.display_name)
    made = labelled(study, lead)
    answers = Judgement.objects.filter(annotation__campaign=made.campaign, attribute__text="tall hat")
    for answer in answers:
        answer.boxes.all().delete()
    answers.update(present=False)
    computed(study)
    return study


@pytest.fixture
def seen(atoll, analyst):
    StudyMembership.objects.create(study=atoll, user=analyst, role=StudyMembership.Role.ANALYST)
    return atoll


def rows(client, query: str) -> dict[tuple[str, str], dict[str, str]]:
    text = client.get(f"{ADDRESS}?{query}&format=csv").content.decode()
    return {(row["scope_value"], row["measure"]): row for row in csv.DictReader(text.splitlines())}


def test_two_models_of_a_study(marked, analyst_client):
    Image.objects.filter(pk__in=[marked.images[name].pk for name in ("v2", "o2")]).update(model_label="other")
    computed(marked.study)
    page = " ".join(analyst_client.get(ADDRESS).content.decode().split())
    assert "other with sketch" in page
    found = rows(analyst_client, "with=model:other:sketch")
    # Velmari, tall hat and blue scarf: sketch (v1) 3/3 and 1/3, other (v2) 1/3 and 0/3
    velmari = found["Velmari", "likelihood_stereotype"]
    assert float(velmari["value_a"]) == pytest.approx((1 / 3 + 0) / 2)
    assert float(velmari["value_b"]) == pytest.approx((1 + 1 / 3) / 2)
    assert analyst_client.get(f"{ADDRESS}?with=model:sketch:nothing").status_code == 404


def test_two_studies_are_compared_once_from_the_labels_of_both(marked, seen, analyst_client):
    computed(marked.study)
    assert "Isles with Atoll" in analyst_client.get(ADDRESS).content.decode()
    assert "Not compared yet" in analyst_client.get(f"{ADDRESS}?with=study:atoll").content.decode()
    answer = analyst_client.post(COMPUTE, WITH_ATOLL, follow=True)
    assert answer.status_code == 200
    assert "A: Isles. B: Atoll." in " ".join(answer.content.decode().split())
    found = rows(analyst_client, "with=study:atoll")
    velmari = found["Velmari", "likelihood_stereotype"]
    # tall hat 4/6 and none, blue scarf 1/6 in both
    assert float(velmari["value_a"]) == pytest.approx((4 / 6 + 1 / 6) / 2)
    assert float(velmari["value_b"]) == pytest.approx((0 + 1 / 6) / 2)
    assert float(velmari["difference"]) == pytest.approx(2 / 6)
    assert (velmari["groups_both"], velmari["groups_only_a"], velmari["roles_differ"]) == ("2", "0", "0")
    assert float(found["Orsani", "theta"]["difference"] or 0) == 0
    kept = ReportTable.objects.get(name__startswith="with ")
    analyst_client.post(COMPUTE, WITH_ATOLL)
    assert ReportTable.objects.get(name__startswith="with ").pk == kept.pk


def test_annotators_of_two_imports_with_equal_ids_are_two_people(marked, seen):
    a, b = (study_comparison.Side(computed(study), "sketch") for study in (marked.study, seen))
    from analysis.results.data.labels import load

    data = [load(study=side.study, parameters=parameters_of(side.study)) for side in (a, b)]
    judgements, _ = study_comparison._together(data, (a, b))
    assert judgements["annotator"].nunique() == 6


def test_an_inaccessible_study_is_neither_named_nor_compared(marked, atoll, analyst_client):
    computed(marked.study)
    assert "Atoll" not in analyst_client.get(ADDRESS).content.decode()
    for answer in (
        analyst_client.get(f"{ADDRESS}?with=study:atoll"),
        analyst_client.post(COMPUTE, WITH_ATOLL),
    ):
        assert answer.status_code == 404
        assert "Atoll" not in answer.content.decode()
    assert not ReportTable.objects.filter(name__startswith="with ").exists()


def test_nul_in_a_query_is_dropped_and_in_a_form_names_no_study(marked, seen, analyst_client):
    computed(marked.study)
    assert analyst_client.get(f"{ADDRESS}?with=study:%00").status_code == 404
    assert analyst_client.get(f"{ADDRESS}?with=study:atoll%00").status_code == 200
    for named in ("study:\x00", "\x00atoll"):
        assert analyst_client.post(COMPUTE, {"with": named, "model": "sketch"}).status_code == 404


def test_comparisons_are_hidden_from_people_who_left_the_other_study(marked, seen, analyst, analyst_client):
    computed(marked.study)
    analyst_client.post(COMPUTE, WITH_ATOLL)
    assert analyst_client.get(f"{ADDRESS}?with=study:atoll").status_code == 200
    seen.memberships.filter(user=analyst).delete()
    assert analyst_client.get(f"{ADDRESS}?with=study:atoll").status_code == 404
    assert analyst_client.get(f"{ADDRESS}?with=study:atoll&format=csv").status_code == 404


def test_large_comparisons_run_in_a_job_whose_title_names_no_other_study(
    marked, seen, analyst_client, monkeypatch
):
    computed(marked.study)
    monkeypatch.setattr(reports, "INLINE_JUDGEMENTS", 10)
    analyst_client.post(COMPUTE, WITH_ATOLL)
    job = Job.objects.get(kind=study_comparison.JOB_KIND)
    assert "Atoll" not in job.title
    analyst_client.post(COMPUTE, WITH_ATOLL)
    assert Job.objects.filter(kind=study_comparison.JOB_KIND).count() == 1
    assert "being computed" in analyst_client.get(f"{ADDRESS}?with=study:atoll").content.decode()
    execute(job.pk)
    job.refresh_from_db()
    assert job.state == "succeeded"
    assert rows(analyst_client, "with=study:atoll")


def test_studies_without_a_group_in_common_say_so(marked, seen, analyst_client):
    StudyGroup.objects.filter(study=seen, name="Velmari").update(name="Elsewhere")
    StudyGroup.objects.filter(study=seen, name="Orsani").update(name="Beyond")
    computed(marked.study)
    computed(seen)
    page = analyst_client.post(COMPUTE, WITH_ATOLL, follow=True).content.decode()
    assert "Nothing to compare" in page


def test_comparing_takes_few_queries(marked, seen, analyst_client, django_assert_max_num_queries):
    computed(marked.study)
    analyst_client.post(COMPUTE, WITH_ATOLL)
    for query in ("", "?with=study:atoll", "?with=study:atoll&format=csv"):
        with django_assert_max_num_queries(24):
            analyst_client.get(ADDRESS + query)
