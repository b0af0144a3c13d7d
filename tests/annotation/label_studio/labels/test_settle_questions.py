"""Answers to declared questions in Label Studio become the same labels as on our own pages."""

import pytest

from accounts import profiles
from annotation.answers.questions.stimuli import screen_questions
from annotation.answers.validation import answer_of
from annotation.assignment.leases import next_assignment
from annotation.label_studio.models import LabelStudioUser
from annotation.label_studio.overview.history import versions_of
from annotation.label_studio.push.configuration import configuration
from annotation.label_studio.push.image_urls import open_address
from annotation.label_studio.push.tasks import rows_of
from annotation.models import Annotation, Box, Judgement, Point, QuotaRule, TaskStimulus
from tests.annotation.answers.questions.test_storage import ANSWERS
from tests.annotation.factories import add_images, new_annotator, submit
from tests.annotation.kinds.examples import EXAMPLES, PAIRWISE, RANKING, question_campaign
from tests.annotation.label_studio.format.test_questions import enter
from tests.annotation.label_studio.front_end import Screen
from tests.annotation.label_studio.payloads import annotation, number_of, project_of, tell, worker
from tests.annotation.label_studio.rows import bridge_of
from tests.annotation.label_studio.scenario import row

pytestmark = pytest.mark.django_db
OTHERS = {
    "rubric": {"answers": {"fitting": 5, "missing": [], "faults": ["none"]}, "regions": {}},
    "pairwise": {"answers": {"better": "tie"}, "regions": {}},
    "ranking": {
        "answers": {"odd": {"s1": 1, "s2": 1, "s3": 2}, "order": {"s1": 1, "s2": 1, "s3": 3}},
        "regions": {},
    },
}


@pytest.fixture(autouse=True)
def _site(settings):
    settings.SITE_URL = "https://stereoscope.example.org"


@pytest.fixture(params=EXAMPLES, ids=lambda kind: kind.key)
def kind(request):
    return request.param


def bridged(study, kind, annotators=2):
    """A campaign of this kind in Label Studio, with people who answer there."""
    add_images(study, 4)
    campaign = question_campaign(study, kind, annotators=annotators)
    bridge = bridge_of(campaign)
    for number in range(1, annotators + 2):
        worker(bridge, number, new_annotator(campaign))
    return bridge


def opened(bridge, task, slot=1):
    """Open the screen that somebody sees in Label Studio."""
    [(_, data)] = rows_of(project_of(bridge, slot), [task.pk])
    return Screen(configuration(bridge.campaign, bridge.campaign.instruments.get()), data)


def results_of(bridge, task, answer, slot=1):
    screen = opened(bridge, task, slot)
    enter(screen, screen_questions(task), answer)
    return screen.results()


def told(bridge, task, number, user, result, slot=1, **more):
    one = annotation(number, task=number_of(bridge, task, slot), user=user, result=result, **more)
    return tell(bridge, one, slot=slot)


def judgements(annotation_id):
    columns = ("question", "stimulus", "present", "rating", "code", "rank", "text")
    return list(Judgement.objects.filter(annotation=annotation_id).order_by("pk").values_list(*columns))


def test_an_answer_in_label_studio_is_stored_like_one_on_our_pages(study, kind):
    bridge = bridged(study, kind)
    task = bridge.campaign.tasks.earliest("pk")
    answer = ANSWERS[kind.key]
    settled = told(bridge, task, 1, 1, results_of(bridge, task, answer))
    assert (settled.counted, settled.refused) == (1, 0)
    made = Annotation.objects.get()
    assert answer_of(made).questions.as_json(kind) == answer
    task.refresh_from_db()
    assert (task.held, made.none_of_the_above, made.justification) == (1, None, "")
    # Compared with the same screen answered here: all columns except keys.
    type(bridge.campaign).objects.filter(pk=bridge.campaign.pk).update(labelled_in="")
    bridge.campaign.tasks.exclude(pk=task.pk).update(withdrawn=True)
    ours = next_assignment(campaign=bridge.campaign, annotator=new_annotator(bridge.campaign))
    saved = submit(ours, answer)
    assert judgements(saved.pk) == judgements(made.pk)
    for model, sides in ((Box, ("x", "y", "width", "height")), (Point, ("x", "y"))):
        here = model.objects.filter(judgement__annotation=saved.pk).values_list(*sides)
        there = model.objects.filter(judgement__annotation=made.pk).values_list(*sides)
        assert [pytest.approx(one) for one in here.order_by("pk")] == list(there.order_by("pk"))


