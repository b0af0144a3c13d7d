"""A lead's pages of campaigns whose kind declares questions: every page, for every such kind."""

import pytest
from django.urls import get_resolver, reverse

from annotation.annotator.payload import task_payload
from annotation.campaigns import lifecycle
from annotation.campaigns.coverage import coverage
from annotation.campaigns.progress import progress
from annotation.kinds.registry import KINDS
from annotation.models import Annotation, Campaign, Enrolment, Invitation, Task
from annotation.people import invitations
from annotation.simulation.questions import QuestionTruth, answer_questions
from generation.models import Image
from tests.annotation.factories import add_prompted_images, new_annotator, options_for
from tests.annotation.labelling.production_paths import ByVerbs

pytestmark = pytest.mark.django_db

OF_QUESTIONS = [key for key, kind in KINDS.items() if not kind.about_attributes]
TRUTH = QuestionTruth(seed=1)
# The task in their address has no known answers.
NOT_FOUND = {"known_change", "known_remove"}
# Needs an invitation made just before.
ELSEWHERE = {"invitation_made"}


def label(campaign, *, people=2, screens=3):
    for _ in range(people):
        annotator = new_annotator(campaign)
        path = ByVerbs()
        for _ in range(screens):
            if (leased := path.next_task(campaign, annotator)) is None:
                break
            payload = task_payload(leased)
            answer = answer_questions(payload, TRUTH, lambda *parts: TRUTH.generator(leased.pk, *parts))
            path.submit(leased, by=annotator, answer=answer)


def questions(study, lead, kind, *, open_=True):
    add_prompted_images(study, ["a {id} house by the sea"], models=("north", "south", "east"))
    draft = lifecycle.create(
        study=study,
        name="Questions",
        kind=kind,
        by=lead,
        annotators_per_task=2,
        options=options_for(KINDS[kind]),
    )
    return lifecycle.open_(campaign=draft, by=lead) if open_ else draft


def addresses(campaign: Campaign) -> dict[str, str]:
    values = {
        "study": campaign.study.slug,
        "campaign": campaign.slug,
        "annotation": Annotation.objects.first().pk,
        "enrolment": Enrolment.objects.first().pk,
        "move": "pause",
        "invitation": Invitation.objects.first().pk,
        "rule": campaign.quality_rules.first().pk,
        "task": Task.objects.first().public_id,
    }
    found = {}
    for pattern in get_resolver().url_patterns:
        if getattr(pattern, "namespace", "") != "annotation":
            continue
        for inner in pattern.url_patterns:
            needed = inner.pattern.converters
            own = "label-studio" not in str(inner.pattern)  # of another tool, for campaigns labelled there
            if own and "campaign" in needed and needed.keys() <= values.keys():
                wanted = {name: values[name] for name in needed}
                found[inner.name] = reverse(
                    f"annotation:{inner.name}", kwargs={"study": values["study"], **wanted}
                )
    return found


@pytest.mark.parametrize("kind", OF_QUESTIONS)
def test_every_page_of_a_campaign_is_shown(lead_client, study, lead, kind):
    campaign = questions(study, lead, kind)
    label(campaign)
    invitations.invite(campaign=campaign, by=lead, label="Ada")
    found = addresses(campaign)
    assert len(found) > 30
    statuses = {
        name: lead_client.get(address).status_code for name, address in found.items() if name not in ELSEWHERE
    }
    for name, status in statuses.items():
        # Buttons take no GET; pages of drafts are refused once a campaign is open.
        allowed = {404, 405} if name in NOT_FOUND else {200, 302, 405, 409}
        assert status in allowed, (name, status)
    shown = {name for name, status in statuses.items() if status == 200}
    assert {
        *(
            "campaign",
            "campaign_progress",
            "campaign_settings",
            "campaign_extend",
            "campaign_copy",
            "instrument",
        ),
        *("instrument_change", "coverage", "screens", "annotators", "enrolment_move", "pay", "quality"),
        *("known_tasks", "known_new"),
        *("invitations", "annotations", "annotation", "campaign_close_confirm", "preview"),
    } <= shown


@pytest.mark.parametrize("kind", OF_QUESTIONS)
def test_a_draft_and_its_settings_are_shown(lead_client, study, lead, kind):
    campaign = questions(study, lead, kind, open_=False)
    for name in (
        "campaign",
        "campaign_edit",
        "instrument",
        "instrument_change",
        "campaign_delete",
        "quality",
        "preview",
        "known_tasks",
        "known_new",
    ):
        page = lead_client.get(reverse(f"annotation:{name}", args=[study.slug, campaign.slug]))
        assert page.status_code == 200, name
    text = lead_client.get(reverse("annotation:campaign", args=[study.slug, campaign.slug])).content.decode()
    for question in KINDS[kind].questions:
        assert question.label["en"] in text
    assert "Checks and practice" in text
    assert "Answers to questions" in text


