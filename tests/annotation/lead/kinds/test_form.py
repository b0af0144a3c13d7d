"""Declaring a kind in a form without scripts, by the data that a browser would send."""

import json

import pytest
from django.http import QueryDict
from django.test import Client
from django.urls import reverse
from hypothesis import given

from annotation.campaigns import lifecycle
from annotation.kinds import study_kinds
from annotation.kinds.declaration import Kind
from annotation.kinds.registry import KINDS, kind_of
from annotation.lead.kinds.draft import draft_of, read, written
from annotation.models import Campaign, StudyKind
from foundation.languages import DRAFT_TRANSLATION
from tests.annotation.factories import add_prompted_images
from tests.annotation.kinds.strategies import kinds
from tests.annotation.kinds.test_adding_a_kind import shown
from tests.annotation.lead.kinds.steps import NEW, controls, press

OF_QUESTIONS = [kind for kind in KINDS.values() if not kind.about_attributes]
EDIT = reverse("annotation:kind_edit", args=["isles", "calm_scenes"])
RUBRIC = f"{NEW}?from=rubric"


def sent_and_read(kind: Kind) -> Kind:
    """Return the kind that comes back from its own form."""
    sent = QueryDict(mutable=True)
    for name, values in written(draft_of(kind)).lists():
        sent.setlist(name, values)
    return Kind.model_validate(read(QueryDict(sent.urlencode())))


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.key)
def test_every_built_in_kind_survives_its_form(kind):
    assert sent_and_read(kind) == kind


@given(kinds())
def test_any_kind_survives_its_form(kind):
    def plain(declared: Kind) -> dict:
        draft = draft_of(declared)
        for question in draft["questions"]:
            for part, name in (("when", "answers"), ("region", "after")):
                if part in question:  # in the order of the answers, not of the file
                    question[part][name] = sorted(question[part][name], key=str)
        return draft

    assert plain(sent_and_read(kind)) == plain(kind)


