"""Campaigns of declared questions in a real Label Studio: sent, answered there, and read with the same meaning."""

from xml.etree import ElementTree

import pytest

from annotation.answers.questions.stimuli import screen_questions
from annotation.answers.validation import answer_of
from annotation.campaigns import lifecycle
from annotation.kinds import study_kinds
from annotation.kinds.registry import KINDS, kind_of
from annotation.label_studio.base import job_queue
from annotation.label_studio.format.questions.interface import questions_interface
from annotation.label_studio.models import LabelStudioAnnotation, LabelStudioBridge
from annotation.models import Annotation, Campaign, TaskStimulus
from tests.annotation.factories import add_prompted_images, new_annotator
from tests.annotation.kinds.examples import EXAMPLES
from tests.annotation.kinds.test_adding_a_kind import shown
from tests.annotation.label_studio.format.test_questions import enter
from tests.annotation.label_studio.front_end import Screen
from tests.services.label_studio.annotators import hands_of, there
from tests.services.label_studio.proxy import wire_to
from tests.services.label_studio.push.campaigns import ask
from tests.services.label_studio.study import Ways, bridged, do_jobs, known

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]
OWN = study_kinds.from_file(shown("declaration").encode())
BOX = {"x": 0.1, "y": 0.2, "width": 0.3, "height": 0.4}
# Two answers for each kind, because later questions depend on earlier answers.
ANSWERS = {
    "calm_scenes": [
        {
            "answers": {
                "calm": {"s1": 1, "s2": 3, "s3": 0},
                "colour": {"s1": 2, "s2": 1, "s3": 2},
                "disturbs": {"s1": "weather"},
            },
            "regions": {"calm": [{"stimulus": "s1", **BOX}]},
        },
        {
            "answers": {
                "calm": {"s1": 2, "s2": 1, "s3": 1},
                "colour": {"s1": 1, "s2": 1, "s3": 1},
                "disturbs": {"s2": "crowd", "s3": "weather"},
            },
            "regions": {
                "calm": [{"stimulus": "s2", **BOX}, {"stimulus": "s3", **BOX}, {"stimulus": "s3", **BOX}]
            },
        },
    ],
    "pairwise": [
        {"answers": {"fits_prompt": "s2", "overall": "tie"}, "regions": {}},
        {"answers": {"fits_prompt": "tie", "overall": "s1"}, "regions": {}},
    ],
    "rubric": [
        {
            "answers": {
                "realism": 5,
                "appeal": 3,
                "favour": 2,
                "reason": "Too dark – „so“ 🪁",
                "harms": ["distorted", "mockery"],
            },
            "regions": {},
        },
        {"answers": {"realism": 1, "appeal": 1, "favour": 4, "harms": ["none"]}, "regions": {}},
    ],
    "ranking": [
        {"answers": {"order": {"s1": 2, "s2": 1, "s3": 2}}, "regions": {}},
        {"answers": {"order": {"s1": 3, "s2": 2, "s3": 1}}, "regions": {}},
    ],
    "image_text": [
        {
            "answers": {"alignment": 2, "missing": [1, 4], "faults": "small"},
            "regions": {"faults": [{"stimulus": "s1", "x": 0.25, "y": 0.75}]},
        },
        {"answers": {"alignment": 5, "missing": [], "faults": "none"}, "regions": {}},
    ],
    "pair_check": [
        {"answers": {"alike": "different", "difference": "The light <b>."}, "regions": {}},
        {"answers": {"alike": "small_differences"}, "regions": {}},
    ],
    "answer_coding": [
        {"answers": {"code": "second"}, "regions": {}},
        {"answers": {"code": "refused"}, "regions": {}},
    ],
}


@pytest.fixture
def wire(live_server, settings):
    with wire_to(live_server.url) as wire:
        settings.SITE_URL = wire.url
        yield wire


@pytest.fixture
def hands(label_studio):
    with hands_of(label_studio, label_studio.annotators[:4]) as hands:
        yield hands


def opened(study, lead, kind) -> Campaign:
    """Return an open campaign of this kind, for two people."""
    add_prompted_images(study, ["a {id} house by the sea"], models=("north", "south", "east"))
    if kind not in KINDS:
        study_kinds.add(study=study, content=shown("declaration").encode(), by=lead)
    texts = kind in KINDS and KINDS[kind].stimuli.medium == "text"
    options = (
        {"texts": ["A baker or a weaver? – Probably <i>a weaver</i>.", "Both & neither."]} if texts else {}
    )
    draft = lifecycle.create(
        study=study, name=f"All of {kind}", kind=kind, options=options, by=lead, annotators_per_task=2
    )
    return lifecycle.open_(campaign=draft, by=lead)


