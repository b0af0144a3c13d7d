"""A campaign is pushed to a real Label Studio: once, whatever happens, and without secrets."""

import re

import pytest
from django.test import Client as Browser

from annotation.answers.validation import Answer
from annotation.assignment import leases
from annotation.campaigns import extension
from annotation.campaigns.images import retraction
from annotation.campaigns.instruments import versions
from annotation.kinds.registry import MARKING, RATING
from annotation.label_studio.models import LabelStudioProject, LabelStudioTask
from annotation.label_studio.push import image_access, lifecycle
from annotation.label_studio.push.configuration import as_sent
from annotation.label_studio.push.sync import push
from annotation.models import Campaign
from foundation.errors import Conflict, DomainError
from studies.models import AuditEntry, Study, StudyGroup
from tests.annotation.factories import new_annotator, submit
from tests.services.label_studio.push.campaigns import (
    SITE,
    answer_there,
    ask,
    begun,
    marking_of,
    rating_of,
    recorded,
    there,
    written_down,
)

pytestmark = [pytest.mark.services, pytest.mark.django_db]


@pytest.fixture(autouse=True)
def _site(settings):
    settings.SITE_URL = SITE


@pytest.fixture
def rating(study, lead) -> Campaign:
    return rating_of(study, lead)


@pytest.fixture
def marking(study, lead) -> Campaign:
    return marking_of(study, lead)


def project_there(label_studio, project: LabelStudioProject) -> dict:
    return ask(label_studio, "GET", f"/api/projects/{project.external_id}/")


@pytest.mark.parametrize("kind", ["rating", "marking"])
def test_each_task_is_sent_once_to_each_project_and_again_only_when_it_is_new(
    label_studio, request, lead, kind
):
    campaign = request.getfixturevalue(kind)
    bridge = begun(label_studio, campaign, lead)
    report = push(bridge=bridge, by=lead)
    tasks = campaign.tasks.count()
    assert (report.projects, report.sent, report.present, report.adopted) == (2, 2 * tasks, 0, 0)
    found = there(label_studio, bridge)
    assert {number: set(held) for number, held in found.items()} == written_down(bridge)
    assert [len(held) for held in found.values()] == [tasks, tasks]
    refs = [data["ref"] for held in found.values() for data in held.values()]
    assert len(set(refs)) == 2 * tasks
    again = push(bridge=bridge, by=lead)
    assert (again.sent, again.present, again.reconfigured, again.remade) == (0, 2 * tasks, 0, 0)
    assert there(label_studio, bridge) == found
    bridge.refresh_from_db()
    assert bridge.pushed_at is not None
    assert AuditEntry.objects.filter(action="label_studio.pushed").count() == 2


def test_a_task_over_there_says_what_is_asked_and_nothing_else(label_studio, marking, lead):
    bridge = begun(label_studio, marking, lead)
    push(bridge=bridge, by=lead)
    texts = {
        tuple(task.task_attributes.order_by("position").values_list("attribute__text", flat=True))
        for task in marking.tasks.all()
    }
    for held in there(label_studio, bridge).values():
        assert {tuple(one["value"] for one in data["attributes"]) for data in held.values()} == texts
        for data in held.values():
            assert data.keys() == {"ref", "image", "attributes"}
            assert all(one.keys() == {"value"} for one in data["attributes"])
            assert re.fullmatch(r"[0-9a-f]{24}", data["ref"])
            assert re.fullmatch(re.escape(SITE) + r"/pictures/[\w-]+", data["image"])


def test_projects_are_set_up_as_our_own_pages_are_and_tell_us_of_answers(label_studio, rating, lead):
    bridge = begun(label_studio, rating, lead)
    assert push(bridge=bridge, by=lead).notes == []
    first, second = bridge.projects.order_by("slot")
    shown = project_there(label_studio, first)
    assert shown["maximum_annotations"] == 1
    assert shown["show_instruction"] is True
    assert "It does not matter whether the word is true" in shown["expert_instruction"]
    assert re.fullmatch(r"Campaign [A-Z2-7]{4} · 1", shown["title"])
    assert as_sent(first, shown)
    (webhook,) = ask(label_studio, "GET", f"/api/webhooks/?project={first.external_id}")
    assert webhook["id"] == first.webhook_id != second.webhook_id
    assert webhook["url"].startswith(f"{SITE}/api/v1/webhooks/label-studio?bridge={bridge.public_id}&key=")
    assert webhook["headers"].keys() == {"X-Stereoscope-Secret"}
    assert {"ANNOTATION_CREATED", "ANNOTATION_UPDATED", "ANNOTATIONS_DELETED"} <= set(webhook["actions"])


