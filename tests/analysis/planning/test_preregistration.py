"""A preregistration is written once, and later shows what changed."""

import hashlib
import json

import pytest
from django.urls import reverse

from analysis.planning.preregistration import preregister
from analysis.results.parameters import parameters_of
from analysis.results.preregistrations import changes_since
from analysis.results.reports import compute_report
from annotation.campaigns import lifecycle
from foundation.errors import Conflict, DomainError
from tests.analysis.conftest import labelled
from tests.analysis.planning.conftest import SMALL

PAGE = reverse("planning:plan", kwargs={"study": "isles"})
PREREGISTER = reverse("planning:preregister", kwargs={"study": "isles"})


def document(number: int = 1) -> str:
    return reverse("planning:preregistration", kwargs={"study": "isles", "number": number})


def draft(study, lead):
    return lifecycle.create(study=study, name="Marking", kind="stereotype_marking", by=lead)


def test_a_preregistration_holds_plan_and_design_with_its_digest(computed, study, lead, analyst_client):
    draft(study, lead)
    registration = preregister(study=study, plan=computed, by=lead)
    answer = analyst_client.get(document())
    assert hashlib.sha256(answer.content).hexdigest() == registration.sha256
    text = json.loads(answer.content)
    assert text["plan"]["hypothesis"] == computed.hypothesis
    assert [line["images"] for line in text["plan"]["expected"]] == [5, 10]
    assert text["campaigns"]["marking"]["annotators_per_task"] == 3
    assert text["analysis"]["min_stereotypes"] == study.min_stereotypes
    assert sorted(text["groups"]) == sorted(study.groups.values_list("name", flat=True))


def test_changes_are_empty_until_something_changes(computed, study, lead):
    campaign = draft(study, lead)
    registration = preregister(study=study, plan=computed, by=lead)
    assert changes_since(registration) == []
    lifecycle.update_draft(campaign=campaign, by=lead, annotators_per_task=5)
    assert changes_since(registration) == [("campaigns › marking › annotators_per_task", 3, 5)]
    study.groups.first().delete()
    assert {what for what, _, _ in changes_since(registration)} == {
        "campaigns › marking › annotators_per_task",
        "groups",
    }


def test_changes_are_shown_beside_what_was_registered(computed, study, lead, analyst_client):
    campaign = draft(study, lead)
    preregister(study=study, plan=computed, by=lead)
    assert "Nothing changed." in analyst_client.get(PAGE).content.decode()
    lifecycle.update_draft(campaign=campaign, by=lead, annotators_per_task=5)
    page = analyst_client.get(PAGE).content.decode()
    assert "campaigns › marking › annotators_per_task" in page


def test_a_plan_that_is_not_computed_or_replaced_is_refused(plan, study, lead):
    with pytest.raises(DomainError, match="Wait until the plan is computed"):
        preregister(study=study, plan=plan, by=lead)


def test_only_the_newest_plan_is_registered(computed, study, lead):
    from analysis.planning.plans import make_plan

    make_plan(study=study, hypothesis="Another.", primary_measure="theta", parameters=SMALL, by=lead)
    with pytest.raises(Conflict, match="There is a newer plan"):
        preregister(study=study, plan=computed, by=lead)


def test_a_lead_confirms_and_others_may_not(computed, lead_client, analyst_client, stranger_client):
    assert analyst_client.post(PREREGISTER).status_code in (403, 404)
    assert stranger_client.post(PREREGISTER).status_code == 404
    assert "cannot be changed or deleted" in lead_client.get(PREREGISTER).content.decode()
    shown = lead_client.post(PREREGISTER, follow=True).content.decode()
    assert "Preregistration 1 is saved" in shown
    assert stranger_client.get(document()).status_code == 404
    assert analyst_client.get(document(2)).status_code == 404


def test_preregistrations_are_numbered(computed, study, lead):
    first = preregister(study=study, plan=computed, by=lead)
    second = preregister(study=study, plan=computed, by=lead)
    assert (first.number, second.number) == (1, 2)


def test_the_report_says_what_was_registered_and_what_changed(computed, study, lead, analyst_client):
    labelled(study, lead)
    compute_report(study=study, parameters=parameters_of(study, resamples=100), by=lead)
    preregister(study=study, plan=computed, by=lead)
    address = reverse("analysis:report", kwargs={"study": "isles"})
    page = analyst_client.get(address).content.decode()
    assert computed.hypothesis in page
    assert "are as registered" in page
    draft(study, lead)
    page = analyst_client.get(address).content.decode()
    assert "Changes since the preregistration" in page


def test_stop_rules_are_registered_in_words_and_later_ones_are_changes(computed, study, lead):
    campaign = draft(study, lead)
    lifecycle.update_draft(campaign=campaign, by=lead, options={"stop_half_width": 0.2})
    registration = preregister(study=study, plan=computed, by=lead)
    rule = (
        "Pauses when the half-width of θ over all groups is at most 0.2, checked after 200 answers and then after "
        "every 200."
    )
    assert json.loads(registration.document)["campaigns"]["marking"]["stop_rules"] == [rule]
    assert changes_since(registration) == []
    lifecycle.update_draft(campaign=campaign, by=lead, options={"stop_half_width": 0.3})
    changes = {where: (before, after) for where, before, after in changes_since(registration)}
    assert changes["campaigns › marking › stop_rules"] == ([rule], [rule.replace("0.2,", "0.3,")])
