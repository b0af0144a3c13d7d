"""A lead uses every page with a real Label Studio: from its token to the end of labelling there."""

import pytest

from annotation.label_studio.models import LabelStudioAnnotation, LabelStudioBridge, LabelStudioServer
from annotation.models import Annotation, Task
from tests.annotation.conftest import marking, rating
from tests.annotation.factories import new_annotator
from tests.services.label_studio.annotators import hands_of, marked, rated, there
from tests.services.label_studio.study import do_jobs

__all__ = ["marking", "rating"]
pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]
SERVERS = "/studies/isles/label-studio/"
State = LabelStudioAnnotation.State


def text(answer) -> str:
    return " ".join(answer.content.decode().split())


@pytest.fixture
def hands(label_studio):
    with hands_of(label_studio, label_studio.annotators[:3]) as hands:
        yield hands


@pytest.fixture
def connected(label_studio, study, lead_client) -> LabelStudioServer:
    form = {"url": f"{label_studio.url}/", "token": label_studio.owner.token}
    page = text(lead_client.post(SERVERS, form, follow=True))
    assert "is connected" in page
    assert label_studio.owner.token not in page
    return LabelStudioServer.objects.get()


def post(client, address: str, **form):
    answer = client.post(address, form, follow=True)
    assert answer.status_code == 200
    return text(answer)


def test_a_wrong_token_and_a_right_one(label_studio, connected, study, lead_client):
    here = f"{SERVERS}{connected.pk}/"
    wrong = lead_client.post(f"{here}token/", {"token": "0" * 40})
    assert wrong.status_code == 400
    assert "does not know this token" in text(wrong)
    assert "The new token works" in post(
        lead_client, f"{here}token/", token=label_studio.owner.personal_token
    )
    assert "The connection works: Label Studio 1." in post(lead_client, f"{here}check/")
    label_studio.stop()
    assert "No server answers at" in post(lead_client, f"{here}check/")
    label_studio.start()
    assert "Problem" not in post(lead_client, f"{here}check/")


def test_a_campaign_of_ratings_from_begin_to_end(connected, rating, hands, lead, lead_client):
    here = f"/studies/isles/campaigns/{rating.slug}/label-studio/"
    post(lead_client, here, server=connected.pk, arrangement="per_slot")
    do_jobs()
    shown = lead_client.get(here).context["shown"]
    tasks = rating.tasks.count()
    assert [line.sent for line in shown.projects] == [tasks] * 3
    assert shown.behind == []
    bridge = LabelStudioBridge.objects.get()
    first = bridge.projects.get(slot=1)
    one, two = rating.tasks.filter(purpose=Task.Purpose.LABEL).order_by("pk")[:2]
    ada, ben, _ = hands
    ada.answer(there(first, one), rated(4))
    ben.answer(there(first, two), rated(5), completed_by=ada.person.id)  # in another's name
    assert "being compared" in post(lead_client, f"{here}reconcile/")
    do_jobs()
    people = f"{SERVERS}{connected.pk}/people/"
    (line,) = lead_client.get(people).context["lines"]
    assert ada.person.email in line.name
    assert line.answers == 2
    person = new_annotator(rating)
    post(lead_client, f"{people}{line.user.pk}/confirm/", annotator=person.pseudonym)
    do_jobs()
    assert Annotation.objects.get(status="accepted").annotator == person
    (flagged,) = lead_client.get(f"{here}answers/?state=flagged").context["rows"]
    assert ben.person.email in flagged.sender or flagged.sender == f"User {ben.person.id}"
    post(lead_client, f"{here}answers/{flagged.answer.pk}/take/", seen=flagged.answer.digest)
    page = text(lead_client.get(f"{here}answers/?state=counted"))
    for annotation in Annotation.objects.filter(status="accepted"):
        assert f"/annotations/{annotation.pk}/" in page
    assert Annotation.objects.filter(status="accepted").count() == 2
    assert "2 answers from Label Studio count and stay" in text(lead_client.get(f"{here}end/"))
    post(lead_client, f"{here}end/")
    assert Annotation.objects.filter(status="accepted").count() == 2
    assert "is disconnected" in post(lead_client, f"{SERVERS}{connected.pk}/disconnect/")


def test_what_is_refused_has_its_reason_and_what_is_changed_by_hand_is_said(
    connected, marking, hands, lead_client, settings, live_server, label_studio
):
    settings.SITE_URL = live_server.url
    here = f"/studies/isles/campaigns/{marking.slug}/label-studio/"
    post(lead_client, here, server=connected.pk, arrangement="shared")
    do_jobs()
    (project,) = LabelStudioBridge.objects.get().projects.all()
    task = marking.tasks.filter(purpose=Task.Purpose.LABEL).order_by("pk").first()
    word = task.task_attributes.order_by("position").first().attribute.text
    hands[0].answer(there(project, task), marked(word, rotation=12.5))
    with hands_of(label_studio, [label_studio.owner]) as (owner,):
        owner.ask("PATCH", f"projects/{project.external_id}/", {"maximum_annotations": 9})
    post(lead_client, f"{here}reconcile/")
    do_jobs()
    (line,) = lead_client.get(f"{SERVERS}{connected.pk}/people/").context["lines"]
    post(
        lead_client,
        f"{SERVERS}{connected.pk}/people/{line.user.pk}/confirm/",
        annotator=new_annotator(marking).pseudonym,
    )
    do_jobs()
    page = text(lead_client.get(f"{here}answers/?state=refused"))
    assert "rotat" in page
    assert "settings of project" in text(lead_client.get(here))
    post(lead_client, f"{here}push/")
    do_jobs()
    assert "Problem" not in text(lead_client.get(here))
    before = marking.label_studio.images_version
    post(lead_client, f"{here}replace/")
    do_jobs()
    assert LabelStudioBridge.objects.get().images_version == before + 1
