"""Creating and changing a draft of a campaign, and its preview of the tasks."""

import pytest

from annotation.campaigns import lifecycle
from annotation.kinds.options import Options
from annotation.kinds.registry import KINDS
from annotation.models import Campaign, Task
from tests.annotation.factories import add_images, add_prompted_images

pytestmark = pytest.mark.django_db
NEW = "/studies/isles/campaigns/new/"


@pytest.fixture
def marking_form():
    return {
        "kind": "stereotype_marking",
        "name": "What the images show",
        "visual_source": "all",
        "visual_rule": "unanimous",
        "random_per_stereotype": "1",
        "images_per_group": "",
        "annotators_per_task": "3",
        "attributes_per_screen": "5",
        "boxes_required": "on",
        "lease_minutes": "30",
        "pay": "2 crowns an hour",
        "guidelines": "Tick what you see.",
        "action": "save",
    }


def test_the_first_step_is_to_choose_a_kind(lead_client, study):
    page = lead_client.get(NEW).content.decode()
    assert "?kind=attribute_likert" in page
    assert "?kind=stereotype_marking" in page
    assert lead_client.get(NEW + "?kind=poetry").status_code == 404


def test_saving_a_draft_asks_nobody(lead_client, study, marking_form):
    add_images(study, 2)
    answer = lead_client.post(NEW, marking_form)
    campaign = Campaign.objects.get()
    assert answer["Location"].endswith("/campaigns/what-the-images-show/")
    assert (campaign.state, campaign.boxes_required) == ("draft", True)
    assert campaign.options["pay"] == "2 crowns an hour"
    assert campaign.instruments.get().guidelines == "Tick what you see."
    assert not Task.objects.exists()


def test_the_draft_shows_what_it_will_ask(lead_client, study, marking_form):
    add_images(study, 2)
    page = lead_client.post(NEW, marking_form, follow=True)
    asking = page.context["asking"]
    # 2 images of each group. Velmari: 3 stereotypes and 3 random attributes, 2 screens. Orsani lists a tall
    # hat besides, so that only 2 of Velmari's are left to draw: 5 attributes, 1 screen. Each answered by 3.
    assert (asking.plan.images, asking.plan.screens, asking.plan.judgements) == (4, 6, 2 * (6 + 5) * 3)
    assert asking.hours == pytest.approx(6 * 3 * 30 / 3600)
    assert "Orsani should get 3 random attributes, but the study has only 2" in page.content.decode()
    assert [group.name for group in asking.plan.groups] == ["Orsani", "Velmari"]


def test_recalculating_writes_nothing(lead_client, study, marking_form):
    add_images(study, 2)
    form = marking_form | {"action": "recalculate", "images_per_group": "1", "attributes_per_screen": "2"}
    answer = lead_client.post(NEW, form)
    assert answer.context["asking"].plan.screens == 2 * 3
    fragment = lead_client.post("/studies/isles/campaigns/new/asking/", form)
    assert fragment.context["asking"].plan.screens == 6
    assert not Campaign.objects.exists()


def test_a_draft_without_images_says_so(lead_client, study, marking_form):
    page = lead_client.post(NEW, marking_form, follow=True).content.decode()
    assert "no images to show" in page
    assert "Generate images" in page
    assert "Open campaign" not in page


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"name": ""}, "This field is required."),
        ({"annotators_per_task": "0"}, "greater than or equal to 1"),
        ({"attributes_per_screen": "6"}, "less than or equal to 5"),
        ({"lease_minutes": "soon"}, "Enter a whole number."),
        ({"guidelines": " "}, "This field is required."),
        ({"visual_source": "campaign:elsewhere"}, "not one of the available choices"),
    ],
)
def test_a_wrong_field_is_named(lead_client, study, marking_form, change, says):
    answer = lead_client.post(NEW, marking_form | change)
    assert answer.status_code == 400
    assert says in answer.content.decode()
    assert not Campaign.objects.exists()


def test_a_draft_can_be_changed(lead_client, draft, marking_form):
    edit = "/studies/isles/campaigns/drafted/edit/"
    page = lead_client.get(edit)
    assert page.context["form"].initial["annotators_per_task"] == 3
    lead_client.post(edit, marking_form | {"annotators_per_task": "2", "name": "Renamed"})
    draft.refresh_from_db()
    assert (draft.name, draft.annotators_per_task, draft.slug) == ("Renamed", 2, "drafted")


