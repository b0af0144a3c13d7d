"""Texts written in one campaign and shown in another."""

import pytest
from django.db.models import ProtectedError
from django.urls import reverse

from accounts.models import ConsentText
from annotation.annotator.payload import task_payload
from annotation.answers.inclusion import counted, not_counted
from annotation.answers.questions.copied_texts import TAKEN_BACK, forget
from annotation.answers.questions.known_answers import Part
from annotation.assignment import leases
from annotation.campaigns import known_tasks, lifecycle
from annotation.campaigns.planning import task_plan
from annotation.label_studio.push import lifecycle as push_lifecycle
from annotation.models import Assignment, CopiedText, Judgement, Task, TaskStimulus
from annotation.people import withdrawal
from foundation.errors import Conflict, DomainError
from privacy.erasure.erase import erase_annotator
from studies import consent
from studies.models import Study
from tests.annotation.factories import add_prompted_images, new_annotator
from tests.annotation.label_studio.rows import server_of
from tests.annotation.labelling.production_paths import ByVerbs

pytestmark = pytest.mark.django_db
CODED = {"answers": {"code": "first"}}


@pytest.fixture
def written(study, lead):
    """Ada and Ben describe one picture each."""
    add_prompted_images(study, ["a {id} house"], models=("north",))
    draft = lifecycle.create(
        study=study, name="Written", kind="open_question", by=lead, annotators_per_task=3
    )
    campaign = lifecycle.open_(campaign=draft, by=lead)
    people = {}
    for name in ("Ada", "Ben"):
        people[name] = new_annotator(campaign)
        leased = ByVerbs().next_task(campaign, people[name])
        said = {"answers": {"description": f"{name} sees a house."}}
        ByVerbs().submit(leased, by=people[name], answer=said)
    campaign.people = people
    return campaign


def coding(written, lead, **options):
    options = {"texts_from": f"campaign:{written.slug}", **options}
    return lifecycle.create(
        study=written.study,
        name="Codes",
        kind="answer_coding",
        by=lead,
        options=options,
        annotators_per_task=2,
    )


def texts_of(campaign):
    return set(TaskStimulus.objects.filter(task__campaign=campaign).values_list("text", flat=True))


def test_each_text_that_counts_is_a_screen_of_its_writer(written, lead):
    campaign = lifecycle.open_(campaign=coding(written, lead), by=lead)
    assert texts_of(campaign) == {"Ada sees a house.", "Ben sees a house."}
    by_text = dict(CopiedText.objects.values_list("stimulus__text", "writer"))
    assert by_text == {f"{name} sees a house.": person.pk for name, person in written.people.items()}


def test_a_withdrawal_ends_the_leases_of_the_writers_texts(written, lead):
    campaign = lifecycle.open_(campaign=coding(written, lead), by=lead)
    coder = new_annotator(campaign)
    leased = ByVerbs().next_task(campaign, coder)
    if leased.task.stimuli.get().text != "Ada sees a house.":
        leases.skip(assignment=leased, annotator=coder)
        leased = ByVerbs().next_task(campaign, coder)
    withdrawal.withdraw(annotator=written.people["Ada"], study=written.study)
    ended = Assignment.objects.select_related("task").get(pk=leased.pk)
    assert (ended.state, ended.slot, ended.task.held, ended.task.withdrawn) == ("expired", None, 0, True)


def test_a_withdrawal_from_another_study_removes_no_text(written, lead):
    campaign = lifecycle.open_(campaign=coding(written, lead), by=lead)
    elsewhere = Study.objects.create(name="Lakes", slug="lakes", seed=1)
    assert forget(annotator=written.people["Ada"], studies={elsewhere.pk}) == 0
    assert texts_of(campaign) == {"Ada sees a house.", "Ben sees a house."}