@pytest.mark.django_db
class TestPage:
    @pytest.fixture
    def calm(self, study, lead):
        return study_kinds.add(study=study, content=shown("declaration").encode(), by=lead)

    @pytest.mark.parametrize("kind", OF_QUESTIONS, ids=lambda kind: kind.key)
    def test_a_copy_is_saved_as_the_kind_that_it_copies(self, lead_client, study, kind):
        page = lead_client.get(f"{NEW}?from={kind.key}")
        assert page.context["form"].has_errors is False
        saved = press(lead_client, NEW, page, "save", key="own", name=kind.name)
        assert saved.headers["Location"] == reverse("annotation:kind", args=["isles", "own"])
        expected = kind.model_copy(update={"key": "own", "public_name": "questions"})
        assert Kind.model_validate(StudyKind.objects.get().declaration) == expected

    def test_a_kind_about_attributes_is_shown_and_cannot_be_saved(self, lead_client, study):
        page = lead_client.get(f"{NEW}?from=stereotype_marking")
        refused = press(lead_client, NEW, page, "save")
        assert refused.status_code == 400
        assert refused.context["form"].errors.keys() == {"unit"}
        assert not StudyKind.objects.exists()

    def test_a_kind_is_changed_and_its_campaigns_keep_it(self, lead_client, study, lead, calm):
        add_prompted_images(study, ["a {id} house"], models=("north", "south", "east"))
        draft = lifecycle.create(study=study, name="Calm", kind="calm_scenes", by=lead)
        lifecycle.open_(campaign=draft, by=lead)
        before = Kind.model_validate(calm.declaration)
        page = lead_client.get(EDIT)
        assert "1 existing campaign" in page.content.decode()
        unchanged = press(lead_client, EDIT, page, "save")
        assert unchanged.status_code == 302
        assert Kind.model_validate(StudyKind.objects.get().declaration) == before
        press(lead_client, EDIT, page, "save", **{"questions.0.label.en": "How still is it?"})
        now = Kind.model_validate(StudyKind.objects.get().declaration)
        assert now.questions[0].label["en"] == "How still is it?"
        assert kind_of(Campaign.objects.get()).questions[0].label["en"] == "How calm is this scene?"

    def test_the_key_of_a_kind_stays_when_it_is_changed(self, lead_client, study, calm):
        page = lead_client.get(EDIT)
        press(lead_client, EDIT, page, "save", key="another")
        assert StudyKind.objects.get().key == "calm_scenes"

    def test_a_new_kind_replaces_no_other(self, lead_client, study, calm):
        page = lead_client.get(RUBRIC)
        refused = press(lead_client, NEW, page, "save", key="calm_scenes")
        assert refused.status_code == 400
        assert "choose another key" in refused.context["form"].errors["key"][0]
        assert StudyKind.objects.get().declaration == calm.declaration

    def test_built_in_and_unknown_kinds_cannot_be_edited(self, lead_client, study):
        for key in ("rubric", "nothing"):
            address = reverse("annotation:kind_edit", args=["isles", key])
            assert lead_client.get(address).status_code == 404
            assert lead_client.post(address, {"action": "save"}).status_code == 404
        assert lead_client.get(f"{NEW}?from=nothing").status_code == 404

    def test_only_leads_of_the_study_change_its_kinds(self, analyst_client, stranger_client, study, calm):
        for address in (NEW, EDIT):
            assert analyst_client.get(address).status_code == 403
            assert analyst_client.post(address, {"action": "save"}).status_code == 403
            assert stranger_client.get(address).status_code == 404
            assert stranger_client.post(address, {"action": "save"}).status_code == 404
        page = analyst_client.get(reverse("annotation:kinds", args=["isles"])).content.decode()
        assert NEW not in page
        assert EDIT not in page

    def test_typed_text_is_escaped(self, lead_client, study):
        page = lead_client.get(RUBRIC)
        hostile = '"><script>alert(1)</script>'
        typed = {"name": hostile, "questions.0.label.en": hostile, "questions.4.answers.0.label.de": hostile}
        for action in ("check", "save"):
            answer = press(lead_client, NEW, page, action, key="Own Key", **typed).content.decode()
            assert "<script>alert" not in answer
            # The preview is a page in an attribute, and so is escaped twice.
            assert "&amp;lt;script&amp;gt;alert" in answer


