"""Quality on the lead's pages: rules, flags, replacing labels, and asking screens again."""

import pytest

from annotation.models import Assignment, Enrolment, QualityEvent
from annotation.people import enrolments
from annotation.quality import enforcement, rules
from tests.annotation.assignment.test_leases import next_for
from tests.annotation.factories import new_annotator, submit

pytestmark = pytest.mark.django_db
HERE = "/studies/isles/campaigns/marking/"
RULE = {"measure": "straight_lining", "threshold": "90", "minimum": "2", "action": "pause"}


def page(client, path=""):
    answer = client.get(f"{HERE}{path}")
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


@pytest.fixture
def lazy(marking):
    """The enrolment of somebody who answered 'none of the above' three times."""
    person = new_annotator(marking)
    for _ in range(3):
        submit(next_for(person, marking))
    return marking.enrolments.select_related("annotator").get(annotator=person)


def test_a_rule_is_set_in_percent_and_everybody_is_looked_at(lead_client, lazy):
    answer = lead_client.post(f"{HERE}quality/", RULE)
    assert answer.status_code == 302
    lazy.refresh_from_db()
    assert lazy.state == "paused"
    rule = lazy.campaign.quality_rules.get(standard=False)
    assert (rule.threshold, rule.minimum, rule.action) == (0.9, 2, "pause")
    shown = page(lead_client, "quality/")
    assert "at most 90 %" in shown
    assert "Share of the most frequent answer 100 % over 3 screens, at most 90 % asked" in shown
    listed = page(lead_client, "annotators/")
    assert "paused: share of the most frequent answer 100 % over 3 screens" in listed
    history = " ".join(lead_client.get("/studies/isles/history/").content.decode().split())
    assert "to pause by share of the most frequent answer (at most 90 %, from 2 screens on)" in history


@pytest.mark.parametrize("change", [{"threshold": "190"}, {"threshold": "x"}, {"minimum": "0"}])
def test_a_wrong_rule_is_refused_beside_its_field(lead_client, marking, change):
    answer = lead_client.post(f"{HERE}quality/", RULE | change)
    assert answer.status_code == 400
    assert not marking.quality_rules.filter(standard=False).exists()


def test_a_lead_can_check_now_and_remove_a_rule(lead_client, lazy):
    rule = lazy.campaign.quality_rules.create(measure="straight_lining", threshold=0.9, minimum=2)
    said = lead_client.post(f"{HERE}quality/check/", follow=True).content.decode()
    assert "1 annotator flagged now." in said
    assert (
        "No further annotators are flagged."
        in lead_client.post(f"{HERE}quality/check/", follow=True).content.decode()
    )
    lead_client.post(f"{HERE}quality/rules/{rule.pk}/remove/")
    assert QualityEvent.objects.get().ending == "rule_gone"


def test_rules_can_be_set_in_a_draft(lead_client, draft):
    address = f"/studies/isles/campaigns/{draft.slug}/quality/"
    assert lead_client.get(address).status_code == 200
    assert lead_client.post(address, RULE).status_code == 302
    assert draft.quality_rules.filter(standard=False).count() == 1


def test_analysts_read_and_only_leads_change(analyst_client, stranger_client, lazy):
    rule = lazy.campaign.quality_rules.create(measure="agreement", threshold=0.5)
    assert "Set a rule" not in page(analyst_client, "quality/")
    for path in ("quality/", "quality/check/", f"quality/rules/{rule.pk}/remove/", "ask-again/"):
        assert analyst_client.post(f"{HERE}{path}", RULE).status_code == 403
        assert stranger_client.post(f"{HERE}{path}", RULE).status_code == 404
    assert stranger_client.get(f"{HERE}quality/").status_code == 404
    assert lazy.campaign.quality_rules.filter(standard=False).count() == 1


def test_the_page_of_exclusion_counts_what_it_does(lead_client, lazy, lead):
    shown = page(lead_client, f"annotators/{lazy.pk}/exclude/")
    labels = lazy.campaign.annotations.filter(annotator=lazy.annotator).values("judgements").count()
    assert f"<strong>{labels} labels</strong> from 3 screens are left out of results" in shown
    assert "whether other people answer <strong>3 screens</strong> instead" in shown
    assert "How this annotator works" in shown
    form = {"reason": "Clicks anything", "ask_again": "on"}
    lead_client.post(f"{HERE}annotators/{lazy.pk}/exclude/", form)
    assert not Assignment.objects.filter(annotator=lazy.annotator, slot__isnull=False).exists()


def test_resuming_says_that_flags_end(lead_client, lazy, lead):
    rules.set_rule(
        campaign=lazy.campaign,
        measure="straight_lining",
        threshold=0.9,
        minimum=2,
        action="pause",
        by=lead,
    )
    assert "Resuming the annotator ends these flags" in page(lead_client, f"annotators/{lazy.pk}/resume/")
    lead_client.post(f"{HERE}annotators/{lazy.pk}/resume/", {"reason": "We talked"})
    assert enforcement.standing_events(lazy) == []
    assert Enrolment.objects.get(pk=lazy.pk).state == "active"


def test_screens_held_by_excluded_labels_are_asked_again_on_request(lead_client, analyst_client, lazy, lead):
    assert "Labels to replace" not in page(lead_client)
    enrolments.exclude(enrolment=lazy, by=lead, reason="Clicks anything")
    assert "3 labels on 3 screens no longer count" in page(lead_client)
    assert "Ask for new labels" in page(lead_client)
    assert "Ask for new labels" not in page(analyst_client)
    said = lead_client.post(f"{HERE}ask-again/", follow=True).content.decode()
    assert "3 screens will be asked again." in said
    assert "Labels to replace" not in " ".join(said.split())
    assert (
        "There are no labels to replace"
        in lead_client.post(f"{HERE}ask-again/", follow=True).content.decode()
    )


def test_an_answer_is_shown_with_its_annotators_quality_measures(lead_client, lazy):
    annotation = lazy.campaign.annotations.first()
    shown = page(lead_client, f"annotations/{annotation.pk}/")
    assert "Share of the most frequent answer</dt><dd>100.0 %".replace("100.0", "100") in shown
    assert "no gold task answered" in shown


def test_queries_for_measures_do_not_grow_with_people(lead_client, lazy, queries):
    first = queries(lead_client, f"{HERE}annotators/")
    for _ in range(4):
        submit(next_for(new_annotator(lazy.campaign), lazy.campaign))
    assert queries(lead_client, f"{HERE}annotators/") == first
