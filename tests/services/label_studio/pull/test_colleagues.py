"""A colleague changes answers in a real Label Studio; answers that do not count are deleted there."""

import pytest

from annotation.campaigns import lifecycle
from annotation.label_studio.base import job_queue
from annotation.label_studio.labels import edits
from annotation.label_studio.models import LabelStudioAnnotation
from annotation.label_studio.pull import cleanup
from annotation.models import Annotation
from jobs.models import Job
from studies.models import AuditEntry
from tests.services.label_studio.annotators import hands_of, rated, there
from tests.services.label_studio.proxy import wire_to
from tests.services.label_studio.study import Arrangement, Ways, bridged, do_jobs, four_people, known

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]
State, Edit = LabelStudioAnnotation.State, LabelStudioAnnotation.Edit


@pytest.fixture
def wire(live_server, settings):
    with wire_to(live_server.url) as wire:
        settings.SITE_URL = wire.url
        yield wire


@pytest.fixture
def hands(label_studio):
    with hands_of(label_studio, label_studio.annotators[:4]) as hands:
        yield hands


@pytest.fixture
def bridge(study, lead, label_studio, wire, hands):
    """A rating campaign in one project; everybody has answered a screen, so that the lead knows them."""
    draft = lifecycle.create(study=study, name="Ratings", kind="attribute_likert", by=lead)
    rating = lifecycle.open_(campaign=draft, by=lead)
    here = four_people([rating])
    token = label_studio.owner.token
    bridge = bridged(rating, Arrangement.SHARED, url=label_studio.url, token=token, lead=lead)
    for hand in hands:
        hand.answer(number(bridge, -1), rated(1))
    Ways(wire, [bridge]).comparing()
    known([bridge], hands, here, lead)
    bridge.campaign.refresh_from_db()
    return bridge


def number(bridge, place) -> int:
    """Return the number in Label Studio of a screen, by its place in the campaign."""
    project = bridge.projects.get()
    return there(project, list(bridge.campaign.tasks.order_by("pk"))[place])


def ratings(bridge, place) -> dict[int, tuple[str, int]]:
    task = list(bridge.campaign.tasks.order_by("pk"))[place]
    rows = Annotation.objects.filter(task=task, is_latest=True)
    return {
        one.annotator_id: (one.status, one.judgements.get().rating)
        for one in rows.prefetch_related("judgements")
    }


def row(external: int) -> LabelStudioAnnotation:
    return LabelStudioAnnotation.objects.get(external_id=external)


@pytest.mark.parametrize("way", ["webhooks", "comparing", "both"])
def test_a_colleagues_change_takes_no_labels_place_by_whatever_way_it_is_seen(bridge, hands, wire, lead, way):
    ada, _, cleo, dora = hands
    pull = getattr(Ways(wire, [bridge]), way)
    task = number(bridge, 0)
    of_ada, of_ben, _, of_dora = [hand.answer(task, rated(2)) for hand in hands]
    pull()
    before = ratings(bridge, 0)
    assert sorted(before.values()) == [("accepted", 2)] * 3 + [("surplus", 2)]
    dora.change(of_ada, rated(5))
    # Another colleague puts her own name on it, and a third one skips it.
    dora.ask("PATCH", f"annotations/{of_ben}/", {"result": rated(4), "completed_by": dora.person.id})
    pull()
    cleo.ask("PATCH", f"annotations/{of_ada}/", {"was_cancelled": True})
    pull()
    assert ratings(bridge, 0) == before
    assert [(row(one).state, row(one).edit) for one in (of_ada, of_ben)] == [(State.COUNTED, Edit.OPEN)] * 2
    assert (row(of_dora).state, row(of_dora).edit) == (State.SURPLUS, "")
    edits.take(mirrored=row(of_ben), by=lead)
    assert row(of_ben).edit == Edit.TAKEN
    edits.keep(mirrored=row(of_ben), by=lead)
    assert ratings(bridge, 0) == before
    # Ada submits hers herself: it counts, and the lead has nothing to decide.
    ada.ask("PATCH", f"annotations/{of_ada}/", {"result": rated(1), "was_cancelled": False})
    pull()
    assert (row(of_ada).state, row(of_ada).edit) == (State.COUNTED, "")
    assert sorted(ratings(bridge, 0).values()) == [
        ("accepted", 1),
        ("accepted", 2),
        ("accepted", 2),
        ("surplus", 2),
    ]


