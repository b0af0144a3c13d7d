"""The list of studies, a study's stages, members, consent and history."""

import pytest
from django.urls import reverse
from django.utils import timezone

from accounts.models import ConsentText, User
from analysis.results.parameters import parameters_of
from analysis.results.reports import compute_report
from annotation.campaigns import lifecycle
from jobs.models import Job
from studies.models import Study, StudyMembership
from studies.protocol.creation import create_study

pytestmark = pytest.mark.django_db


def states(response):
    return {stage.name: stage.state for stage in response.context["stages"]}


def test_a_newcomer_sees_the_next_step(lead_client, analyst_client):
    assert "Create the first study" in lead_client.get("/studies/").content.decode()
    page = analyst_client.get("/studies/").content.decode()
    assert "anton" in page
    assert "/studies/new/" not in page


def test_studies_come_newest_first_and_in_pages(lead_client, lead, resource):
    for number in range(23):
        create_study(name=f"Study {number}", resource=resource, groups=resource.groups.all(), by=lead)
    first = lead_client.get("/studies/")
    assert first.context["lines"][0].study.name == "Study 22"
    assert len(first.context["lines"]) == 20
    assert len(lead_client.get("/studies/?page=2").context["lines"]) == 3


def test_the_list_shows_what_needs_the_leads_attention(lead_client, study, draft):
    (line,) = lead_client.get("/studies/").context["lines"]
    (need,) = line.needs()
    assert (need.text, need.url) == ("Drafted is a draft", "/studies/isles/campaigns/drafted/")
    assert need.text in lead_client.get("/studies/").content.decode()


def test_queries_of_the_list_do_not_grow(lead_client, lead, resource, answered, queries):
    before = queries(lead_client, "/studies/")
    for number in range(15):
        create_study(name=f"Study {number}", resource=resource, groups=resource.groups.all(), by=lead)
    assert queries(lead_client, "/studies/") == before <= 19


def test_analysts_do_not_see_what_needs_the_leads_attention(analyst_client, study, draft):
    assert "Needs you" not in analyst_client.get("/studies/").content.decode()
    assert "Needs you" not in analyst_client.get("/studies/isles/").content.decode()


def test_stages_follow_the_study(lead_client, study, lead):
    study.prompt_templates.create(text="{id} person", images_per_prompt=2)
    planned = lead_client.get("/studies/isles/")
    assert states(planned)["Generate"] == "ready"
    assert states(planned)["Annotate"] == "waiting"


def test_stages_of_a_running_study(lead_client, answered):
    found = states(lead_client.get("/studies/isles/"))
    assert found == {
        "Plan": "done",
        "Generate": "done",
        "Annotate": "current",
        "Score": "waiting",
        "Measure": "ready",
        "Release": "ready",
    }


def test_measure_and_release_are_done_once_there_are_results_and_a_release(lead_client, answered, lead):
    study = Study.objects.get(slug="isles")
    compute_report(study=study, parameters=parameters_of(study, resamples=100), by=lead)
    assert states(lead_client.get("/studies/isles/"))["Measure"] == "current"
    study.campaigns.update(state="closed", closed_at=timezone.now())
    found = states(lead_client.get("/studies/isles/"))
    assert (found["Annotate"], found["Measure"], found["Release"]) == ("done", "done", "ready")


def test_images_are_under_way_only_while_a_job_makes_them(lead_client, study):
    study.prompt_templates.create(text="{id} person", images_per_prompt=9)
    page = lead_client.get("/studies/isles/")
    assert states(page)["Generate"] == "ready"
    assert "0 of 18 images" in page.content.decode()
    job = Job.objects.create(kind="plan_study", title="Plan", study_id=study.pk)
    assert states(lead_client.get("/studies/isles/"))["Generate"] == "ready"
    Job.objects.filter(pk=job.pk).update(kind="generate")
    assert states(lead_client.get("/studies/isles/"))["Generate"] == "current"
    Job.objects.filter(pk=job.pk).update(
        kind="compute_report", state="failed", error="No memory.", finished_at=timezone.now()
    )
    assert states(lead_client.get("/studies/isles/"))["Generate"] == "ready"


def test_a_campaign_that_closed_without_answers_finished_nothing(lead_client, marking):
    marking.study.campaigns.update(state="closed", closed_at=timezone.now())
    page = lead_client.get("/studies/isles/")
    assert {name: states(page)[name] for name in ("Annotate", "Measure", "Release")} == {
        "Annotate": "ready",
        "Measure": "waiting",
        "Release": "waiting",
    }
    assert "0 screens answered in 1 campaign" in page.content.decode()


