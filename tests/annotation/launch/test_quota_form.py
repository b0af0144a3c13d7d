"""Quota rules that leads build in rows, and the number of people that they need."""

import pytest
from django.urls import reverse

from accounts import profiles
from annotation.campaigns import lifecycle
from tests.annotation.factories import add_images, new_annotator
from tests.annotation.lead.test_drafts import NEW, marking_form

__all__ = ["marking_form"]


def row(number=1, /, **parts):
    values = {
        "kind": "at_least",
        "number": "1",
        "field": "nationality",
        "relation": "=",
        "values": "",
    } | parts
    return {f"quota_{part}_{number}": text for part, text in values.items()} | {"quota_rows": str(number)}


@pytest.fixture
def form(study, marking_form):
    add_images(study, 1)
    return marking_form | {"name": "Mixed"}


def stored(study):
    rules = study.campaigns.get(name="Mixed").quota_rules.all()
    return [(rule.kind, rule.field, rule.k, sorted(rule.values), rule.negated) for rule in rules]


def error_beside(answer, name):
    assert answer.status_code == 400
    content = answer.content.decode()
    assert f'id="id_{name}_error"' in content
    return " ".join(answer.context["form"].errors[name])


def test_rules_of_rows_are_stored_shown_again_and_removed(lead_client, study, form):
    lead_client.post(NEW, form | row(values="Kenya, ugandisch") | row(2, kind="distinct", field="gender"))
    expected = [
        ("at_least", "nationality", 1, ["ken", "uga"], False), ("distinct", "gender", None, [], False)
    ]  # fmt: skip
    assert stored(study) == expected
    # A rule that equals a preset is shown as the preset.
    address = reverse("annotation:campaign_edit", kwargs={"study": "isles", "campaign": "mixed"})
    shown = lead_client.get(address).context["form"]
    assert shown.initial["quota_presets"] == ["different_genders"]
    assert [shown[f"quota_{part}_1"].value() for part in ("kind", "number", "values")] == [
        "at_least", 1, "Kenya, Uganda"
    ]  # fmt: skip
    lead_client.post(address, form)
    assert stored(study) == []


def test_rows_are_added_and_removed_by_buttons_that_save_nothing(lead_client, study, form):
    first = row(kind="at_least", field="gender", values="woman")
    page = lead_client.post(NEW, form | first | {"action": "add rule"})
    assert page.context["form"].row_count == 2
    assert page.context["form"]["quota_values_1"].value() == "woman"
    two = form | first | row(2, values="Kenya")
    page = lead_client.post(NEW, two | {"action": "remove rule 1"})
    assert (page.context["form"].row_count, page.context["form"]["quota_values_1"].value()) == (1, "Kenya")
    assert not study.campaigns.exists()
    page = lead_client.post(NEW, two | {"action": "remove rule 99"})
    assert page.context["form"].row_count == 2


@pytest.mark.parametrize("count", ["", "-1", "99999999", "zwei", "²"])
def test_an_invalid_number_of_rows_is_one_row_or_the_maximum(lead_client, form, count):
    page = lead_client.post(NEW, form | {"quota_rows": count, "action": "recalculate"})
    assert page.context["form"].row_count == 1


@pytest.mark.parametrize(
    ("parts", "name", "sentence"),
    [
        ({"values": "Kenya, Atlantis"}, "quota_values_1", "“atlantis” is not a code for nationality."),
        ({"values": "Georgia"}, "quota_values_1", "“georgia” is not a code for nationality."),
        ({"values": ""}, "quota_values_1", "Give 1 to 250 values."),
        (
            {"values": "Kenya", "number": "4"},
            "quota_number_1",
            "4 of 3 annotators per task are not possible.",
        ),
        ({"values": "19", "field": "age_band"}, "quota_values_1", "“19” is not an age band"),
        (
            {"values": "group.shoe"},
            "quota_values_1",
            "A rule can refer to group.region or group.nationality.",
        ),
    ],
)
def test_an_impossible_rule_is_refused_beside_its_field(lead_client, study, form, parts, name, sentence):
    assert error_beside(lead_client.post(NEW, form | row(**parts) | {"action": "save"}), name).startswith(
        sentence
    )
    assert not study.campaigns.exists()


@pytest.mark.parametrize(
    ("second", "sentence"),
    [
        (
            {"kind": "at_least", "number": "2", "field": "gender", "values": "man"},
            "“At least 2 of each task’s annotators: gender is woman” and “At least 2 of each task’s annotators: gender "
            "is man” cannot both be met: 3 people answer each screen.",
        ),
        ({"kind": "at_most", "number": "1", "field": "gender", "values": "woman"}, "“At least 2 of each"),
    ],
)
def test_rules_that_contradict_each_other_are_named(lead_client, study, form, second, sentence):
    first = row(values="woman", field="gender") | {"quota_number_1": "2"}
    answer = lead_client.post(NEW, form | first | row(2, **second) | {"action": "save"})
    assert error_beside(answer, "quota_values_2").startswith(sentence)
    assert not study.campaigns.exists()


def test_the_form_says_how_many_people_the_rules_need(lead_client, study, form):
    rules = form | row(field="gender", values="woman") | {"screens_per_person": "2"}
    asking = reverse("annotation:draft_asking", args=["isles"])
    page = lead_client.post(asking, rules)
    (cell,) = page.context["cells"]
    screens = page.context["asking"].plan.screens
    assert screens == 3
    # One woman answers each of 3 screens, and a person 2 of them.
    assert (cell.name, cell.answers, cell.needed, cell.counted, cell.shortfall) == (
        "Gender: woman", 3, 2, 0, 2
    )  # fmt: skip
    assert "People for the quotas" in page.content.decode()


def test_the_campaign_says_who_is_missing_before_and_after_it_opened(lead_client, lead, study):
    add_images(study, 1)
    draft = lifecycle.create(
        study=study, name="Mixed", kind="stereotype_marking", by=lead,
        quotas=["at_least 1 gender = woman"], options={"screens_per_person": 1},
    )  # fmt: skip
    for gender in ("Frau", "not a woman", ""):
        profiles.describe(annotator=new_annotator(draft), gender=gender)
    address = reverse("annotation:campaign", args=["isles", draft.slug])
    (cell,) = lead_client.get(address).context["cells"]
    assert (cell.needed, cell.counted, cell.shortfall) == (3, 1, 2)
    launch = lead_client.get(reverse("annotation:campaign_launch", args=["isles", draft.slug]))
    assert launch.context["cells"] == (cell,)
    sentence = "2 of 3 who take part count toward no rule on gender"
    assert sentence in lead_client.get(address).content.decode()
    lifecycle.open_(campaign=draft, by=lead)
    page = lead_client.get(address)
    assert page.context["shown"].cells == [cell]
    assert sentence in page.content.decode()