def test_a_change_that_is_seen_before_what_its_maker_sent_is_flagged_and_counts_nowhere(bridge, hands, wire):
    ada, _, _, dora = hands
    of_ada = ada.answer(number(bridge, 0), rated(2))
    dora.change(of_ada, rated(5))
    Ways(wire, [bridge]).comparing()
    assert (row(of_ada).state, ratings(bridge, 0)) == (State.FLAGGED, {})


def test_what_counts_for_nothing_is_deleted_there_and_nothing_else(bridge, hands, wire, lead, label_studio):
    ada, ben, cleo, dora = hands
    one, two = number(bridge, 0), number(bridge, 1)
    [of_ada, _, of_cleo, of_dora] = [hand.answer(one, rated(2)) for hand in hands]
    first, further = ada.answer(two, rated(2)), ada.answer(two, rated(4))
    flagged = ben.answer(two, rated(1), completed_by=cleo.person.id)
    unreadable = ada.answer(number(bridge, 2), [])
    ways = Ways(wire, [bridge])
    ways.comparing()
    dora.change(of_ada, rated(5))
    ways.comparing()
    surplus = LabelStudioAnnotation.objects.get(external_task=number(bridge, -1), state=State.SURPLUS)
    listed = sorted((line.kind, line.answers) for line in cleanup.lines_of(bridge))
    assert listed == [("further", 1), ("refused", 1), ("surplus", 2)]
    # Between listing and deletion, a place becomes free: Dora's answer counts now, and stays.
    cleo.delete(of_cleo)
    job = cleanup.start(bridge=bridge, kinds=["surplus", "further", "left_out"], by=lead)
    do_jobs()
    job.refresh_from_db()
    assert job.state == Job.State.SUCCEEDED, job.error
    left = {number for (number,) in label_studio.rows("SELECT id FROM task_completion")}
    assert {further, surplus.external_id}.isdisjoint(left)
    assert {of_ada, of_dora, first, flagged, unreadable} <= left
    assert row(of_dora).state == State.COUNTED
    assert (row(further).state, row(flagged).state) == (State.DELETED, State.FLAGGED)
    assert AuditEntry.objects.get(action="label_studio.cleaned").details["answers"] == 2
    ways.comparing()
    assert row(further).state == State.DELETED
    bridge.refresh_from_db()
    assert bridge.problem == ""


def test_a_deletion_that_is_killed_is_gone_on_with(bridge, hands, wire, lead, monkeypatch, label_studio):
    one = number(bridge, 0)
    made = [hands[0].answer(one, rated(2)) for _ in range(4)]
    Ways(wire, [bridge]).comparing()
    last = LabelStudioAnnotation.objects.latest("pk").pk

    def killed(*_arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("annotation.label_studio.client.rest.Client.delete_annotation", killed)
        with pytest.raises(KeyboardInterrupt):
            cleanup.clean_up(bridge=bridge, kinds=["further"], last_id=last, by=lead)
    done = cleanup.clean_up(bridge=bridge, kinds=["further"], last_id=last, by=lead)
    assert done.deleted == 3
    left = {number for (number,) in label_studio.rows("SELECT id FROM task_completion")}
    assert left & set(made) == {made[0]}
    assert row(made[0]).state == State.COUNTED
    assert job_queue.jobs_of(bridge, job_queue.PUSH).filter(state=Job.State.QUEUED).exists()