@pytest.mark.django_db
class TestErrors:
    def refused(self, client, **typed):
        answer = press(client, NEW, client.get(RUBRIC), "save", **({"key": "own"} | typed))
        assert answer.status_code == 400
        assert not StudyKind.objects.exists()
        return answer

    @pytest.mark.parametrize(
        ("typed", "field", "text"),
        [
            ({"name": ""}, "name", "Fill in this field."),
            ({"key": "Own Kind"}, "key", "is not a valid name"),
            ({"key": "rubric"}, "key", "There is already a built-in kind rubric"),
            ({"stimuli.most": "7"}, "stimuli.most", "a whole number from 1 to 6"),
            ({"stimuli.least": "many"}, "stimuli.least", "a whole number from 1 to 6"),
            ({"stimuli.medium": "video"}, "stimuli.medium", "image"),
            ({"stimuli.least": "2"}, "stimuli.least", "The minimum of 2 stimuli is above the maximum of 1."),
            (
                {"questions.0.label.en": "How odd?", "questions.0.label.de": " "},
                "questions.0.label.de",
                "Fill in this field.",
            ),
            ({"questions.1.name": "realism"}, "questions.1.name", "Question realism is declared twice."),
            ({"questions.0.points.1.code": "1"}, "questions.0.points.1.code", "declared twice"),
            ({"questions.0.points.1.code": "x"}, "questions.0.points.1.code", "from -100 to 100"),
            ({"questions.3.when.answers": []}, "questions.3.when.answers", "There must be at least 1."),
            ({"questions.3.longest": "0"}, "questions.3.longest", "from 1 to 10,000"),
            ({"questions.4.answers.0.code": "A b"}, "questions.4.answers.0.code", "is not a valid name"),
            ({"measures": []}, "measures", "There must be at least 1."),
            ({"measures": ["win_rate"]}, "measures", "can read none of its questions"),
            ({"measures": ["beauty"]}, "measures", "does not exist"),
            ({"standard_rules.1.threshold": "2"}, "standard_rules.1.threshold", "a share"),
            ({"standard_rules.0.minimum": ""}, "standard_rules.0.minimum", "Fill in this field."),
        ],
        ids=str,
    )
    def test_an_error_is_shown_at_its_field(self, lead_client, study, typed, field, text):
        answer = self.refused(lead_client, **typed)
        form = answer.context["form"]
        assert text in " ".join(form.errors[field])
        page = answer.content.decode()
        assert f'href="#id_{field}"' in page
        assert f"id_{field}" in controls(answer).ids
        assert 'aria-invalid="true"' in page or field == "measures"

    def test_input_is_kept_after_an_error(self, lead_client, study):
        answer = self.refused(lead_client, **{"stimuli.most": "x", "questions.0.label.en": "How odd?"})
        sent = controls(answer).sent
        assert (sent["stimuli.most"], sent["questions.0.label.en"]) == ("x", "How odd?")

    def test_a_question_that_does_not_fit_is_named(self, lead_client, study):
        page = press(lead_client, NEW, lead_client.get(RUBRIC), "add questions rank")
        labels = {
            "questions.5.label.en": "In which order?",
            "questions.5.label.de": "In welcher Reihenfolge?",
        }
        answer = press(lead_client, NEW, page, "save", key="own", **labels)
        assert answer.context["form"].part_errors == {
            "questions.5": ["Rank_1 needs three or more stimuli to rank."]
        }
        assert "part_questions.5" in controls(answer).ids

    def test_several_errors_are_shown_together(self, lead_client, study):
        answer = self.refused(
            lead_client, **{"questions.1.name": "realism", "questions.0.points.1.code": "1"}
        )
        assert answer.context["form"].errors.keys() == {"questions.1.name", "questions.0.points.1.code"}

    def test_during_editing_only_errors_are_shown_and_missing_fields_counted(self, lead_client, study):
        page = lead_client.get(NEW)
        assert page.context["form"].has_errors is False
        answer = press(lead_client, NEW, page, "check", key="Own Kind")
        assert answer.status_code == 200
        assert answer.context["form"].errors.keys() == {"key"}
        assert "8 fields are still to be filled in." in answer.content.decode()