def test_a_failed_job_is_shown_with_its_sentence(lead_client, study):
    study.prompt_templates.create(text="{id} person", images_per_prompt=2)
    Job.objects.create(
        kind="generate", title="Generate", study_id=study.pk, state="failed", error="The disk is full.",
        finished_at=timezone.now(),
    )  # fmt: skip
    page = lead_client.get("/studies/isles/")
    assert states(page)["Generate"] == "stuck"
    assert "The disk is full." in page.content.decode()


def test_a_simulated_study_says_so_on_every_page(lead_client, answered):
    Study.objects.update(simulated=True)
    for name in ("studies:detail", "studies:members", "annotation:campaigns"):
        page = lead_client.get(reverse(name, args=["isles"])).content.decode()
        assert "Simulated study" in page
    page = lead_client.get("/studies/isles/campaigns/marking/").content.decode()
    assert "Simulated study" in page


def test_a_lead_adds_and_removes_members(lead_client, study):
    User.objects.create_user("mira", password="a long password")
    lead_client.post("/studies/isles/members/", {"username": "mira", "role": "analyst"})
    member = StudyMembership.objects.get(user__username="mira")
    lead_client.post(f"/studies/isles/members/{member.pk}/remove/")
    assert not StudyMembership.objects.filter(user__username="mira").exists()
    history = lead_client.get("/studies/isles/history/").content.decode()
    assert "made mira analyst" in history
    assert "removed mira as analyst" in history


def test_an_unknown_user_name_is_refused_beside_the_field(lead_client, study):
    answer = lead_client.post("/studies/isles/members/", {"username": "nobody", "role": "analyst"})
    assert answer.status_code == 400
    assert "No user has the name “nobody”" in answer.content.decode()


def test_the_last_lead_stays(lead_client, study, lead):
    member = StudyMembership.objects.get(user=lead)
    answer = lead_client.post(f"/studies/isles/members/{member.pk}/remove/", follow=True)
    assert "is the only lead" in answer.content.decode()
    assert StudyMembership.objects.filter(pk=member.pk).exists()


def test_publishing_a_consent_text_makes_a_version_of_the_study(lead_client, study):
    values = {"content_notice": "Some words are unkind.", "body": "We keep what you answer.", "support": ""}
    lead_client.post("/studies/isles/consent/", values)
    lead_client.post("/studies/isles/consent/", values)  # unchanged: publishes nothing
    lead_client.post("/studies/isles/consent/", values | {"body": "We keep what you answer for ever."})
    study.refresh_from_db()
    assert study.consent_text.version == 2
    assert study.consent_text.series == "isles"
    assert ConsentText.objects.filter(series="isles").count() == 2


def test_an_empty_consent_text_is_refused(lead_client, study):
    answer = lead_client.post("/studies/isles/consent/", {"content_notice": "", "body": "x"})
    assert answer.status_code == 400
    assert not ConsentText.objects.filter(series="isles").exists()


def test_a_study_called_default_does_not_publish_for_everybody(lead, resource):
    from studies.consent import publish_consent

    study = create_study(name="Default", resource=resource, groups=resource.groups.all(), by=lead)
    text = publish_consent(study=study, body="Ours.", content_notice="Ours too.", by=lead)
    assert text.series == f"study-{study.pk}"


def test_history_names_campaigns_in_few_queries(lead_client, study, draft, lead, queries):
    lifecycle.open_(campaign=draft, by=lead)
    assert "opened the campaign “Drafted”" in lead_client.get("/studies/isles/history/").content.decode()
    before = queries(lead_client, "/studies/isles/history/")
    for number in range(8):
        lifecycle.create(study=study, name=f"C {number}", kind="attribute_likert", by=lead)
    assert queries(lead_client, "/studies/isles/history/") == before <= 8


def test_queries_of_a_study_do_not_grow_with_its_campaigns(lead_client, study, lead, draft, queries):
    before = queries(lead_client, "/studies/isles/")
    for number in range(8):
        lifecycle.create(study=study, name=f"C {number}", kind="attribute_likert", by=lead)
    # One of the queries reads the names of the first groups; their number comes with the study's other counts.
    assert queries(lead_client, "/studies/isles/") == before <= 23