def test_answers_are_listed_and_shown_in_words(lead_client, study, lead):
    campaign = questions(study, lead, "pairwise")
    annotator = new_annotator(campaign)
    leased = ByVerbs().next_task(campaign, annotator)
    ByVerbs().submit(leased, by=annotator, answer={"answers": {"fits_prompt": "s2", "overall": "tie"}})
    address = reverse("annotation:annotations", args=[study.slug, campaign.slug])
    listed = lead_client.get(address)
    text = " ".join(listed.content.decode().split())
    assert "Which picture fits the description better?</span> Picture 2" in text
    assert "No difference" in text
    assert "Ticked" not in text
    first = leased.task.stimuli.get(position=0).image
    assert f"{first.group.display_name}" in text
    page = lead_client.get(f"{address}{Annotation.objects.get().pk}/")
    text = " ".join(page.content.decode().split())
    assert [line.number for line in page.context["stimuli"]] == [1, 2, 3]
    assert f"Number 1: {first.group} · {first.model_label}" in text
    assert first.prompt in text
    assert "No difference" in text
    assert "Use this screen as a check" in text
    by_image = lead_client.get(f"{address}?image={first.public_id}").context["page"].object_list
    assert [annotation.pk for annotation in by_image] == [Annotation.objects.get().pk]
    unseen = Image.objects.exclude(task_stimuli__task=leased.task).first()
    assert lead_client.get(f"{address}?image={unseen.public_id}").context["page"].object_list == []


def test_points_are_drawn_where_they_were_put(lead_client, study, lead):
    campaign = questions(study, lead, "image_text")
    annotator = new_annotator(campaign)
    leased = ByVerbs().next_task(campaign, annotator)
    answer = {
        "answers": {"alignment": 2, "missing": [1], "faults": "small"},
        "regions": {"faults": [{"stimulus": "s1", "x": 0.25, "y": 0.5}]},
    }
    ByVerbs().submit(leased, by=annotator, answer=answer)
    page = lead_client.get(
        reverse("annotation:annotation", args=[study.slug, campaign.slug, Annotation.objects.get().pk])
    )
    (place,) = page.context["stimuli"][0].places
    assert (float(place.x) + float(place.width) / 2, float(place.y) + float(place.height) / 2) == (250, 500)
    assert place.question.startswith("Does the picture have faults")


def test_progress_and_coverage_count_a_screen_once_for_each_group(study, lead):
    campaign = questions(study, lead, "pairwise")
    label(campaign, people=2, screens=100)
    counted = progress(campaign)
    # 2 groups × 1 prompt × 3 pairs of models, each answered by 2
    assert [(group.name, group.tasks, group.slots, group.accepted) for group in counted.groups] == [
        ("Orsani", 3, 6, 6),
        ("Velmari", 3, 6, 6),
    ]
    matrix = coverage(campaign, campaign.enrolments.all())
    assert matrix.columns == ["Orsani", "Velmari"]
    assert [(numbers, total) for _, numbers, total in matrix.rows] == [([3, 3], 6), ([3, 3], 6)]


@pytest.mark.parametrize("name", ["annotations", "screens", "coverage", "campaign_progress"])
def test_queries_of_a_page_do_not_grow_with_answers(lead_client, study, lead, queries, name):
    campaign = questions(study, lead, "ranking")
    label(campaign, people=1, screens=1)
    address = reverse(f"annotation:{name}", args=[study.slug, campaign.slug])
    queries(lead_client, address)
    few = queries(lead_client, address)
    label(campaign, people=1, screens=100)
    assert queries(lead_client, address) <= few + 1


def test_only_the_guidelines_of_questions_can_be_changed(lead_client, study, lead):
    campaign = questions(study, lead, "pairwise")
    address = reverse("annotation:instrument_change", args=[study.slug, campaign.slug])
    assert list(lead_client.get(address).context["form"].fields) == ["guidelines"]
    lead_client.post(address, {"guidelines": "Look twice."})
    assert campaign.instruments.first().guidelines == "Look twice."
    refused = lead_client.post(
        f"/api/v1/campaigns/{campaign.pk}/instruments",
        {"statement": "Which one?"},
        content_type="application/json",
    )
    assert refused.status_code == 400
    assert campaign.instruments.count() == 2


def test_a_rule_can_use_only_the_measures_of_the_kind(lead_client, study, lead):
    campaign = questions(study, lead, "ranking")
    page = lead_client.get(reverse("annotation:quality", args=[study.slug, campaign.slug]))
    assert [value for value, _ in page.context["form"].fields["measure"].choices] == [
        "gold_accuracy",
        "self_consistency",
        "median_seconds",
    ]


def test_coverage_and_answers_of_texts_name_the_texts(lead_client, study, lead):
    campaign = questions(study, lead, "bias_level")
    label(campaign, people=1, screens=2)
    matrix = coverage(campaign, campaign.enrolments.all())
    assert (matrix.columns, [numbers for _, numbers, _ in matrix.rows]) == (["Texts"], [[2]])
    listed = lead_client.get(reverse("annotation:annotations", args=[study.slug, campaign.slug]))
    assert "islanders" in listed.content.decode() or "islands" in listed.content.decode()


@pytest.mark.parametrize("state", ["draft", "open"])
def test_the_preview_shows_the_screen_that_annotators_see(lead_client, study, lead, state):
    campaign = questions(study, lead, "pairwise", open_=state == "open")
    page = lead_client.get(reverse("annotation:preview", args=[study.slug, campaign.slug]), {"sample": "2"})
    payload = page.context["payload"]
    assert [stimulus["ref"] for stimulus in payload["stimuli"]] == ["s1", "s2"]
    assert payload["prompt"].endswith("house by the sea")
    assert [question["name"] for question in payload["questions"]] == ["fits_prompt", "overall"]
    text = page.content.decode()
    assert payload["prompt"] in text
    assert "Which picture fits the description better?" in text
    assert "sample 2 of 6" in text
    assert "annotation/lead/preview.js" in text
