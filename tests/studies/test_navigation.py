"""The tabs of a study come from the apps above it, in a fixed order; some are a lead's alone."""

import pytest
from django.template import Context, Template
from django.test import RequestFactory

from studies import navigation
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


def render(path: str = "/studies/isles/images/", *, simulated: bool = False, **values: object) -> str:
    study = Study(name="Isles", slug="isles", simulated=simulated)
    context = Context({"request": RequestFactory().get(path), "study": study, **values})
    return Template("{% load study_pages %}{% study_tabs %}").render(context)


def test_an_analyst_sees_the_tabs_in_their_order():
    assert navigation.tabs_of("isles", for_lead=False) == FOR_ANALYSTS


def test_a_lead_sees_label_studio_between_releases_and_members():
    label_studio = ("Label Studio", "/studies/isles/label-studio/")
    expected = [*FOR_ANALYSTS[:9], label_studio, *FOR_ANALYSTS[9:]]
    assert navigation.tabs_of("isles", for_lead=True) == expected


def test_the_order_is_that_of_the_numbers_and_not_of_registration(monkeypatch):
    monkeypatch.setattr(navigation, "_tabs", {})
    navigation.register_tab("Members", "studies:members", order=2)
    navigation.register_tab("Overview", "studies:detail", order=1)
    navigation.register_tab("Members", "studies:members", order=2)
    assert [label for label, _ in navigation.tabs_of("isles", for_lead=True)] == ["Overview", "Members"]


@pytest.mark.parametrize(
    ("context", "shown"), [({}, False), ({"may_change": False}, False), ({"may_change": True}, True)]
)
def test_only_pages_on_which_one_may_change_something_show_the_tabs_of_leads(context, shown):
    assert (">Label Studio<" in render(**context)) is shown


def test_the_tab_of_the_page_is_marked():
    assert '<a href="/studies/isles/images/" aria-current="page">Images</a>' in render()
    assert render().count("aria-current") == 1


def test_a_simulated_study_says_so_below_its_tabs():
    assert "Simulated study" in render(simulated=True)
    assert "Simulated study" not in render()
