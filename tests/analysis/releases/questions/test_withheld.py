"""Data withheld from a release of declared questions: free text unless included, and people who left."""

import json

import pytest

from accounts.models import Annotator, AnnotatorProfile
from analysis.releases.privacy.people import people_of
from annotation.campaigns.images import retraction
from annotation.models import Annotation, Campaign, CopiedText, Enrolment, Judgement, Point, TaskStimulus
from foundation.errors import Conflict
from generation.models import Image
from studies import consent
from tests.analysis.releases.conftest import rows, tree

pytestmark = pytest.mark.django_db
SAID = "no kite, says"


def manifest(folder) -> dict:
    return json.loads((folder / "release.json").read_text())


def leave(study, source_id: str) -> Annotator:
    person = Annotator.objects.get(source_id=source_id)
    Annotator.objects.filter(pk=person.pk).update(origin="person", source_id="")
    consent.give(annotator=person, text=consent.current_text(study))
    consent.withdraw(annotator=person, study=study)
    return person


def test_own_words_are_in_no_file_unless_the_lead_includes_them(asked, released):
    _, folder = released(asked)
    for name, content in tree(folder).items():
        assert SAID.encode() not in content, name
    answers = rows(folder, "answers")
    assert "text" not in answers[0]
    assert not [answer for answer in answers if answer["question"] == "why"]
    card = (folder / "README.md").read_text()
    assert "48 answers in own words of Rubric: Free text is withheld unless the lead includes it." in card
    assert "Texts that annotators wrote are withheld." in card
    assert json.loads((folder / "privacy.json").read_text())["justifications"] == "withheld"


def test_own_words_are_released_as_they_are_where_the_lead_includes_them(asked, released):
    Judgement.objects.filter(pk=Judgement.objects.exclude(text=None).first().pk).update(text="=1+1\n<i>'\"")
    release, folder = released(asked, include_justifications=True)
    written = [answer["text"] for answer in rows(folder, "answers") if answer["question"] == "why"]
    assert sorted(written) == sorted(Judgement.objects.exclude(text=None).values_list("text", flat=True))
    assert '"\'=1+1\n<i>\'"""' in (folder / "csv" / "answers.csv").read_text()  # no formula in a spreadsheet
    assert (
        "The release includes what annotators wrote in their own words. The study's lead chose to include these texts."
        in (folder / "README.md").read_text()
    )
    without, _ = released(asked)
    assert (release.version, without.version) == (1, 2)


def copy_words(writer: str) -> None:
    """Let a screen show words that somebody wrote in another campaign."""
    shown = TaskStimulus.objects.filter(task__campaign__slug="rubric").exclude(text="").first()
    TaskStimulus.objects.filter(pk=shown.pk).update(text="copied words")
    CopiedText.objects.create(stimulus=shown, writer=Annotator.objects.get(source_id=writer))


def test_own_words_shown_in_another_campaign_are_withheld_there_too(asked, released):
    copy_words("p001")
    _, withheld = released(asked)
    _, included = released(asked, include_justifications=True)
    found = [
        "copied words" in {row["text"] for row in rows(folder, "stimuli")} for folder in (withheld, included)
    ]
    assert found == [False, True]
    assert b"copied words" not in b"".join(tree(withheld).values())


def test_a_point_that_belongs_to_own_words_stays_with_them(asked, released):
    text = Judgement.objects.exclude(text=None).first()
    Point.objects.create(judgement=text, x=0.123, y=0.5)
    _, withheld = released(asked)
    _, included = released(asked, include_justifications=True)
    found = [0.123 in {place["x"] for place in rows(folder, "places")} for folder in (withheld, included)]
    assert found == [False, True]


def test_withdrawn_annotators_are_in_no_later_release(asked, released):
    released(asked, include_justifications=True)
    leave(asked, "p001")
    second, folder = released(asked, include_justifications=True)
    assert second.version == 2
    assert len(rows(folder, "annotators")) == 3
    assert len(rows(folder, "annotations")) == 192 * 3 // 4
    assert (
        len(rows(folder, "answers"))
        == Judgement.objects.count() - Judgement.objects.filter(annotation__annotator__source_id="").count()
    )
    assert f"{SAID} <b>1" not in (folder / "jsonl" / "answers.jsonl").read_text()
    assert len(rows(folder, "places")) == 96 * 3 // 4
    changes = manifest(folder)["changes"]
    assert changes["annotators_gone"] == {"withdrawn": 1}
    assert changes["annotations_removed"] == {"withdrawn": 48}
    assert {one["slug"]: one["not_counted"] for one in manifest(folder)["campaigns"]} == {
        "pair": {"withdrawn": 18},
        "ranking": {"withdrawn": 6},
        "rubric": {"withdrawn": 24},
    }