def test_webhooks_follow_when_this_server_has_another_address(label_studio, rating, lead, settings):
    bridge = begun(label_studio, rating, lead, "shared")
    push(bridge=bridge, by=lead)
    settings.SITE_URL = "https://elsewhere.example.org"
    push(bridge=bridge, by=lead)
    project = bridge.projects.get()
    (webhook,) = ask(label_studio, "GET", f"/api/webhooks/?project={project.external_id}")
    assert webhook["url"].startswith("https://elsewhere.example.org/")
    assert webhook["id"] == project.webhook_id


def test_without_an_address_of_ours_only_comparing_brings_answers_and_that_is_said(
    label_studio, rating, lead, settings
):
    settings.SITE_URL = ""
    bridge = begun(label_studio, rating, lead)
    report = push(bridge=bridge, by=lead)
    assert report.sent == 2 * rating.tasks.count()
    assert "SITE_URL is not set" in str(report)
    assert len(report.notes) == 1


def test_pictures_need_an_address_of_ours(label_studio, marking, lead, settings):
    settings.SITE_URL = ""
    with pytest.raises(DomainError) as refused:
        begun(label_studio, marking, lead)
    assert refused.value.code == "site_url_missing"


def test_one_project_for_all_asks_for_as_many_answers_as_the_campaign(label_studio, rating, lead):
    bridge = begun(label_studio, rating, lead, "shared")
    report = push(bridge=bridge, by=lead)
    assert (report.projects, report.sent) == (1, rating.tasks.count())
    assert project_there(label_studio, bridge.projects.get())["maximum_annotations"] == 2


def test_each_annotator_gets_a_project_also_those_who_come_later(label_studio, rating, lead):
    with pytest.raises(Conflict) as refused:
        begun(label_studio, rating, lead, "per_annotator")
    assert refused.value.code == "nobody_enrolled"
    people = [new_annotator(rating) for _ in range(2)]
    server = rating.study.label_studio_servers.get()
    bridge = lifecycle.begin(campaign=rating, server=server, arrangement="per_annotator", by=lead)
    assert push(bridge=bridge, by=lead).sent == 2 * rating.tasks.count()
    people.append(new_annotator(rating))
    report = push(bridge=bridge, by=lead)
    assert (report.projects, report.sent) == (3, rating.tasks.count())
    assert set(bridge.projects.values_list("annotator", flat=True)) == {one.pk for one in people}
    titles = [project_there(label_studio, one)["title"] for one in bridge.projects.order_by("pk")]
    assert [title[-1] for title in titles] == ["1", "2", "3"]


def test_what_was_answered_here_before_is_not_asked_again(label_studio, rating, lead):
    lease = leases.next_assignment(campaign=rating, annotator=new_annotator(rating))
    assert lease is not None
    submit(lease, Answer.parse({"rating": 4}, lease.task))
    bridge = begun(label_studio, rating, lead)
    tasks = rating.tasks.count()
    assert push(bridge=bridge, by=lead).sent == 2 * tasks - 1
    held = LabelStudioTask.objects.filter(project__bridge=bridge, task=lease.task_id)
    assert [one.project.slot for one in held] == [1]


def test_more_annotators_a_task_are_a_further_project(label_studio, rating, lead):
    bridge = begun(label_studio, rating, lead)
    push(bridge=bridge, by=lead)
    extension.extend(campaign=rating, by=lead, annotators_per_task=3)
    report = push(bridge=bridge, by=lead)
    assert (report.projects, report.sent) == (3, rating.tasks.count())
    extension.extend(campaign=rating, by=lead, annotators_per_task=2)
    assert push(bridge=bridge, by=lead).taken_back == rating.tasks.count()
    assert [len(held) for held in there(label_studio, bridge).values()] == [rating.tasks.count()] * 2 + [0]


def test_tasks_of_a_retracted_image_are_taken_back_unless_answered_there_and_return_with_it(
    label_studio, marking, lead
):
    bridge = begun(label_studio, marking, lead, "shared")
    push(bridge=bridge, by=lead)
    tasks = list(marking.tasks.filter(image=marking.tasks.first().image))
    assert len(tasks) == 2
    numbers = dict(LabelStudioTask.objects.filter(task__in=tasks).values_list("task", "external_id"))
    nothing = {
        "id": "n1",
        "type": "choices",
        "from_name": "none_of_the_above",
        "to_name": "image",
        "value": {"choices": ["yes"]},
    }
    answered = numbers[tasks[0].pk]
    ask(label_studio, "POST", f"/api/tasks/{answered}/annotations/", {"result": [nothing]})
    retraction.retract(image=tasks[0].image, by=lead, reason="blurred")
    assert push(bridge=bridge, by=lead).taken_back == 1
    (held,) = there(label_studio, bridge).values()
    assert answered in held
    assert numbers[tasks[1].pk] not in held
    picture = held[answered]["image"].removeprefix(SITE)
    assert Browser().get(picture).status_code == 404
    retraction.restore(image=tasks[0].image, by=lead)
    assert push(bridge=bridge, by=lead).sent == 1
    assert Browser().get(picture).status_code == 200


