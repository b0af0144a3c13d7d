"""The New study page counts while the form is filled in, and writes nothing until it is submitted."""

import pytest
from django.urls import reverse

from catalog.models import IdentityGroup
from studies.models import Study

pytestmark = pytest.mark.django_db
NEW = "/studies/new/"


@pytest.fixture
def filled(resource):
    return {
        "resource": resource.slug,
        "name": "Isles 2",
        "min_raters": "2",
        "min_stereotypes": "2",
        "groups": [str(group.pk) for group in resource.groups.all()],
        "templates": "a photo of {a_an} {id} person\n{id} people",
        "images_per_prompt": "3",
        "action": "create",
    }


def test_without_a_resource_the_page_says_what_to_do_first(lead_client):
    page = lead_client.get(NEW).content.decode()
    assert "No resource yet" in page


def test_the_first_step_is_to_choose_a_resource(lead_client, resource):
    assert "?resource=invented-peoples" in lead_client.get(NEW).content.decode()


def test_a_lead_creates_a_study_with_groups_and_prompts(lead_client, filled):
    answer = lead_client.post(NEW, filled)
    study = Study.objects.get()
    assert answer["Location"] == reverse("studies:detail", args=["isles-2"])
    assert study.groups.count() == 2
    assert [t.text for t in study.prompt_templates.all()] == ["a photo of {a_an} {id} person", "{id} people"]
    assert lead_client.get(answer["Location"]).status_code == 200


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"name": ""}, "This field is required."),
        ({"groups": []}, "Choose at least one identity group."),
        ({"templates": "a {place}"}, "{place}"),
        ({"images_per_prompt": "0"}, "greater than or equal to 1"),
        ({"min_raters": "x"}, "Enter a whole number."),
    ],
)
def test_a_wrong_field_is_named_and_what_was_filled_in_stays(lead_client, filled, change, says):
    answer = lead_client.post(NEW, filled | change)
    assert answer.status_code == 400
    page = answer.content.decode()
    assert says in page
    assert "a photo of" in page or "templates" in change
    assert not Study.objects.exists()


def test_a_name_that_is_taken_is_refused_beside_the_name(lead_client, filled, study):
    answer = lead_client.post(NEW, filled | {"name": "Isles"})
    assert answer.status_code == 400
    assert answer.context["form"].errors["name"] == [
        "There is already a study named “Isles”. Choose another name."
    ]


def test_recalculating_counts_and_writes_nothing(lead_client, filled):
    answer = lead_client.post(NEW, filled | {"action": "recalculate", "name": ""})
    totals = answer.context["totals"]
    # 2 groups × 2 prompts × 3 images; three stereotypes each, all different; 3 people.
    assert (totals.images, totals.stereotypes, totals.attributes, totals.ratings) == (12, 6, 6, 18)
    # 3 stereotypes and 3 random ones an image: 2 screens and 6 judgements, on 12 images by 3 people.
    assert (totals.screens_at_most, totals.judgements_at_most) == (72, 216)
    assert answer.status_code == 200
    assert not Study.objects.exists()


def test_totals_are_computed_from_the_form_as_sent(lead_client, filled, resource):
    data = lead_client.post(
        reverse("studies:new_totals"), filled | {"min_raters": "1", "at_least": "5"}
    ).json()
    assert {group["stereotypes"] for group in data["groups"].values()} == {4}
    assert {group["shown"] for group in data["groups"].values()} == {False}
    assert "<strong>12</strong>" in data["totals"]
    assert "a photo of an Orsani person" in data["examples"]


def test_filters_hide_groups_and_keep_what_was_chosen(lead_client, filled, resource):
    IdentityGroup.objects.create(
        resource=resource, name="Tolmek", display_name="Tolmek", region="South Isles"
    )
    answer = lead_client.post(NEW, filled | {"action": "recalculate", "region": "South Isles"})
    assert answer.context["shown"] == 1
    assert answer.context["hidden_chosen"] == 2
    assert answer.context["totals"].groups == 2


