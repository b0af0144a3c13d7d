"""Checks, repeats and practice of campaigns whose kind declares questions, worked by hand."""

import pytest
from django.urls import reverse
from django.utils import translation

from annotation.answers.questions import check_answers
from annotation.answers.questions.known_answers import Part
from annotation.campaigns import clone, known_tasks, lifecycle
from annotation.campaigns.images import retraction
from annotation.campaigns.planning.plan import PlannedStimulus
from annotation.kinds.questions import TextQuestion
from annotation.kinds.stimuli import Stimuli
from annotation.models import Annotation, Campaign, KnownAnswer, PracticeAnswer, QualityEvent, Task
from annotation.quality import enforcement, rules
from annotation.quality.measures import qualities
from annotation.quality.practice import rounds
from annotation.simulation.simulate import simulate
from foundation.errors import Conflict, DomainError, NotFound
from tests.annotation.api.test_labelling import Browser
from tests.annotation.factories import add_images, new_annotator
from tests.annotation.kinds.examples import PAIRWISE, RANKING, RUBRIC, declared, question_campaign
from tests.annotation.labelling.production_paths import ByVerbs

pytestmark = pytest.mark.django_db
GOLD, PRACTICE = Task.Purpose.GOLD, Task.Purpose.PRACTICE
FIT, FAULTS, WHY = Part("fitting"), Part("faults"), Part("why")
# The right answers for the screens of `checked`: it fits badly, and hands and text are wrong.
RIGHT = {FIT: [1, 2], FAULTS: ["hands", "text"]}


def campaign_of(study, kind, **more):
    add_images(study, 3)
    return question_campaign(study, kind, **more)


def screen(campaign, place=0):
    return known_tasks.as_screen(known_tasks.screens_of(campaign)[place])


def add(campaign, lead, answers, *, purpose=GOLD, place=0, **more):
    return known_tasks.add(
        campaign=campaign,
        purpose=purpose,
        by=lead,
        content=known_tasks.TaskContent(stimuli=screen(campaign, place).stimuli),
        answers=answers,
        **more,
    )


def settings_of(campaign, lead, **options):
    return lifecycle.change_settings(campaign=campaign, by=lead, options=options)


@pytest.fixture
def rubric(study) -> Campaign:
    return campaign_of(study, RUBRIC, screens=6)


def wrong_fields(refused):
    return set(refused.value.fields)


def test_a_check_shows_a_screen_of_the_campaign_and_is_scored_where_an_answer_is_known(rubric, lead):
    task = add(rubric, lead, RIGHT, explanations={FIT: "There is  no kite."})
    assert (task.purpose, task.wanted, task.image) == (GOLD, 0, None)
    assert known_tasks.shown_in(task) == screen(rubric).stimuli
    known = KnownAnswer.objects.filter(task=task).order_by("pk")
    assert list(known.values_list("question", "accepted", "explanation", "attribute", "present")) == [
        ("fitting", [1, 2], "There is no kite.", None, None),
        ("faults", ["hands", "text"], "", None, None),
    ]
    with pytest.raises(Conflict, match="already a task for this screen"):
        add(rubric, lead, RIGHT)
    known_tasks.change(task=task, by=lead, answers={FIT: {"least": 3, "most": 5}})
    assert task.known_answers.get().accepted == [3, 4, 5]


@pytest.mark.parametrize(
    ("answers", "field"),
    [
        ({}, "answers"),
        ({FIT: []}, "answers.fitting"),
        ({FIT: [1, 2, 3, 4, 5]}, "answers.fitting"),
        ({FIT: [7]}, "answers.fitting"),
        ({FIT: ["1"]}, "answers.fitting"),
        ({FIT: [True]}, "answers.fitting"),
        ({FIT: {"least": 1}}, "answers.fitting"),
        ({FAULTS: ["wings"]}, "answers.faults"),
        ({FAULTS: []}, "answers.faults"),
        ({WHY: ["a"]}, "answers.why"),
        ({Part("missing"): [0]}, "answers.missing"),
        ({Part("nothing"): [0]}, "answers.nothing"),
    ],
)
def test_impossible_right_answers_are_refused(rubric, lead, answers, field):
    with pytest.raises(DomainError) as refused:
        add(rubric, lead, answers)
    assert field in wrong_fields(refused)
    assert not Task.objects.filter(purpose=GOLD).exists()


