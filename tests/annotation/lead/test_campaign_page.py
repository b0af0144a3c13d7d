"""A campaign's page: state, progress, forecast, and the annotators of each screen."""

from datetime import date, timedelta
from html import unescape

import pytest
from django.test import Client
from django.utils import timezone

from annotation.answers.validation import Answer
from annotation.assignment import leases
from annotation.campaigns.progress import DayProgress, progress
from annotation.launch.checks import KEYS
from annotation.launch.waivers import waive
from annotation.lead.campaigns.progress import forecast
from annotation.models import Annotation, Task
from tests.annotation.factories import add_images, new_annotator, submit

pytestmark = pytest.mark.django_db
PAGE = "/studies/isles/campaigns/marking/"
RATING_PAGE = "/studies/isles/campaigns/ratings/"
MARKING = "/studies/isles/campaigns/new/?kind=stereotype_marking&visual_source=campaign%3Aratings"


def test_a_lead_opens_pauses_resumes_closes_and_reopens(lead_client, lead, draft):
    waive(campaign=draft, checks=KEYS, reason="A test.", by=lead)
    url = "/studies/isles/campaigns/drafted/"
    found = []
    for move in ("open", "pause", "resume", "close", "reopen"):
        lead_client.post(f"{url}{move}/")
        draft.refresh_from_db()
        found.append(draft.state)
    assert found == ["open", "paused", "open", "closed", "open"]
    assert Task.objects.filter(campaign=draft).count() == 6


def test_an_invalid_transition_is_reported_and_changes_nothing(lead_client, marking):
    page = lead_client.post(f"{PAGE}resume/", follow=True).content.decode()
    assert "is open; only" in page
    marking.refresh_from_db()
    assert marking.state == "open"


def test_opening_an_empty_draft_says_what_is_missing(lead_client, study, lead):
    from annotation.campaigns import lifecycle

    lifecycle.create(study=study, name="Empty", kind="stereotype_marking", by=lead)
    page = lead_client.post("/studies/isles/campaigns/empty/open/", follow=True).content.decode()
    assert "This campaign has nothing to ask." in page
    assert not Task.objects.exists()


def test_closing_needs_confirmation(lead_client, answered):
    page = lead_client.get(f"{PAGE}close/confirm/").content.decode()
    assert "4 of 16 answers are in." in page
    assert "The other 12 answers will no longer be collected." in page


def test_progress_is_shown_and_polled_while_open(lead_client, answered):
    page = lead_client.get(PAGE)
    found = page.context["shown"].progress
    assert (found.accepted, found.slots) == (4, 16)
    assert 'data-poll="/studies/isles/campaigns/marking/progress/"' in page.content.decode()
    fragment = lead_client.get(f"{PAGE}progress/").content.decode()
    assert "of 16 answers" in fragment
    assert "data-poll-finished" not in fragment
    assert "<html" not in fragment


def test_polling_ends_with_the_campaign(lead_client, answered):
    lead_client.post(f"{PAGE}close/")
    assert "data-poll-finished" in lead_client.get(f"{PAGE}progress/").content.decode()
    assert "data-poll=" not in lead_client.get(PAGE).content.decode()


def test_without_annotators_the_page_says_how_to_invite(lead_client, marking):
    assert "Nobody has joined yet" in lead_client.get(PAGE).content.decode()


def test_a_pace_of_two_days_gives_a_forecast(answered):
    found = progress(answered)
    today = date(2026, 3, 10)
    assert forecast(found, today=today) is None  # one day only
    days = (DayProgress(today - timedelta(days=1), 2), DayProgress(today, 2))
    paced = forecast(_with_days(found, days), today=today)
    # 12 are missing; 4 in two days is 2 a day: 6 days.
    assert (paced.per_day, paced.finished_on) == (2, date(2026, 3, 16))


def test_a_forecast_forgets_what_is_older_than_a_week(answered):
    found = progress(answered)
    today = date(2026, 3, 31)
    days = (DayProgress(date(2026, 3, 1), 100), DayProgress(today, 7))
    assert forecast(_with_days(found, days), today=today).per_day == 1
    assert forecast(_with_days(found, days), today=date(2026, 4, 30)) is None


def _with_days(found, days):
    from dataclasses import replace

    return replace(found, days=days)


def test_the_matrix_counts_screens_of_each_annotator_by_group(lead_client, answered):
    matrix = lead_client.get(f"{PAGE}who/").context["matrix"]
    assert matrix.columns == ["Orsani", "Velmari"]
    assert [total for _, _, total in matrix.rows] == [2, 2]
    assert all(sum(counts) == total for _, counts, total in matrix.rows)