def test_changed_guidelines_are_read_there_after_the_next_push(label_studio, rating, lead):
    bridge = begun(label_studio, rating, lead, "shared")
    push(bridge=bridge, by=lead)
    version = versions.revise(campaign=rating, by=lead, guidelines="Look **closely** <now>.")
    report = push(bridge=bridge, by=lead)
    assert (report.reconfigured, report.restored, report.sent) == (1, 0, 0)
    project = bridge.projects.get()
    assert project.instrument == version
    shown = project_there(label_studio, project)
    assert shown["expert_instruction"] == "<p>Look <strong>closely</strong> &lt;now&gt;.</p>"


def test_what_was_edited_over_there_by_hand_is_seen_and_set_back_and_answers_stay(label_studio, rating, lead):
    bridge = begun(label_studio, rating, lead, "shared")
    push(bridge=bridge, by=lead)
    project = bridge.projects.get()
    task = project.tasks.first().external_id
    number = answer_there(label_studio, task, label_studio.annotators[0])
    path = f"/api/projects/{project.external_id}/"
    config = project_there(label_studio, project)["label_config"]
    other = config.replace("This can be depicted", "Can this be depicted")
    ask(label_studio, "PATCH", path, {"label_config": other, "maximum_annotations": 9})
    assert not as_sent(project, project_there(label_studio, project))
    report = push(bridge=bridge, by=lead)
    assert (report.reconfigured, report.restored, report.sent) == (1, 1, 0)
    assert "changed by hand" in str(report)
    project.refresh_from_db()
    shown = project_there(label_studio, project)
    assert as_sent(project, shown)
    assert shown["label_config"] == config
    (kept,) = ask(label_studio, "GET", f"/api/tasks/{task}/")["annotations"]
    assert kept["id"] == number


def test_tasks_that_were_sent_but_not_written_down_are_found_and_not_sent_twice(label_studio, marking, lead):
    bridge = begun(label_studio, marking, lead)
    push(bridge=bridge, by=lead)
    before = there(label_studio, bridge)
    lost = LabelStudioTask.objects.filter(project__slot=2)
    number = lost.count()
    lost.delete()  # as if the process died after Label Studio had accepted them
    report = push(bridge=bridge, by=lead)
    assert (report.adopted, report.sent, report.present) == (number, 0, number)
    assert there(label_studio, bridge) == before
    assert {one: set(held) for one, held in before.items()} == written_down(bridge)


def test_a_project_that_was_made_but_not_written_down_is_found(label_studio, rating, lead):
    bridge = begun(label_studio, rating, lead)
    push(bridge=bridge, by=lead)
    with_refs = bridge.projects.get(slot=1)
    with_refs.tasks.all().delete()
    number = with_refs.external_id
    LabelStudioProject.objects.filter(pk=with_refs.pk).delete()
    report = push(bridge=bridge, by=lead)
    assert bridge.projects.get(slot=1).external_id == number
    assert report.remade == 0


def test_of_two_tasks_that_are_the_same_one_goes(label_studio, rating, lead):
    bridge = begun(label_studio, rating, lead, "shared")
    push(bridge=bridge, by=lead)
    project = bridge.projects.get()
    before = there(label_studio, bridge)
    twice = list(before[project.external_id].values())[:2]
    ask(label_studio, "POST", f"/api/projects/{project.external_id}/import", [{"data": one} for one in twice])
    assert push(bridge=bridge, by=lead).sent == 0
    assert there(label_studio, bridge) == before


def test_tasks_that_somebody_deleted_there_are_sent_again(label_studio, rating, lead):
    bridge = begun(label_studio, rating, lead, "shared")
    push(bridge=bridge, by=lead)
    lost = bridge.projects.get().tasks.first()
    ask(label_studio, "DELETE", f"/api/tasks/{lost.external_id}/")
    report = push(bridge=bridge, by=lead)
    assert (report.sent, report.present) == (1, rating.tasks.count() - 1)
    assert set(LabelStudioTask.objects.values_list("task", flat=True)) == set(
        rating.tasks.values_list("pk", flat=True)
    )


def test_a_project_that_was_deleted_there_is_remade(label_studio, rating, lead):
    bridge = begun(label_studio, rating, lead)
    push(bridge=bridge, by=lead)
    lost = bridge.projects.get(slot=2)
    ask(label_studio, "DELETE", f"/api/projects/{lost.external_id}/")
    report = push(bridge=bridge, by=lead)
    assert (report.remade, report.sent) == (1, rating.tasks.count())
    lost.refresh_from_db()
    assert lost.gone_at is not None
    live = bridge.projects.filter(gone_at=None).order_by("slot")
    assert [one.slot for one in live] == [1, 2]
    assert [len(held) for held in there(label_studio, bridge).values()] == [rating.tasks.count()] * 2