def test_a_ranking_and_questions_of_each_picture_are_known(study, lead):
    campaign = campaign_of(study, RANKING)
    first, order = Part("odd", "s1"), Part("order")
    with pytest.raises(DomainError) as refused:
        add(campaign, lead, {order: {"s1": 1, "s2": 3, "s3": 3}})
    assert wrong_fields(refused) == {"answers.order"}
    with pytest.raises(DomainError) as refused:
        add(campaign, lead, {first: [1], Part("oddity", "s1"): ["small"]})
    assert wrong_fields(refused) == {"answers.oddity.s1"}  # asked only after 3
    task = add(
        campaign, lead, {first: [3], order: {"s1": 1, "s2": 1, "s3": 3}, Part("oddity", "s1"): ["small"]}
    )
    known = {
        (row.question, row.stimulus and row.stimulus.position): row.accepted
        for row in task.known_answers.all()
    }
    assert known == {("odd", 0): [3], ("oddity", 0): ["small"], ("order", None): [1, 1, 3]}


def test_screens_of_others_and_retracted_pictures_are_refused(rubric, study, lead):
    image = study.images.get(pk=screen(rubric).stimuli[0].image_id)
    with pytest.raises(DomainError, match="no such screen"):
        known_tasks.add(
            campaign=rubric,
            purpose=GOLD,
            by=lead,
            content=known_tasks.TaskContent(stimuli=[PlannedStimulus(image.pk)]),
            answers=RIGHT,
        )
    with pytest.raises(NotFound):
        known_tasks.screen_named(rubric, "elsewhere")
    stimuli = screen(rubric).stimuli
    retraction.retract(image=image, by=lead, reason="A real person.")
    with pytest.raises(DomainError, match="retracted"):
        known_tasks.add(
            campaign=rubric,
            purpose=GOLD,
            by=lead,
            content=known_tasks.TaskContent(stimuli=stimuli),
            answers=RIGHT,
        )


def test_a_kind_with_only_text_questions_has_no_checks(study, lead):
    kind = declared(
        "words", Stimuli(medium="image"), TextQuestion(name="why", label={"en": "Why?", "de": "Warum?"})
    )
    campaign = campaign_of(study, kind)
    with pytest.raises(Conflict, match="never right or wrong"):
        add(campaign, lead, {Part("why"): ["x"]})


def answered(fitting, faults, **more):
    return {"answers": {"fitting": fitting, "missing": [], "faults": faults, **more}, "regions": {}}


@pytest.fixture
def checked(rubric, lead) -> Campaign:
    """A campaign with two checks, which make up half of the given tasks."""
    for place in (0, 1):
        add(rubric, lead, RIGHT, place=place)
    return settings_of(rubric, lead, gold_share=0.5)


def label(campaign, annotator, answer_of):
    """Answer everything; return which tasks were checks, and the response to each answer."""
    path, purposes, told = ByVerbs(), [], []
    while (leased := path.next_task(campaign, annotator)) is not None:
        purposes.append(leased.purpose)
        told.append(path.submit(leased, by=annotator, answer=answer_of(leased)).shown_status)
    return purposes, set(told)


def test_checks_are_mixed_in_unseen_and_scored_question_by_question(checked):
    ada, ben = new_annotator(checked), new_annotator(checked)
    purposes, told = label(checked, ada, lambda leased: answered(2, ["text", "hands"]))
    assert (purposes.count("gold"), purposes.count("label"), told) == (2, 6, {"accepted"})
    label(checked, ben, lambda leased: answered(2, ["hands"]))
    rows = [(row.annotator_id, row.part.question, row.correct) for row in check_answers.gold_answers(checked)]
    assert sorted(set(rows)) == [
        (ada.pk, "faults", True), (ada.pk, "fitting", True), (ben.pk, "faults", False), (ben.pk, "fitting", True),
    ]  # fmt: skip
    assert len(rows) == 8
    measured = qualities(checked)
    assert (measured[ada.pk]["gold_accuracy"].value, measured[ada.pk]["gold_accuracy"].rests_on) == (1.0, 2)
    assert measured[ben.pk]["gold_accuracy"].value == 0.5
    assert Annotation.objects.filter(status="accepted").count() == 12
    assert {row.annotator_id for row in check_answers.gold_answers(checked, [ben.pk])} == {ben.pk}


def test_changed_right_answers_rescore_and_removed_checks_score_nobody(checked, lead):
    ada = new_annotator(checked)
    label(checked, ada, lambda leased: answered(5, ["none"]))
    assert qualities(checked)[ada.pk]["gold_accuracy"].value == 0.0
    golds = list(Task.objects.filter(purpose=GOLD).order_by("pk"))
    known_tasks.change(task=golds[0], by=lead, answers={FIT: [5]})
    assert qualities(checked)[ada.pk]["gold_accuracy"].value == 1 / 3
    known_tasks.remove(task=golds[1], by=lead)
    assert qualities(checked)[ada.pk]["gold_accuracy"].value == 1.0