def test_a_withdrawal_removes_the_writers_texts(written, lead):
    campaign = lifecycle.open_(campaign=coding(written, lead), by=lead)
    coder = new_annotator(campaign)
    for _ in range(2):
        ByVerbs().submit(ByVerbs().next_task(campaign, coder), by=coder, answer=CODED)
    shown = TaskStimulus.objects.get(text="Ada sees a house.")
    other = new_annotator(campaign)
    leased = ByVerbs().next_task(campaign, other)
    ada = written.people["Ada"]
    withdrawal.withdraw(annotator=ada, study=written.study)
    assert texts_of(campaign) == {TAKEN_BACK, "Ben sees a house."}
    assert Task.objects.get(pk=shown.task_id).withdrawn
    assert not leased.task.assignments.filter(state="leased", task=shown.task_id).exists()
    assert counted(campaign).count() == 1
    assert not_counted(campaign)["retracted"] == 1
    following = ByVerbs().next_task(campaign, other)
    assert following is not None
    assert following.task_id != shown.task_id
    withdrawal.agree(annotator=ada, text=consent.current_text(written.study), study=written.study)
    assert TAKEN_BACK in texts_of(campaign)
    ada.delete()  # her texts are no longer shown


def test_nobody_is_erased_whose_texts_are_shown(written, lead):
    lifecycle.open_(campaign=coding(written, lead), by=lead)
    with pytest.raises(ProtectedError):
        written.people["Ada"].delete()


@pytest.mark.parametrize("labels", ["delete", "sever"])
def test_erasing_a_writer_removes_their_texts(written, lead, labels):
    campaign = lifecycle.open_(campaign=coding(written, lead), by=lead)
    ConsentText.objects.update(labels_when_erased=labels)
    erase_annotator(annotator=written.people["Ada"], by=lead)
    assert texts_of(campaign) == {TAKEN_BACK, "Ben sees a house."}
    assert CopiedText.objects.exclude(writer=None).get().writer == written.people["Ben"]


def test_a_draft_plans_the_texts_that_count_now(written, lead):
    draft = coding(written, lead)
    assert task_plan.plan(draft).screens == 2
    withdrawal.withdraw(annotator=written.people["Ada"], study=written.study)
    assert [task.stimuli[0].text for task in task_plan.plan(draft).tasks] == ["Ben sees a house."]


def test_a_check_is_removed_with_its_copied_text(written, lead):
    campaign = lifecycle.open_(campaign=coding(written, lead), by=lead)
    screens = [known_tasks.as_screen(row) for row in known_tasks.screens_of(campaign)]
    adas = next(screen for screen in screens if screen.stimuli[0].text.startswith("Ada"))
    known_tasks.add(
        campaign=campaign,
        purpose="gold",
        by=lead,
        content=known_tasks.TaskContent(stimuli=adas.stimuli),
        answers={Part("code"): ["other"]},
    )
    withdrawal.withdraw(annotator=written.people["Ada"], study=written.study)
    assert texts_of(campaign) == {TAKEN_BACK, "Ben sees a house."}
    assert Task.objects.get(purpose="gold").withdrawn


def test_a_withdrawn_text_is_not_shown_to_its_coders(written, lead):
    campaign = lifecycle.open_(campaign=coding(written, lead), by=lead)
    coder = new_annotator(campaign)
    first = ByVerbs().next_task(campaign, coder)
    ByVerbs().submit(first, by=coder, answer=CODED)
    writer = first.task.stimuli.get().copied_text.writer
    withdrawal.withdraw(annotator=writer, study=written.study)
    assert task_payload(first)["stimuli"][0]["text"] == TAKEN_BACK


@pytest.mark.parametrize(
    "options", [{"texts_from": "campaign:none"}, {"texts_from": "x"}, {"texts": ["A text."]}]
)
def test_texts_are_pasted_or_come_from_a_campaign_with_text_questions(written, lead, options):
    with pytest.raises(DomainError) as refused:
        coding(written, lead, **options)
    assert list(refused.value.fields) == ["options.texts_from"]


def test_a_lead_chooses_the_campaign(written, lead, lead_client):
    address = reverse("annotation:campaign_new", args=[written.study.slug])
    page = lead_client.get(address, {"kind": "answer_coding"})
    values = [value for value, _ in page.context["form"].fields["texts_from"].choices]
    assert values == ["", f"campaign:{written.slug}"]
    assert Judgement.objects.filter(text__isnull=False).count() == 2


def test_texts_that_people_wrote_are_sent_to_no_other_server(written, lead):
    campaign = lifecycle.open_(campaign=coding(written, lead), by=lead)
    server = server_of(written.study)
    with pytest.raises(Conflict, match="never sent to Label Studio"):
        push_lifecycle.begin(campaign=campaign, server=server, arrangement="per_slot", by=lead)