@pytest.mark.parametrize(
    ("words", "shown"), [("vel", {"Velmari"}), ("NORTH ISLES", {"Velmari", "Orsani"}), ("isles ors", {"Orsani"}),
                         ("vélmari", {"Velmari"}), ("nobody", set()), ("", {"Velmari", "Orsani"})],
)  # fmt: skip
def test_a_search_shows_groups_by_name_and_region(lead_client, filled, resource, words, shown):
    context = lead_client.post(NEW, filled | {"action": "recalculate", "q": words}).context
    names = {choice.name for region in context["regions"] for choice, _, is_shown in region.rows if is_shown}
    assert names == shown
    assert [choice.name for choice in context["chosen_groups"]] == ["Orsani", "Velmari"]


def test_a_chosen_group_is_left_out_without_scripts(lead_client, filled, resource):
    orsani = str(resource.groups.get(name="Orsani").pk)
    answer = lead_client.post(NEW, filled | {"action": "", "leave_out": orsani})
    assert [choice.name for choice in answer.context["chosen_groups"]] == ["Velmari"]
    assert "1 group chosen" in answer.content.decode()


def test_a_limit_of_stereotypes_is_counted_and_kept(lead_client, filled):
    answer = lead_client.post(NEW, filled | {"action": "recalculate", "most_stereotypes": "2"})
    totals = answer.context["totals"]
    assert (totals.stereotypes, totals.attributes, totals.ratings) == (4, 4, 12)
    refused = lead_client.post(NEW, filled | {"most_stereotypes": "1"})
    assert "A group needs 2 stereotypes, so the limit must be 2 or more." in refused.content.decode()
    lead_client.post(NEW, filled | {"most_stereotypes": "2"})
    assert Study.objects.get().most_stereotypes == 2


@pytest.mark.parametrize(
    ("select", "chosen"),
    [("all", 3), ("none", 0), ("all:South Isles", 1), ("none:North Isles", 0)],
)
def test_selecting_works_without_scripts(lead_client, filled, resource, select, chosen):
    IdentityGroup.objects.create(
        resource=resource, name="Tolmek", display_name="Tolmek", region="South Isles"
    )
    answer = lead_client.post(NEW, filled | {"groups": [], "select": select, "action": ""})
    assert answer.context["totals"].groups == chosen


def test_a_group_with_too_few_stereotypes_is_named(lead_client, filled):
    answer = lead_client.post(NEW, filled | {"action": "recalculate", "min_stereotypes": "4"})
    assert answer.context["totals"].too_few == ("Orsani", "Velmari")


def test_only_a_lead_may_create(analyst_client, resource, filled):
    assert analyst_client.get(NEW).status_code == 403
    assert analyst_client.post(NEW, filled).status_code == 403
    assert analyst_client.post(reverse("studies:new_totals"), filled).status_code == 403
    assert not Study.objects.exists()


def test_queries_do_not_grow_with_the_resource(lead_client, resource, queries, filled):
    form = filled | {"action": "recalculate"}
    before = queries(lead_client, NEW, form)
    for number in range(60):
        IdentityGroup.objects.create(
            resource=resource, name=f"G{number}", display_name=f"G{number}", region="East"
        )
    assert queries(lead_client, NEW, form) == before <= 10


def test_the_lead_chooses_whether_rater_pools_are_summed(lead_client, filled, resource):
    resource.groups.get(name="Orsani").stereotypes.update(in_region_stereotype=1, out_region_stereotype=1)
    totals = reverse("studies:new_totals")
    counts = {
        pools: sorted(
            group["stereotypes"]
            for group in lead_client.post(totals, filled | {"rater_pools": pools}).json()["groups"].values()
        )
        for pools in ("separate", "summed", "")
    }
    assert counts == {"separate": [0, 3], "summed": [3, 4], "": [0, 3]}
    lead_client.post(NEW, filled | {"action": "create", "rater_pools": "summed"})
    study = Study.objects.get()
    assert study.rater_pools == "summed"
    assert "2 raters of both pools together" in lead_client.get(f"/studies/{study.slug}/").content.decode()