def test_after_the_database_there_was_set_back_a_push_makes_everything_anew_and_touches_nothing_else(
    label_studio, rating, lead
):
    bridge = begun(label_studio, rating, lead)
    push(bridge=bridge, by=lead)
    numbers = set(bridge.projects.values_list("external_id", flat=True))
    label_studio.reset_database()
    # Other projects were created first and have the numbers that ours had.
    theirs: list[int] = []
    while not numbers <= set(theirs):
        theirs.append(ask(label_studio, "POST", "/api/projects/", {"title": "Of somebody else"})["id"])
    report = push(bridge=bridge, by=lead)
    assert (report.remade, report.sent) == (2, 2 * rating.tasks.count())
    live = set(bridge.projects.filter(gone_at=None).values_list("external_id", flat=True))
    assert not live & set(theirs)
    for number in theirs:
        shown = ask(label_studio, "GET", f"/api/projects/{number}/")
        assert (shown["title"], shown["task_number"]) == ("Of somebody else", 0)
    assert push(bridge=bridge, by=lead).sent == 0


def test_addresses_of_pictures_end_are_renewed_at_once_and_are_replaced(label_studio, marking, lead):
    bridge = begun(label_studio, marking, lead, "shared")
    push(bridge=bridge, by=lead)

    def addresses() -> list[str]:
        (held,) = there(label_studio, bridge).values()
        return [data["image"].removeprefix(SITE) for data in held.values()]

    def statuses(paths: list[str]) -> set[int]:
        return {Browser().get(path).status_code for path in paths}

    first = addresses()
    answer = Browser().get(first[0], headers={"origin": label_studio.url})
    assert answer["Access-Control-Allow-Origin"] == "*"
    assert answer["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert statuses(first) == {200}
    bridge.images_until = bridge.created_at
    bridge.save(update_fields=["images_until"])
    assert statuses(first) == {404}
    image_access.renew(bridge=bridge, by=lead, days=2)
    assert statuses(first) == {200}
    assert image_access.replace_addresses(bridge=bridge, by=lead) == marking.tasks.count()
    second = addresses()
    assert not set(first) & set(second)
    assert (statuses(first), statuses(second)) == ({404}, {200})
    lifecycle.end(bridge=bridge, by=lead)
    assert statuses(second) == {404}


SECRETS = (
    "velmari", "orsani", "sentinelgroup", "sentinelregion", "sentinelprompt", "sentinelcondition", "sentinelmodel",
    "sentinelstudy", "sentinelcampaign", "sentinelfile", "sentinelseed", "stereotyp", "random", "default",
)  # fmt: skip


@pytest.mark.parametrize("kind", [MARKING.key, RATING.key])
def test_no_byte_that_is_sent_tells_group_prompt_condition_role_model_or_study(
    label_studio, study, lead, kind
):
    Study.objects.filter(pk=study.pk).update(name="sentinelstudy", slug="sentinelstudy")
    StudyGroup.objects.filter(name="Velmari").update(
        name="SentinelGroup", display_name="SentinelGroup", region="SentinelRegion"
    )
    study.refresh_from_db()
    campaign = marking_of(study, lead) if kind == "stereotype_marking" else rating_of(study, lead)
    for image in study.images.all():
        image.prompt, image.condition, image.model_label = "sentinelprompt", "default", "sentinelmodel"
        image.source_name = "sentinelfile.png"
        image.save()
    Campaign.objects.filter(pk=campaign.pk).update(name="sentinelcampaign", slug="sentinelcampaign")
    campaign.refresh_from_db()
    with recorded(label_studio.url) as proxy:
        bridge = begun(label_studio, campaign, lead, url=proxy.url)
        push(bridge=bridge, by=lead)
        versions.revise(campaign=campaign, by=lead, guidelines="Say what you see.")
        extension.extend(campaign=campaign, by=lead, annotators_per_task=3)
        push(bridge=bridge, by=lead)
        if kind == "stereotype_marking":
            image_access.replace_addresses(bridge=bridge, by=lead)
    sent = proxy.text()
    assert proxy.asked("POST", "/import") == 3
    assert "tall hat" in sent
    # An attribute of Label Studio's own, which reveals nothing of ours.
    assert {secret for secret in SECRETS if secret in sent.replace("defaultzoom", "")} == set()
    assert not [
        one for one in campaign.tasks.all() if str(one.public_id) in sent or one.public_id.hex in sent
    ]