def test_changing_a_draft_keeps_what_the_form_does_not_ask(lead_client, study, lead, marking_form):
    lifecycle.create(
        study=study,
        name="Set",
        kind="stereotype_marking",
        by=lead,
        options={"condition": "target", "pay": "5"},
    )
    lead_client.post("/studies/isles/campaigns/set/edit/", marking_form | {"pay": ""})
    options = Campaign.objects.get().options
    assert options["condition"] == "target"
    assert "pay" not in options


def test_an_opened_campaign_cannot_be_changed(lead_client, marking, marking_form):
    answer = lead_client.post("/studies/isles/campaigns/marking/edit/", marking_form)
    assert answer.status_code == 409
    assert "fixed when the campaign opened" in answer.content.decode()


def test_a_draft_is_deleted_after_confirmation(lead_client, draft):
    url = "/studies/isles/campaigns/drafted/delete/"
    assert "Delete this draft?" in lead_client.get(url).content.decode()
    assert Campaign.objects.exists()
    lead_client.post(url)
    assert not Campaign.objects.exists()


def test_a_rating_can_be_the_source_of_a_marking(lead_client, study, rating, marking_form):
    add_images(study, 1)
    choices = (
        lead_client.get(NEW + "?kind=stereotype_marking").context["form"].fields["visual_source"].choices
    )
    assert ("campaign:ratings", "Attributes found visual by “Ratings”") in choices
    page = lead_client.post(NEW, marking_form | {"visual_source": "campaign:ratings"}, follow=True)
    assert "no rating yet" in page.content.decode()


def test_a_rating_asks_for_each_attribute_once(lead_client, study, marking_form):
    values = {**marking_form, "kind": "attribute_likert", "attributes": "all"}
    page = lead_client.post(NEW, values, follow=True)
    # 4 attributes listed for each group, “tall hat” for both.
    assert page.context["asking"].plan.screens == 7


def test_a_draft_of_a_rating_keeps_its_words(lead_client, study, lead):
    lifecycle.create(study=study, name="R", kind="attribute_likert", by=lead, guidelines="My words.")
    form = lead_client.get("/studies/isles/campaigns/r/edit/").context["form"]
    assert form.initial["guidelines"] == "My words."


def test_quota_rules_are_presets_that_are_ticked_and_shown_in_words(lead_client, study, marking_form):
    add_images(study, 1)
    filled = marking_form | {"name": "Mixed", "quota_presets": ["one_non_man", "different_nationalities"]}
    lead_client.post(NEW, filled)
    draft = study.campaigns.get(name="Mixed")
    assert draft.quota_rules.count() == 2
    page = lead_client.get(f"/studies/isles/campaigns/{draft.slug}/").content.decode()
    assert "gender given, and not man" in page
    assert "No two annotators have the same nationality" in page
    assert "Nobody who takes part has said anything about themselves yet" in page
    edit = lead_client.get(f"/studies/isles/campaigns/{draft.slug}/edit/").context["form"]
    assert set(edit.initial["quota_presets"]) == {"one_non_man", "different_nationalities"}
    assert edit.row_count == 1


def test_a_rating_offers_no_preset_about_the_group_shown(lead_client, study):
    offered = lead_client.get(f"{NEW}?kind=attribute_likert").context["form"].fields["quota_presets"].choices
    assert "from_the_country" not in dict(offered)
    assert "one_non_man" in dict(offered)


def questions_form(kind, **fields):
    return {
        "kind": kind,
        "name": "Questions",
        "combinations": "3",
        "images_per_group": "",
        "annotators_per_task": "3",
        "lease_minutes": "30",
        "reopen_withdrawn": "on",
        "guidelines": "Look at both.",
        "notices": list(Options.default("notices")),
        "action": "save",
    } | fields


@pytest.mark.parametrize(
    ("kind", "shown", "absent"),
    [
        ("pairwise", {"combinations"}, {"images_per_group", "condition"}),
        ("rubric", {"images_per_group"}, {"combinations", "condition"}),
    ],
)
def test_a_draft_of_questions_has_the_fields_that_apply(lead_client, study, kind, shown, absent):
    add_prompted_images(study, ["a {id} house"])
    fields = lead_client.get(f"{NEW}?kind={kind}").context["form"].fields.keys()
    assert shown | {"model_labels", "tasks_per_day", "guidelines"} <= fields
    about_attributes = {"attributes_per_screen", "boxes_required", "visual_source", "sensitive_per_day"}
    assert not (absent | about_attributes) & fields