def test_the_matrix_of_many_groups_has_regions_as_columns(lead_client, answered, study):
    for number in range(20):
        study.groups.create(name=f"G{number}", display_name=f"G{number}", region="East" if number % 2 else "")
    matrix = lead_client.get(f"{PAGE}who/").context["matrix"]
    assert matrix.what == "region"
    assert matrix.columns == ["Region not given", "East", "North Isles"]


def test_the_matrix_of_a_rating_counts_answers(lead_client, rating):
    annotator = new_annotator(rating)
    for value in (5, 5, 1):
        leased = leases.next_assignment(campaign=rating, annotator=annotator)
        from annotation.answers.validation import Answer

        submit(leased, Answer.parse({"rating": value}, leased.task))
    matrix = lead_client.get("/studies/isles/campaigns/ratings/who/").context["matrix"]
    assert matrix.columns == ["Strongly Agree", "Agree", "Unsure", "Disagree", "Strongly Disagree"]
    assert matrix.rows[0][1:] == ([2, 0, 0, 0, 1], 3)


def test_each_screen_names_who_answered_it(lead_client, answered):
    page = lead_client.get(f"{PAGE}who/screens/").content.decode()
    for annotation in Annotation.objects.filter(campaign=answered).select_related("annotator"):
        assert annotation.annotator.pseudonym in page


@pytest.mark.parametrize("part", ["", "progress/", "who/", "who/screens/", "annotators/", "annotations/"])
def test_queries_do_not_grow(lead_client, answered, study, queries, part):
    before = queries(lead_client, PAGE + part)
    add_images(study, 3, model_label="other")
    for image in study.images.filter(model_label="other"):
        Task.objects.create(campaign=answered, image=image, wanted=2)
    for _ in range(6):
        annotator = new_annotator(answered)
        for _ in range(2):
            submit(leases.next_assignment(campaign=answered, annotator=annotator))
    for number in range(12):
        study.groups.create(name=f"G{number}", display_name=f"G{number}")
    assert queries(lead_client, PAGE + part) == before <= 33


def test_recent_activity_comes_newest_first(lead_client, answered):
    first = Annotation.objects.filter(campaign=answered).order_by("pk").first()
    Annotation.objects.filter(annotator=first.annotator).update(
        submitted_at=timezone.now() + timedelta(minutes=5)
    )
    latest = lead_client.get(PAGE).context["shown"].latest
    assert latest[0].enrolment.annotator == first.annotator


def answer_everything(rating, *, visual: int) -> None:
    """Three people rate six attributes: the first ones 5, the others 1."""
    attributes = sorted(rating.tasks.values_list("task_attributes__attribute__text", flat=True))
    for _ in range(3):
        annotator = new_annotator(rating)
        while leased := leases.next_assignment(campaign=rating, annotator=annotator):
            text = leased.task.task_attributes.get().attribute.text
            score = 5 if attributes.index(text) < visual else 1
            submit(leased, Answer.parse({"rating": score}, leased.task))


def test_a_complete_rating_leads_to_a_marking_campaign_of_what_it_found(lead_client, rating, study):
    add_images(study, 1)
    assert "Visual attributes" not in lead_client.get(RATING_PAGE).content.decode()
    answer_everything(rating, visual=2)
    page = lead_client.get(RATING_PAGE).content.decode()
    assert "2 of 6 rated attributes were found visual" in " ".join(page.split())
    assert f'href="{MARKING}">New marking campaign with these attributes</a>' in unescape(page)
    form = lead_client.get(MARKING).content.decode()
    assert '<option value="campaign:ratings" selected>' in form
    unknown = lead_client.get(MARKING.replace("ratings", "unknown")).content.decode()
    assert (
        '<option value="all" selected>' in unknown
        or "selected" not in unknown.partition("visual_source")[2][:400]
    )


def test_a_rating_that_found_nothing_offers_no_campaign(lead_client, rating):
    answer_everything(rating, visual=0)
    page = lead_client.get(RATING_PAGE).content.decode()
    assert "0 of 6 rated attributes were found visual" in " ".join(page.split())
    assert "New marking campaign" not in page


def test_an_analyst_reads_what_was_found_and_starts_nothing(analyst_client: Client, rating):
    answer_everything(rating, visual=2)
    page = analyst_client.get(RATING_PAGE).content.decode()
    assert "Visual attributes" in page
    assert "New marking campaign" not in page