def test_a_question_that_was_not_asked_is_not_scored(study, lead):
    campaign = campaign_of(study, PAIRWISE)
    add(campaign, lead, {Part("better"): ["s1", "tie"], Part("reason"): ["colour"]})
    settings_of(campaign, lead, gold_share=0.5)
    ada, ben = new_annotator(campaign), new_annotator(campaign)
    label(campaign, ada, lambda leased: {"answers": {"better": "tie"}})
    label(campaign, ben, lambda leased: {"answers": {"better": "s2", "reason": "colour"}})
    measured = qualities(campaign)
    assert measured[ada.pk]["gold_accuracy"].value == 1.0  # the reason is asked only after choosing one
    assert measured[ben.pk]["gold_accuracy"].value == 0.5


def test_failing_the_checks_pauses_by_a_rule(checked, lead):
    rules.set_rule(
        campaign=checked, by=lead, measure="gold_accuracy", action="pause", threshold=0.6, minimum=2
    )
    ben = new_annotator(checked)
    label(checked, ben, lambda leased: answered(5, ["none"]))
    enforcement.check(campaign=checked)
    assert QualityEvent.objects.get(enrolment__annotator=ben).measure == "gold_accuracy"
    assert ben.enrolments.get().state == "paused"


def test_repeats_compare_each_question_but_texts(rubric, lead):
    settings_of(rubric, lead, repeat_share=0.5, repeat_after=1)
    ada = new_annotator(rubric)
    seen = set()

    def answer(leased):
        again = leased.task_id in seen
        seen.add(leased.task_id)
        return answered(2, ["hands"] if again else ["text"], why="again" if again else "first")

    purposes, _ = label(rubric, ada, answer)
    repeats = purposes.count("repeat")
    assert repeats > 1
    rows = list(check_answers.repeated_answers(rubric))
    assert {(row.part.question, row.correct) for row in rows} == {
        ("fitting", True), ("missing", True), ("faults", False)
    }  # fmt: skip
    assert len(rows) == 3 * repeats
    assert qualities(rubric)[ada.pk]["self_consistency"].value == pytest.approx(2 / 3)


@pytest.fixture
def practised(rubric, lead) -> Campaign:
    add(rubric, lead, RIGHT, purpose=PRACTICE, explanations={FIT: "No <kite> there."})
    return settings_of(rubric, lead, practice_pass_mark=0.6, practice_attempts=2)


def test_practice_is_explained_and_opens_the_real_tasks(practised):
    browser = Browser(new_annotator(practised).user)
    assert browser.next(practised).json()["error"]["code"] == "practice_first"
    task = browser.post(f"campaigns/{practised.pk}/practice/next").json()
    assert task.keys() == {
        "task", "kind", "instrument", "layout", "stimuli", "prompt", "questions", "practice",
    }  # fmt: skip
    told = browser.post(f"practice/{task['task']}/answer", {"answer": answered(2, ["text"])}).json()
    assert (told["correct"], told["scored"], told["practice"]["state"]) == (1, 2, "open")
    assert told["questions"][0] == {
        "question": "fitting", "stimulus": None, "yours": 2, "right": [1, 2], "is_right": True,
        "explanation": "No <kite> there.",
    }  # fmt: skip
    assert [(one["question"], one["yours"], one["is_right"]) for one in told["questions"]] == [
        ("fitting", 2, True), ("faults", ["text"], False),
    ]  # fmt: skip
    again = browser.post(f"campaigns/{practised.pk}/practice/next").json()
    told = browser.post(
        f"practice/{again['task']}/answer", {"answer": answered(1, ["hands", "text"], why="x")}
    ).json()
    assert told["practice"]["state"] == "passed"
    assert browser.next(practised).status_code == 200
    assert not Annotation.objects.exists()
    assert PracticeAnswer.objects.count() == 2


def test_each_part_of_a_screen_is_explained_in_words(study, lead):
    campaign = campaign_of(study, RANKING)
    task = add(
        campaign, lead, {Part("odd", "s2"): [1], Part("order"): {"s1": 1, "s2": 1, "s3": 3}}, purpose=PRACTICE
    )
    annotator = new_annotator(campaign)
    assert rounds.next_task(campaign=campaign, annotator=annotator) == task
    answers = {"odd": {"s1": 1, "s2": 2, "s3": 1}, "order": {"s1": 1, "s2": 1, "s3": 3}}
    given = rounds.answer(task=task, annotator=annotator, data={"answers": answers})
    assert (given.correct, given.scored) == (1, 2)
    with translation.override("en"):
        told = {(one.question.name, one.ref): one for one in rounds.question_feedback(given)}
    assert told["odd", "s2"].correct is False
    assert told["odd", "s1"].correct is None
    assert told["order", ""].correct is True


