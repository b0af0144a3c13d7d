"""The list of answers, one answer, and the preview of what annotators see."""

import uuid

import pytest

from annotation.assignment import leases
from annotation.models import Annotation, Assignment, Box
from studies.models import AuditEntry, StudyGroup
from tests.annotation.factories import none_of_them, submit

pytestmark = pytest.mark.django_db
LIST = "/studies/isles/campaigns/marking/annotations/"


def test_answers_are_filtered_by_query_parameters(lead_client, answered):
    one = Annotation.objects.filter(campaign=answered).select_related("annotator", "task__image").first()
    counts = {
        name: len(lead_client.get(f"{LIST}?{name}={value}").context["page"].object_list)
        for name, value in {
            "annotator": one.annotator.pseudonym.lower(),
            "task": one.task.public_id,
            "status": "accepted",
            "image": uuid.uuid4(),
        }.items()
    }
    of_task = Annotation.objects.filter(task=one.task).count()
    assert counts == {"annotator": 2, "task": of_task, "status": 4, "image": 0}


@pytest.mark.parametrize(
    "query", ["image=nonsense", "task=%00", "status=lost", "annotator=%27%22", "annotator=%00", "page=99"]
)
def test_an_invalid_filter_is_no_error(lead_client, answered, query):
    assert lead_client.get(f"{LIST}?{query}").status_code == 200


def test_answers_come_in_pages(lead_client, answered):
    one = Annotation.objects.filter(campaign=answered).first()
    Annotation.objects.bulk_create(
        Annotation(campaign=answered, task=one.task, annotator=one.annotator) for _ in range(60)
    )
    first = lead_client.get(LIST).context["page"]
    assert len(first.object_list) == 50
    assert len(lead_client.get(f"{LIST}{first.next}").context["page"].object_list) == 14


def test_the_page_of_an_answer_shows_screen_and_answer(lead_client, answered):
    found = Annotation.objects.filter(campaign=answered).first()
    page = lead_client.get(f"{LIST}{found.pk}/")
    answers = page.context["answers"]
    shown = found.task.task_attributes.order_by("position").values_list("attribute__text", flat=True)
    assert [one.text for one in answers] == list(shown)
    # The fixture ticks the first attribute; the first screen, and so its number of attributes, depends on keys.
    assert [one.present for one in answers] == [True] + [False] * (len(shown) - 1)
    assert {one.role for one in answers} <= {"stereotype", "random"}
    # 0.1, 0.2, 0.3 × 0.4 of the image, on a drawing of 1000 × 1000
    box = answers[0].boxes[0]
    assert (box.x, box.y, box.width, box.height) == ("100.0", "200.0", "300.0", "400.0")
    assert Box.objects.filter(judgement__annotation=found).count() == 1


def test_a_corrected_answer_shows_its_revisions(lead_client, answered):
    leased = Assignment.objects.filter(state="submitted").first()
    submit(leased, none_of_them(leased))
    old, new = Annotation.objects.filter(assignment=leased).order_by("revision")
    page = lead_client.get(f"{LIST}{old.pk}/")
    assert "replaced by a later revision" in page.content.decode()
    assert [one.pk for one in page.context["revisions"]] == [old.pk, new.pk]


def test_an_answer_is_excluded_for_a_reason_and_readmitted(lead_client, lead, answered):
    found = Annotation.objects.filter(campaign=answered).first()
    url = f"{LIST}{found.pk}/"
    page = lead_client.post(f"{url}exclude/", {"reason": ""}, follow=True).content.decode()
    assert "Give a reason" in page
    lead_client.post(f"{url}exclude/", {"reason": "The image did not load", "ask_again": "on"})
    found.refresh_from_db()
    assert (found.status, found.status_reason) == ("excluded", "The image did not load")
    assert "The image did not load" in lead_client.get("/studies/isles/history/").content.decode()
    again = lead_client.post(f"{url}exclude/", {"reason": "twice"}, follow=True).content.decode()
    assert "Only the latest revision of an accepted annotation" in again
    lead_client.post(f"{url}readmit/")
    found.refresh_from_db()
    assert found.status == "accepted"
    trail = AuditEntry.objects.filter(subject=f"annotation:{found.pk}").order_by("pk")
    done = ("annotation.excluded", "annotation.readmitted")
    assert list(trail.values_list("action", "actor")) == [(action, lead.pk) for action in done]