@pytest.mark.django_db
class TestRows:
    def test_questions_and_answers_are_added_moved_and_removed(self, lead_client, study):
        page = lead_client.get(RUBRIC)
        page = press(lead_client, NEW, page, "add questions text")
        assert "autofocus" in page.content.decode()
        assert page.context["form"].change.sentence == "Question 6 is added."
        page = press(lead_client, NEW, page, "up questions.5")
        assert page.context["form"].change.focus == "questions.4"
        names = [question["name"] for question in page.context["form"].draft["questions"]]
        assert names == ["realism", "appeal", "favour", "reason", "text_1", "harms"]
        page = press(lead_client, NEW, page, "remove questions.4")
        page = press(lead_client, NEW, page, "add questions.0.points")
        page = press(lead_client, NEW, page, "down questions.4.answers.0")
        draft = page.context["form"].draft
        assert [point["code"] for point in draft["questions"][0]["points"]] == [1, 2, 3, 4, 5, 6]
        assert [one["code"] for one in draft["questions"][4]["answers"]][:2] == ["violence", "distorted"]

    def test_a_condition_follows_its_question_and_answer(self, lead_client, study):
        page = lead_client.get(RUBRIC)
        page = press(lead_client, NEW, page, "up questions.2")
        page = press(
            lead_client,
            NEW,
            page,
            "check",
            **{"questions.1.name": "flattery", "questions.1.points.0.code": "9"},
        )
        when = page.context["form"].draft["questions"][3]["when"]
        assert when == {"question": "flattery", "answers": [9, 2]}
        page = press(lead_client, NEW, page, "check", **{"questions.3.when.question": "0"})
        assert page.context["form"].draft["questions"][3]["when"]["question"] == "realism"
        page = press(lead_client, NEW, page, "check", **{"questions.3.when.question": ""})
        assert "when" not in page.context["form"].draft["questions"][3]

    def test_there_are_no_more_rows_than_declared(self, lead_client, study):
        page = lead_client.get(RUBRIC)
        for _ in range(6):
            page = press(lead_client, NEW, page, "add questions.0.points")
        assert "add questions.0.points" not in controls(page).buttons
        for _ in range(15):
            page = press(lead_client, NEW, page, "add questions text")
        assert "add questions text" not in controls(page).buttons

    @pytest.mark.parametrize(
        "action",
        [
            "", "add", "add questions", "add questions poem", "add questions.9.points", "add measures",
            "remove questions.9", "remove questions.x", "remove stimuli.most", "up questions.0",
            "down questions.99", "up questions.0.points.x", "choose questions", "add questions.0.name", "save all",
        ],
    )  # fmt: skip
    def test_an_unknown_button_changes_nothing(self, lead_client, study, action):
        page = press(lead_client, NEW, lead_client.get(RUBRIC), "check")
        sent = controls(page).sent
        sent["action"] = action
        answer = lead_client.post(NEW, sent.urlencode(), content_type="application/x-www-form-urlencoded")
        assert answer.status_code == 200
        assert written(answer.context["form"].draft) == written(page.context["form"].draft)

    def test_measures_follow_from_questions_and_unit(self, lead_client, study):
        page = press(lead_client, NEW, lead_client.get(NEW), "add questions scale")
        reasons = {one.name: one.reason for one, _ in page.context["form"].offered if not one.reads}
        assert reasons["plackett_luce"] == "The measure needs another unit: set of images."
        assert reasons["shares"] == "The measure needs a choice."
        assert (
            reasons["box_agreement"]
            == "The measure needs a choice or scale or text that asks for a box in the image."
        )
        assert page.context["form"].unread == ["scale_1"]
        page = press(lead_client, NEW, page, "choose measures")
        chosen = [one.name for one, is_chosen in page.context["form"].offered if is_chosen]
        assert chosen == ["means", "point_shares", "group_differences", "model_differences", "alpha_ordinal"]
        assert page.context["form"].unread == []
        page = press(lead_client, NEW, page, "add questions choice")
        assert "shares" in {one.name for one, _ in page.context["form"].offered if one.reads}


@pytest.mark.django_db
class TestHostileForms:
    def test_indices_and_types_out_of_range_are_no_errors_of_the_server(self, lead_client, study):
        sent = controls(lead_client.get(RUBRIC)).sent
        sent.update({
            "questions.3.when.question": "99",
            "questions.999.type": "scale",
            "questions.77.type": "poem",
            "questions.0.points.500.code": "5",
            "questions.-1.type": "text",
            "questions.1e3.type": "text",
            "questions.0.points.0.code": "9" * 5_000,
            "stimuli.least": "\x00",
            "measures.order": "\x00 means",
        })  # fmt: skip
        for action in ("check", "save", "add questions text", "choose measures", "screen"):
            sent["action"] = action
            body = sent.urlencode() if action != "screen" else "action=screen&questions.0.type=rank"
            answer = lead_client.post(NEW, body, content_type="application/x-www-form-urlencoded")
            assert answer.status_code in {200, 400, 404}

    def test_the_largest_form_is_read(self, lead_client, study):
        answers = [{"code": f"c{number}", "label": {"en": "a", "de": "b"}} for number in range(40)]
        question = {"type": "choice", "label": {"en": "a", "de": "b"}, "answers": answers}
        asked = [{**question, "name": f"q{number}"} for number in range(20)]
        for one in asked[1:]:
            one["when"] = {"question": "q0", "answers": [answer["code"] for answer in answers]}
            one["region"] = {"shape": "box", "after": [answer["code"] for answer in answers]}
        declared = json.loads(study_kinds.as_file(KINDS["rubric"]))
        declared |= {"key": "own", "questions": asked, "measures": ["shares"]}
        page = lead_client.get(NEW)
        sent = QueryDict(mutable=True)
        for name, values in written(declared).lists():
            sent.setlist(name, values)
        sent["action"] = "save"
        saved = lead_client.post(NEW, sent.urlencode(), content_type="application/x-www-form-urlencoded")
        assert (page.status_code, saved.status_code) == (200, 302)
        assert len(StudyKind.objects.get().declaration["questions"]) == 20