def test_an_erased_annotator_leaves_no_answer(asked, released):
    first, _ = released(asked, include_justifications=True)
    Annotator.objects.get(source_id="p003").delete()
    second, folder = released(asked, include_justifications=True)
    assert (first.version, second.version) == (1, 2)
    assert len(rows(folder, "annotators")) == 3
    assert f"{SAID} <b>3" not in (folder / "jsonl" / "answers.jsonl").read_text()
    assert manifest(folder)["changes"]["annotators_gone"] == {"deleted": 1}


def test_a_screen_that_only_those_who_left_answered_is_not_released(asked, released):
    campaign = Campaign.objects.get(slug="rubric")
    screen = campaign.tasks.order_by("pk").first()
    screen.annotations.exclude(annotator__source_id="p001").delete()
    _, before = released(asked)
    leave(asked, "p001")
    _, after = released(asked)
    shown = [
        [row for row in rows(folder, "stimuli") if row["campaign"] == "rubric"] for folder in (before, after)
    ]
    assert len(shown[0]) - len(shown[1]) == 2
    answered = {row["task"] for row in rows(after, "annotations")}
    assert {row["task"] for row in rows(after, "stimuli")} == answered


def test_screens_of_a_retracted_image_are_left_out(asked, released, lead):
    image = Image.objects.order_by("pk").first()
    _, before = released(asked)
    retraction.retract(image=image, by=lead, reason="blurred")
    _, after = released(asked)
    gone = {row["image"] for row in rows(before, "images")} - {row["image"] for row in rows(after, "images")}
    assert len(gone) == 1
    assert not [row for row in rows(after, "stimuli") if row["image"] in gone]
    reasons = {one["slug"]: one["not_counted"] for one in manifest(after)["campaigns"]}
    assert reasons["rubric"] == {"retracted": 4}


def test_excluded_and_surplus_answers_are_left_out(asked, released):
    Enrolment.objects.filter(campaign__slug="pair", annotator__source_id="p000").update(state="excluded")
    one = Annotation.objects.filter(campaign__slug="ranking").first()
    Annotation.objects.filter(pk=one.pk).update(status=Annotation.Status.SURPLUS)
    _, folder = released(asked)
    reasons = {one["slug"]: one["not_counted"] for one in manifest(folder)["campaigns"]}
    assert reasons == {"pair": {"annotator_excluded": 18}, "ranking": {"surplus": 1}, "rubric": {}}
    assert len(rows(folder, "annotations")) == 192 - 18 - 1


def test_recognizable_people_are_left_out_with_their_answers(asked, released):
    """Two said the same of themselves; one of them leaves, and the first release tells who the other is."""
    for person, gender in zip(
        Annotator.objects.order_by("source_id"), ["Woman", "Woman", "Man", "Man"], strict=True
    ):
        AnnotatorProfile.objects.create(annotator=person, gender=gender)
    copy_words("p001")
    _, before = released(asked, k=2, include_justifications=True)
    assert "copied words" in {row["text"] for row in rows(before, "stimuli")}
    leave(asked, "p000")
    with pytest.raises(Conflict, match="recogni"):
        released(asked, k=2, include_justifications=True)
    _, folder = released(asked, k=2, include_justifications=True, leave_out_people=True)
    assert len(rows(folder, "annotators")) == 2
    assert len(rows(folder, "annotations")) == 192 // 2
    answered = {row["annotation"] for row in rows(folder, "annotations")}
    assert {row["annotation"] for row in rows(folder, "answers")} == answered
    assert f"{SAID} <b>1" not in (folder / "jsonl" / "answers.jsonl").read_text()
    assert "copied words" not in {row["text"] for row in rows(folder, "stimuli")}
    reasons = {one["slug"]: one["not_counted"] for one in manifest(folder)["campaigns"]}
    assert reasons["rubric"] == {"withdrawn": 24, "left_out": 24}


def test_people_who_answered_questions_alone_are_checked_for_privacy(asked):
    campaigns = list(Campaign.objects.filter(study=asked))
    assert len(people_of(campaigns, using="default").origins) == 4


def test_no_text_contains_database_keys_or_personal_data(asked, released, lead):
    _, folder = released(asked, include_justifications=True)
    hidden = [*Annotator.objects.values_list("pseudonym", flat=True), lead.username, lead.display_name]
    for path in folder.rglob("*"):
        if path.suffix in {".md", ".json", ".txt", ".csv", ".jsonl", ".xml", ".sha256"}:
            content = path.read_text(encoding="utf-8")
            assert not any(name in content for name in hidden), path