@pytest.mark.django_db(transaction=True)
def test_simulated_annotators_learn_what_practice_explains(study, lead):
    study.simulated = True
    study.save()
    campaign = campaign_of(study, RANKING, annotators=1)
    right = {Part("order"): [3, 2, 1], Part("odd", "s1"): [3], Part("oddity", "s1"): ["large"]}
    add(campaign, lead, right, purpose=PRACTICE)
    settings_of(campaign, lead, practice_pass_mark=1.0, practice_attempts=3)
    assert simulate(campaign=campaign, annotators=1, seed=1).submissions == 3


def test_a_copy_has_the_same_checks(checked, lead):
    copy = clone.clone(campaign=checked, by=lead)
    copied = copy.tasks.filter(purpose=GOLD)
    assert [known_tasks.shown_in(task) for task in copied] == [
        known_tasks.shown_in(task) for task in checked.tasks.filter(purpose=GOLD)
    ]
    assert {(row.question, tuple(row.accepted)) for row in KnownAnswer.objects.filter(task__in=copied)} == {
        ("fitting", (1, 2)), ("faults", ("hands", "text")),
    }  # fmt: skip


def address(name, campaign, *more):
    return reverse(f"annotation:{name}", args=[campaign.study.slug, campaign.slug, *more])


def test_a_lead_makes_a_check_and_sees_how_people_answered(rubric, lead_client):
    chosen = lead_client.get(address("known_new", rubric))
    assert len(chosen.context["screens"]) == 6
    form = f"{address('known_new', rubric)}?screen={chosen.context['screens'][0][0]}"
    fields = list(lead_client.get(form).context["form"].fields)
    assert fields == [
        "answer_fitting",
        "explanation_fitting",
        "answer_faults",
        "explanation_faults",
        "purpose",
    ]
    refused = lead_client.post(form, {"purpose": "gold", "answer_fitting": ["1", "2", "3", "4", "5"]})
    assert refused.status_code == 400
    assert "but not all" in refused.content.decode()
    said = {"purpose": "gold", "answer_fitting": ["1", "2"], "explanation_fitting": "No kite."}
    assert lead_client.post(form, said).headers["Location"] == address("known_tasks", rubric)
    page = lead_client.get(address("known_tasks", rubric))
    ((shown, stimuli),) = page.context["shown"]
    assert [line.right for line in shown.lines] == ["fitting 1 or fitting 2", ""]
    assert len(stimuli) == 2
    lifecycle.change_settings(campaign=rubric, by=None, options={"gold_share": 0.5})
    label(rubric, new_annotator(rubric), lambda leased: answered(5, ["none"]))
    ((shown, _),) = lead_client.get(address("known_tasks", rubric)).context["shown"]
    assert (shown.lines[0].answered, shown.lines[0].agreed) == (1, 0)
    change = lead_client.get(address("known_change", rubric, shown.task.public_id))
    assert change.context["form"].initial["answer_fitting"] == ["1", "2"]
    lead_client.post(address("known_change", rubric, shown.task.public_id), {"answer_fitting": ["5"]})
    ((shown, _),) = lead_client.get(address("known_tasks", rubric)).context["shown"]
    assert (shown.lines[0].answered, shown.lines[0].agreed) == (1, 1)
    lead_client.post(address("known_remove", rubric, shown.task.public_id))
    assert lead_client.get(address("known_tasks", rubric)).context["shown"] == []


def test_an_answer_becomes_a_check(study, lead, lead_client):
    campaign = campaign_of(study, RANKING)
    annotator = new_annotator(campaign)
    leased = ByVerbs().next_task(campaign, annotator)
    answers = {"odd": {"s1": 1, "s2": 2, "s3": 1}, "order": {"s1": 1, "s2": 1, "s3": 3}}
    given = ByVerbs().submit(leased, by=annotator, answer={"answers": answers}).annotation
    assert (
        "Use this screen as a check"
        in lead_client.get(address("annotation", campaign, given.pk)).content.decode()
    )
    form = f"{address('known_new', campaign)}?annotation={given.pk}"
    initial = lead_client.get(form).context["form"].initial
    assert (initial["answer_odd.s2"], initial["answer_order"]) == (["2"], "1 1 3")
    lead_client.post(form, {"purpose": "practice", "answer_order": "1, 1, 3", "answer_odd.s1": ["1"]})
    ((shown, _),) = lead_client.get(address("known_tasks", campaign)).context["shown"]
    assert [line.right for line in shown.lines if line.scored] == [
        "odd 1", "Picture 1: 1, Picture 2: 1, Picture 3: 3",
    ]  # fmt: skip
    assert shown.lines[0].text == "How odd? (Picture 1)"
