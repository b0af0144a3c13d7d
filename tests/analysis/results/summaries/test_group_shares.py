"""Shares of groups of annotators beside answers by pseudonym: nobody's profile can be read off."""

import pytest
from django.urls import reverse

from accounts.models import Annotator, AnnotatorProfile
from analysis.results.parameters import parameters_of
from analysis.results.reports import compute_report
from analysis.results.summaries.group_shares import shares_by_group

ADDRESS = reverse("analysis:disagreement", kwargs={"study": "isles"})


def row(
    scope_value="", *, a="first", b="second", measure="likelihood_stereotype", values=(0.44, 1.0), reason=None
):
    return {
        "field": "gender",
        "scope": "identity_group" if scope_value else "all",
        "scope_value": scope_value,
        "group_a": a,
        "group_b": b,
        "measure": measure,
        "value_a": values[0],
        "value_b": values[1],
        "reason": reason,
    }


def test_shares_are_rounded_and_neither_all_nor_none():
    rows = [row(), row(measure="likelihood_random", values=(0.0, None)), row(measure="theta", values=(9, 9))]
    assert shares_by_group(rows, "gender", "") == [
        {"value": "first", "likelihood_stereotype": "about 40 %", "likelihood_random": "at most 10 %"},
        {"value": "second", "likelihood_stereotype": "at least 90 %", "likelihood_random": None},
    ]
    assert shares_by_group(rows, "education", "") == []


def test_one_group_withheld_withholds_each():
    shown = [row(), row("Velmari"), row("Orsani")]
    assert len(shares_by_group(shown, "gender", "Velmari")) == 2
    few = [row(), row("Velmari"), row("Orsani", values=(None, None), reason="too_few_annotators")]
    assert shares_by_group(few, "gender", "Velmari") == shares_by_group(few, "gender", "Orsani") == []
    assert len(shares_by_group(few, "gender", "")) == 2
    # a pair whose rows of one identity group were left out altogether
    left_out = [*shown, row(b="third"), row("Orsani", b="third")]
    assert shares_by_group(left_out, "gender", "Orsani") == []


@pytest.fixture
def ten(marked):
    """Five people of each of two groups, who answered about every image."""
    for slot, group in enumerate("aaaaabbbbb"):
        person = Annotator.objects.create(source="people", source_id=str(slot))
        AnnotatorProfile.objects.create(annotator=person, gender=f"group {group}")
        for image in marked.images.values():
            task = image.tasks.get()
            task.wanted += 1
            task.save()
            annotation = marked.submit(task, person, 3 + slot, none=False)
            for place, item in enumerate(task.task_attributes.order_by("position")):
                annotation.judgements.create(
                    attribute=item.attribute, present=(slot + place) % 3 == 0 or (group == "a" and place < 2)
                )
    return marked


def shown(client, query: str) -> str:
    page = " ".join(client.get(ADDRESS + query).content.decode().split())
    return page.split('id="said-by"')[1].split('id="items-title"')[0] if 'id="said-by"' in page else ""


def test_the_page_shows_shares_of_everything_or_of_a_whole_group(ten, analyst, analyst_client):
    compute_report(study=ten.study, parameters=parameters_of(ten.study, resamples=100), by=analyst)
    # group a marked every stereotype; no numbers that answers could be counted against
    everybody = shown(analyst_client, "?by=gender")
    assert '<th scope="row">group a</th><td>at least 90 %</td>' in everybody
    assert "num" not in everybody
    assert "group b" in shown(analyst_client, "?by=gender&group=Velmari")
    assert shown(analyst_client, "?by=gender&attribute=drum") == ""
    assert shown(analyst_client, "?by=gender&attribute=drum&group=Velmari") == ""
    assert "Nothing is shown" in shown(analyst_client, "?by=gender&group=Nobody")


@pytest.mark.parametrize("left_out", ["person", "campaign"])
def test_group_shares_are_hidden_if_annotators_are_left_out(ten, analyst, analyst_client, left_out):
    campaigns = [ten.campaign.slug] if left_out == "campaign" else []
    people = [ten.annotators["p"].pseudonym] if left_out == "person" else []
    parameters = parameters_of(ten.study, resamples=100, without_annotators=people, campaigns=campaigns)
    compute_report(study=ten.study, parameters=parameters, by=analyst)
    assert "Nothing is shown" in shown(analyst_client, "?by=gender")


def test_an_address_with_nul_is_an_empty_answer(ten, analyst, analyst_client):
    compute_report(study=ten.study, parameters=parameters_of(ten.study, resamples=100), by=analyst)
    for query in ("?attribute=%00", "?group=%00", "?by=%00", "?attribute=%00drum", "?model=%00"):
        assert analyst_client.get(ADDRESS + query).status_code in (200, 404), query