def test_a_resent_answer_adds_nothing_and_a_changed_one_is_a_revision(study, kind):
    bridge = bridged(study, kind)
    task = bridge.campaign.tasks.earliest("pk")
    result = results_of(bridge, task, ANSWERS[kind.key])
    told(bridge, task, 1, 1, result)
    told(bridge, task, 1, 1, result, changed=5)  # opened and sent unchanged
    assert Annotation.objects.count() == 1
    settled = told(bridge, task, 1, 1, results_of(bridge, task, OTHERS[kind.key]), changed=6)
    assert (settled.counted, settled.written) == (1, 1)
    latest = Annotation.objects.get(is_latest=True)
    assert (Annotation.objects.count(), latest.revision) == (2, 2)
    assert answer_of(latest).questions.as_json(kind) == OTHERS[kind.key]


def test_an_incomplete_answer_is_refused_by_the_names_of_its_questions(study):
    bridge = bridged(study, RANKING)
    task = bridge.campaign.tasks.earliest("pk")
    screen = opened(bridge, task)
    for picture in (1, 2):
        screen.choose("How odd?", "odd 1", picture=picture)
    screen.choose("In which order?", "1", picture=1)
    assert told(bridge, task, 1, 1, screen.results()).refused == 1
    assert row(1).reason == (
        "odd, image 3: Choose one of the answers. order: Give each picture or text a place."
    )
    assert not Annotation.objects.exists()
    # Once corrected in Label Studio, it counts.
    for picture, place in ((2, "2"), (3, "2")):
        screen.choose("In which order?", place, picture=picture)
    screen.choose("How odd?", "odd 2", picture=3)
    assert told(bridge, task, 1, 1, screen.results(), changed=3).counted == 1


def test_exactly_the_requested_number_of_answers_counts(study):
    bridge = bridged(study, PAIRWISE)
    task = bridge.campaign.tasks.earliest("pk")
    for user, slot in ((1, 1), (2, 2), (3, 1)):
        result = results_of(bridge, task, ANSWERS["pairwise"], slot)
        told(bridge, task, user, user, result, slot=slot, minute=user)
    assert [row(number).state for number in (1, 2, 3)] == ["counted", "counted", "surplus"]
    task.refresh_from_db()
    assert task.held == 2


def test_pictures_keep_their_drawn_order_and_have_opaque_addresses(study):
    bridge = bridged(study, RANKING)
    project = project_of(bridge)
    tasks = {task.pk: task for task in bridge.campaign.tasks.all()}
    secret = ["Velmari", "Orsani", "sketch", "prompt", "ranking", "Secrets"]
    for pk, data in rows_of(project, list(tasks)):
        assert data.keys() == {"ref", "s0", "s1", "s2"}
        shown = TaskStimulus.objects.filter(task=pk).order_by("position").values_list("image", flat=True)
        found = [open_address(data[name].rpartition("/")[2])[0].pk for name in ("s0", "s1", "s2")]
        assert found == list(shown)
        assert not [word for word in secret if word.lower() in str(data).lower()]


def test_quotas_on_the_group_shown_are_respected(study):
    """The pictures of a screen are of one group, and a place is kept for somebody from its region."""
    bridge = bridged(study, RANKING)
    task = bridge.campaign.tasks.earliest("pk")
    group = study.groups.exclude(region="").earliest("pk")
    for stimulus, image in zip(task.stimuli.all(), study.images.filter(group=group), strict=False):
        TaskStimulus.objects.filter(pk=stimulus.pk).update(image=image)
    QuotaRule.objects.create(
        campaign=bridge.campaign, kind="at_least", k=1, field="region_of_origin", matches_group="region"
    )
    for number, region in ((1, "019"), (2, "019"), (3, group.region)):
        annotator = LabelStudioUser.objects.get(external_id=number).annotator
        profiles.describe(annotator=annotator, region_of_origin=region)
    for user, slot in ((1, 1), (2, 2), (3, 1)):
        result = results_of(bridge, task, ANSWERS["ranking"], slot)
        told(bridge, task, user, user, result, slot=slot, minute=user)
    assert [row(number).state for number in (1, 2, 3)] == ["counted", "surplus", "counted"]


def test_answers_of_each_version_are_shown_in_words(study):
    bridge = bridged(study, RANKING)
    task = bridge.campaign.tasks.earliest("pk")
    told(bridge, task, 1, 1, results_of(bridge, task, ANSWERS["ranking"]))
    told(bridge, task, 1, 1, results_of(bridge, task, OTHERS["ranking"]), changed=5, updated_by=77)
    first, second = (line.says for line in versions_of(row(1), bridge.campaign).lines)
    assert first == (
        "How odd? Picture 1: odd 1, Picture 2: odd 1, Picture 3: odd 3. Which oddity? Picture 3: large. "
        "In which order? Picture 1: place 1, Picture 2: place 2, Picture 3: place 3."
    )
    assert "Picture 3: odd 2" in second