@pytest.mark.django_db
class TestSignedOut:
    def test_input_is_kept_after_signing_in_again(self, lead_client, lead, study):
        page = lead_client.get(RUBRIC)
        guest = Client()
        away = press(guest, NEW, page, "save", key="own", name="Typed long")
        assert away.status_code == 302
        assert not StudyKind.objects.exists()
        guest.post(away.headers["Location"], {"username": "lena", "password": "a long password"})
        back = guest.get(NEW)
        assert "You were signed out" in back.content.decode()
        assert controls(back).sent["name"] == "Typed long"
        saved = press(guest, NEW, back, "save")
        assert saved.status_code == 302
        assert StudyKind.objects.get().declaration["name"] == "Typed long"
        assert "You were signed out" not in guest.get(NEW).content.decode()

    def test_kept_input_can_be_discarded(self, lead_client, lead, study):
        guest = Client()
        press(guest, NEW, lead_client.get(RUBRIC), "save", name="Typed long")
        guest.force_login(lead)
        assert "Typed long" not in guest.get(f"{NEW}?discard=1").content.decode()
        assert "Typed long" not in guest.get(NEW).content.decode()

    def test_kept_input_is_not_shown_to_others(self, lead_client, study, stranger, django_user_model):
        from studies.models import StudyMembership

        guest = Client()
        press(guest, NEW, lead_client.get(RUBRIC), "save", name="Typed long")
        StudyMembership.objects.create(study=study, user=stranger, role="lead")
        guest.post(
            f"/account/sign-in/?next={NEW}", {"username": stranger.username, "password": "a long password"}
        )
        answer = guest.get(NEW)
        assert answer.status_code == 200
        assert "Typed long" not in answer.content.decode()

    def test_a_stranger_keeps_nothing_large_in_a_session(self, study):
        guest = Client()
        guest.post(NEW, {"mark": "x", "name": "y" * 500_000})
        assert "kind_draft" not in guest.session


@pytest.mark.parametrize(("language", "words"), [("hi", "भेजें"), ("es", "Enviar")])
def test_the_screen_is_shown_in_a_draft_language_with_a_note(lead_client, study, language, words):
    page = press(lead_client, NEW, lead_client.get(RUBRIC), "check", preview_language=language)
    assert DRAFT_TRANSLATION in page.content.decode()
    assert words in page.context["screen_page"]
    assert DRAFT_TRANSLATION not in page.context["screen_page"]
    assert DRAFT_TRANSLATION not in lead_client.get(RUBRIC).content.decode()


def test_a_kind_of_your_own_is_shown_in_the_languages_that_it_has(lead_client, study):
    changed = {"questions.0.label.en": "How odd?", "questions.0.label.de": "Wie seltsam?"}
    page = press(lead_client, NEW, lead_client.get(RUBRIC), "check", preview_language="hi", **changed)
    assert [code for code, _ in page.context["languages"]] == ["en", "de"]
    assert "How odd?" in page.context["screen_page"]