@pytest.mark.parametrize("kind", ANSWERS)
def test_what_is_answered_there_is_what_is_stored_here(study, lead, label_studio, wire, hands, kind):
    campaign = opened(study, lead, kind)
    here = [new_annotator(campaign) for _ in range(2)]
    owner = label_studio.owner
    bridge = bridged(campaign, "per_slot", url=label_studio.url, token=owner.token, lead=lead)
    wire.drop()
    projects = list(bridge.projects.order_by("slot"))
    tasks = list(campaign.tasks.order_by("pk"))
    for hand, project in zip(hands[:2], projects, strict=True):
        xml = hand.ask("GET", f"projects/{project.external_id}/")["label_config"]
        for task, answer in zip(tasks, ANSWERS[kind], strict=False):
            number = there(project, task)
            screen = Screen(xml, hand.ask("GET", f"tasks/{number}/")["data"])
            enter(screen, screen_questions(task), answer)
            assert screen.missing() == []
            hand.answer(number, screen.results())
    Ways(wire, [bridge]).webhooks()
    assert not Annotation.objects.exists()  # nobody has been matched yet
    known([bridge], hands[:2], here, lead)
    for annotator in here:
        for task, answer in zip(tasks, ANSWERS[kind], strict=False):
            stored = Annotation.objects.get(task=task, annotator=annotator, status="accepted")
            read = answer_of(stored).questions.as_json(kind_of(campaign))
            assert read["answers"] == answer["answers"]
            assert read["regions"].keys() == answer["regions"].keys()
            for name, places in answer["regions"].items():
                assert [pytest.approx(place) for place in places] == read["regions"][name]
            task.refresh_from_db()
            assert task.held == 2
    # A full comparison, with the data as the server writes them, changes nothing.
    before = list(Annotation.objects.order_by("pk").values())
    job_queue.start_reconcile(bridge=bridge, by=None)
    do_jobs()
    assert list(Annotation.objects.order_by("pk").values()) == before
    _nothing_is_told(label_studio, bridge)


def _nothing_is_told(label_studio, bridge: LabelStudioBridge) -> None:
    """Check that annotators cannot read there whose pictures these are, or the purpose of the campaign."""
    declared = kind_of(bridge.campaign)
    blind = declared.stimuli.blind
    prompts = set() if declared.stimuli.prompt_shown else {"house by the sea"}
    groups = {"Velmari", "Orsani"} if "group" in blind else set()
    secrets = {"north", "south", "east", declared.key, bridge.campaign.name, *groups, *prompts}
    names_of_ours = {question.name for question in declared.questions}
    person = label_studio.annotators[0]
    for project in bridge.projects.all():
        told = ask(label_studio, "GET", f"/api/projects/{project.external_id}/", person=person)
        names = {tag.get("name", "") for tag in ElementTree.fromstring(told["label_config"]).iter()}
        assert not names_of_ours & names
        tasks = [
            ask(label_studio, "GET", f"/api/tasks/{number}/", person=person)["data"]
            for number in project.tasks.values_list("external_id", flat=True)
        ]
        said = f"{told['title']} {told['description']} {told['label_config']} {tasks}".lower()
        assert not [one for one in secrets if one.lower() in said]


def test_what_breaks_a_rule_is_refused_and_counts_once_it_is_corrected(
    study, lead, label_studio, wire, hands
):
    campaign = opened(study, lead, "calm_scenes")
    annotator = new_annotator(campaign)
    owner = label_studio.owner
    bridge = bridged(campaign, "shared", url=label_studio.url, token=owner.token, lead=lead)
    project, task = bridge.projects.get(), campaign.tasks.earliest("pk")
    hand, number = hands[0], there(project, task)
    xml = hand.ask("GET", f"projects/{project.external_id}/")["label_config"]
    screen = Screen(xml, hand.ask("GET", f"tasks/{number}/")["data"])
    answer = ANSWERS["calm_scenes"][0]
    enter(screen, screen_questions(task), answer | {"regions": {}})  # Label Studio cannot ask for a box
    made = hand.answer(number, screen.results())
    ways = Ways(wire, [bridge])
    ways.comparing()
    known([bridge], hands[:1], [annotator], lead)
    mirrored = LabelStudioAnnotation.objects.get()
    assert (mirrored.state, mirrored.reason) == (
        "refused",
        "calm, image 1: Draw a box around the place where you see it.",
    )
    screen.draw("How calm is this scene?", *BOX.values(), picture=1)
    hand.change(made, screen.results())
    ways.webhooks()
    mirrored.refresh_from_db()
    assert mirrored.state == "counted"
    assert TaskStimulus.objects.filter(judgements__boxes__isnull=False).get().position == 0
    hand.delete(made)
    ways.webhooks()
    assert Annotation.objects.get(is_latest=True).status == "excluded"


def test_label_studio_takes_the_interface_of_every_kind(label_studio):
    for kind in [*(kind for kind in KINDS.values() if not kind.about_attributes), OWN, *EXAMPLES]:
        ask(label_studio, "POST", "/api/projects/validate/", {"label_config": questions_interface(kind)})