def test_an_analyst_excludes_nothing(analyst_client, answered):
    found = Annotation.objects.filter(campaign=answered).first()
    assert analyst_client.post(f"{LIST}{found.pk}/exclude/", {"reason": "x"}).status_code == 403
    assert "Exclude this answer" not in analyst_client.get(f"{LIST}{found.pk}/").content.decode()


def test_an_answer_of_another_campaign_is_not_found(lead_client, answered, rating):
    found = Annotation.objects.filter(campaign=answered).first()
    assert lead_client.get(f"/studies/isles/campaigns/ratings/annotations/{found.pk}/").status_code == 404


def test_an_imported_image_without_a_file_is_named(lead_client, answered):
    found = Annotation.objects.filter(campaign=answered).select_related("task__image").first()
    image = found.task.image
    image.file, image.sha256, image.source_name = "", "", "set/Orsani5.png"
    image.save()
    assert "set/Orsani5.png" in lead_client.get(f"{LIST}{found.pk}/").content.decode()


@pytest.mark.parametrize(("fixture", "slug"), [("draft", "drafted"), ("marking", "marking")])
def test_the_preview_shows_samples_and_submits_nothing(lead_client, request, fixture, slug):
    request.getfixturevalue(fixture)
    url = f"/studies/isles/campaigns/{slug}/preview/"
    page = lead_client.get(url)
    text = page.content.decode()
    assert "This is a preview." in text
    assert "<fieldset disabled" in text
    assert "annotation/annotator/task.js" not in text
    assert page.context["sample"].number == 1
    assert lead_client.get(f"{url}?sample=2").context["sample"].number == 2
    assert lead_client.get(f"{url}?sample=999").context["sample"].number == page.context["sample"].of
    assert lead_client.get(f"{url}?sample=x").context["sample"].number == 1
    assert not Assignment.objects.filter(task__campaign__slug=slug).exists()


def test_the_preview_is_as_blind_as_the_real_screen(lead_client, marking):
    for number in range(1, 9):
        text = lead_client.get(f"/studies/isles/campaigns/marking/preview/?sample={number}").content.decode()
        screen = text.split("<fieldset disabled", 1)[1]
        for group in StudyGroup.objects.all():
            assert group.name not in screen
        assert "stereotype" not in screen.lower()


def test_a_campaign_that_asks_nothing_has_no_preview(lead_client, study, lead):
    from annotation.campaigns import lifecycle

    lifecycle.create(study=study, name="Empty", kind="stereotype_marking", by=lead)
    page = lead_client.get("/studies/isles/campaigns/empty/preview/")
    assert page.status_code == 404
    assert "no screen to preview" in page.content.decode()


def test_an_imported_campaign_has_pages_but_no_preview_and_no_actions(lead_client, answered):
    Annotation.objects.filter(campaign=answered).update(instrument=None, assignment=None)
    answered.instruments.all().delete()
    type(answered).objects.update(imported=True, state="closed")
    for part in ("", "progress/", "who/", "who/screens/", "annotators/", "annotations/", "invitations/"):
        page = lead_client.get(f"/studies/isles/campaigns/marking/{part}")
        assert page.status_code == 200
        assert "Reopen" not in page.content.decode()
    assert lead_client.get("/studies/isles/campaigns/marking/preview/").status_code == 404
    found = Annotation.objects.filter(campaign=answered).first()
    assert "not known: imported" in lead_client.get(f"{LIST}{found.pk}/").content.decode()


def test_a_justification_is_shown_escaped(lead_client, rating):
    from annotation.answers.validation import Answer
    from tests.annotation.factories import new_annotator

    leased = leases.next_assignment(campaign=rating, annotator=new_annotator(rating))
    found = submit(leased, Answer.parse({"rating": 3, "justification": "<b>hm</b>"}, leased.task))
    page = lead_client.get(f"/studies/isles/campaigns/ratings/annotations/{found.pk}/").content.decode()
    assert "&lt;b&gt;hm&lt;/b&gt;" in page
    assert "Unsure" in page