def test_every_kind_is_offered_and_its_draft_shows_what_it_will_ask(lead_client, study):
    add_prompted_images(study, ["a {id} house"], models=("a", "b", "c"))
    offered = lead_client.get(NEW).content.decode()
    for kind in KINDS:
        assert f"?kind={kind}" in offered
        assert lead_client.get(f"{NEW}?kind={kind}").context["asking"].plan.problems is not None


def test_a_lead_saves_and_changes_a_draft_of_questions(lead_client, study):
    add_prompted_images(study, ["a {id} house"], per_prompt=2)
    page = lead_client.post(NEW, questions_form("pairwise"), follow=True)
    campaign = Campaign.objects.get()
    assert (campaign.kind, campaign.options) == ("pairwise", {"combinations": 3})
    assert campaign.instruments.get().guidelines == "Look at both."
    assert page.context["asking"].plan.screens == 2 * 3
    text = page.content.decode()
    assert "Which picture fits the description better?" in text
    assert "at most 3 for each prompt" in text
    assert "Stereotypes" not in text
    edit = f"/studies/isles/campaigns/{campaign.slug}/edit/"
    assert lead_client.get(edit).context["form"].initial["combinations"] == 3
    lead_client.post(edit, questions_form("pairwise", combinations="2"))
    campaign.refresh_from_db()
    assert campaign.options == {"combinations": 2}


def test_presets_about_the_group_are_offered_where_a_screen_shows_one_group(lead_client, study):
    add_prompted_images(study, ["a {id} house"])
    offered = dict(lead_client.get(f"{NEW}?kind=pairwise").context["form"].fields["quota_presets"].choices)
    assert "from_the_country" in offered


def test_texts_are_pasted_and_shown_as_lines(lead_client, study):
    form = questions_form("bias_level", texts="All islanders drum.\r\n\r\n  Some wear hats. \r\n")
    page = lead_client.post(NEW, form, follow=True)
    campaign = Campaign.objects.get()
    assert campaign.options == {"texts": ["All islanders drum.", "Some wear hats."]}
    assert page.context["asking"].plan.screens == 2
    assert "2, one a screen" in page.content.decode()
    edit = lead_client.get(f"/studies/isles/campaigns/{campaign.slug}/edit/")
    assert edit.context["form"].initial["texts"] == "All islanders drum.\nSome wear hats."
    assert edit.context["asking"].plan.screens == 2
    assert "presets" not in str(edit.context["form"].errors)


def test_the_form_asks_whether_places_are_required_where_the_kind_allows(lead_client, study, monkeypatch):
    add_prompted_images(study, ["a {id} house"])
    kind = KINDS["image_text"]
    assert "boxes_required" not in lead_client.get(f"{NEW}?kind=image_text").context["form"].fields
    faults = kind.question("faults")
    left_open = faults.model_copy(update={"region": faults.region.model_copy(update={"required": None})})
    questions = tuple(left_open if question == faults else question for question in kind.questions)
    monkeypatch.setitem(KINDS, "image_text", kind.model_copy(update={"questions": questions}))
    assert "boxes_required" in lead_client.get(f"{NEW}?kind=image_text").context["form"].fields


def sections_of(page):
    return {section.title: section for section in page.context["form"].parts()}


def test_rarely_changed_sections_are_folded_with_a_summary(lead_client, study, marking_form):
    add_images(study, 2)
    sections = sections_of(lead_client.get(f"{NEW}?kind=stereotype_marking"))
    unfolded = [title for title, section in sections.items() if section.is_open]
    assert unfolded == ["Questions", "Images", "Annotators"]
    assert "Guidelines: " in sections["Guidelines"].values
    marking_form |= {"pay_amount": "0.30", "pay_per": "task", "action": "recalculate"}
    pay = sections_of(lead_client.post(NEW, marking_form))["Pay"]
    assert not pay.is_open
    assert "Rate: 0.30" in pay.values


def test_a_section_with_an_error_is_unfolded(lead_client, study, marking_form):
    page = lead_client.post(NEW, marking_form | {"pay_amount": "-1"})
    assert page.status_code == 400
    sections = sections_of(page)
    assert sections["Pay"].is_open
    assert not sections["Notices"].is_open
