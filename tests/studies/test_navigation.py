"""The tabs of a study come from the apps above it, in a fixed order; people see the tabs that they may open."""

import pytest
from django.template import Context, Template
from django.test import RequestFactory

from accounts.models import User
from accounts.rights import CAPABILITIES, Role
from studies import navigation
from studies.access import Access, right_to_open
from studies.models import Study

FOR_ANALYSTS = [
    ("Overview", "/studies/isles/"),
    ("Plan", "/studies/isles/plan/"),
    ("Images", "/studies/isles/images/"),
    ("Reported images", "/studies/isles/image-reports/"),
    ("Campaigns", "/studies/isles/campaigns/"),
    ("Probes", "/studies/isles/probes/"),
    ("Automated scoring", "/studies/isles/scoring/"),
    ("Results", "/studies/isles/results/"),
    ("Releases", "/studies/isles/releases/"),
    ("Members", "/studies/isles/members/"),
    ("Consent", "/studies/isles/consent/"),
    ("History", "/studies/isles/history/"),
]


def render(path: str = "/studies/isles/images/", *, simulated: bool = False, role: Role = Role.LEAD) -> str:
    study = Study(pk=1, name="Isles", slug="isles", simulated=simulated)
    request = RequestFactory().get(path)
    request.user = User(pk=2)
    access = Access(CAPABILITIES[role], is_opened_by_break_glass=False)
    request._study_access = {request.user.pk: {study.pk: access}}
    context = Context({"request": request, "study": study})
    return Template("{% load study_pages %}{% study_tabs %}").render(context)


def tabs_for(role: Role) -> list[tuple[str, str]]:
    opens = CAPABILITIES[role]
    return navigation.tabs_of("isles", opens=lambda address: right_to_open(address) in opens)


def test_an_analyst_sees_the_tabs_in_their_order():
    assert tabs_for(Role.ANALYST) == FOR_ANALYSTS


def test_a_lead_sees_label_studio_between_releases_and_members():
    label_studio = ("Label Studio", "/studies/isles/label-studio/")
    expected = [*FOR_ANALYSTS[:9], label_studio, *FOR_ANALYSTS[9:]]
    assert tabs_for(Role.LEAD) == expected


@pytest.mark.parametrize(
    ("role", "parts"),
    [
        (Role.COORDINATOR, ["Overview", "Campaigns", "Members", "Consent", "History"]),
        (Role.STEWARD, ["Overview", "Campaigns", "Releases", "Members", "Consent", "History"]),
    ],
)
def test_others_see_the_tabs_that_they_may_open(role, parts):
    assert [label for label, _ in tabs_for(role)] == parts


def test_the_order_is_that_of_the_numbers_and_not_of_registration(monkeypatch):
    monkeypatch.setattr(navigation, "_tabs", {})
    navigation.register_tab("Members", "studies:members", order=2)
    navigation.register_tab("Overview", "studies:detail", order=1)
    navigation.register_tab("Members", "studies:members", order=2)
    assert [label for label, _ in tabs_for(Role.LEAD)] == ["Overview", "Members"]


@pytest.mark.parametrize(("role", "shown"), [(Role.ANALYST, False), (Role.LEAD, True)])
def test_every_page_shows_the_tabs_of_the_role(role, shown):
    assert (">Label Studio<" in render(role=role)) is shown


def test_the_tab_of_the_page_is_marked():
    assert '<a href="/studies/isles/images/" aria-current="page">Images</a>' in render()
    assert render().count("aria-current") == 1


def test_a_simulated_study_says_so_below_its_tabs():
    assert "Simulated study" in render(simulated=True)
    assert "Simulated study" not in render()
