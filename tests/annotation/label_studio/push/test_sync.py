"""Pushing, as far as it needs no server: arrangements, names, addresses, refusals."""

import re
import stat
import threading
from datetime import timedelta
from xml.etree import ElementTree

import pytest
from django.db import connection
from django.test import Client as Browser
from django.utils import timezone

from annotation.campaigns import lifecycle
from annotation.campaigns.instruments import versions
from annotation.label_studio.base import locks
from annotation.label_studio.base.locks import alone_with, reading_from
from annotation.label_studio.base.opaque_names import mark_of, ref_of, refs_of, title_of
from annotation.label_studio.client.encryption import unseal
from annotation.label_studio.models import LabelStudioProject, LabelStudioTask
from annotation.label_studio.push import image_access
from annotation.label_studio.push import lifecycle as push_lifecycle
from annotation.label_studio.push.configuration import digest, settings_of
from annotation.label_studio.push.image_urls import open_address
from annotation.label_studio.push.layout import Sharing, places_of
from annotation.label_studio.push.sync import push
from annotation.label_studio.push.tasks import rows_of
from annotation.models import Campaign, Enrolment
from foundation.errors import Conflict, DomainError, NotFound
from generation.images.signed_urls import image_url
from generation.images.storage import store_image
from generation.models import Image
from jobs.progress.reporter import Unwatched
from studies.models import AuditEntry, Study
from tests.annotation.factories import add_images, new_annotator
from tests.annotation.label_studio.rows import bridge_of, server_of
from tests.generation.drawings import drawing

pytestmark = pytest.mark.django_db
SITE = "https://stereoscope.example.org"


@pytest.fixture(autouse=True)
def _site(settings):
    settings.SITE_URL = SITE


@pytest.fixture
def rating(study, lead) -> Campaign:
    draft = lifecycle.create(study=study, name="Ratings", kind="attribute_likert", by=lead)
    return lifecycle.open_(campaign=draft, by=lead)


@pytest.fixture
def marking(study, lead) -> Campaign:
    add_images(study, 2)
    draft = lifecycle.create(
        study=study, name="Marking", kind="stereotype_marking", by=lead, attributes_per_screen=3
    )
    return lifecycle.open_(campaign=draft, by=lead)


def test_a_bridge_begins_once_and_its_end_leaves_an_ordinary_campaign(rating, lead):
    server = server_of(rating.study)
    bridge = push_lifecycle.begin(campaign=rating, server=server, arrangement="per_slot", by=lead)
    assert unseal(bridge.address_secret) != unseal(bridge.header_secret)
    assert bridge.images_until is None  # ratings show no pictures
    with pytest.raises(Conflict) as refused:
        push_lifecycle.begin(campaign=rating, server=server, arrangement="shared", by=lead)
    assert refused.value.code == "bridged_already"
    push_lifecycle.end(bridge=bridge, by=lead)
    rating.refresh_from_db()
    assert not hasattr(rating, "label_studio")
    with pytest.raises(Conflict) as refused:
        push_lifecycle.end(bridge=bridge, by=lead)
    assert refused.value.code == "not_bridged"
    done = AuditEntry.objects.filter(action__startswith="label_studio.").order_by("pk")
    assert [entry.action for entry in done] == ["label_studio.begun", "label_studio.ended"]
    assert done[0].details["server"] == server.url


def test_closed_and_imported_campaigns_cannot_be_bridged(rating, lead):
    server = server_of(rating.study)
    with pytest.raises(DomainError) as refused:
        push_lifecycle.begin(campaign=rating, server=server, arrangement="by_the_moon", by=lead)
    assert refused.value.code == "arrangement_unknown"
    other = Study.objects.create(name="Other", slug="other", seed=1, resource=rating.study.resource)
    with pytest.raises(NotFound):
        push_lifecycle.begin(campaign=rating, server=server_of(other), arrangement="shared", by=lead)
    lifecycle.close(campaign=rating, by=lead)
    with pytest.raises(Conflict) as refused:
        push_lifecycle.begin(campaign=rating, server=server, arrangement="shared", by=lead)
    assert refused.value.code == "wrong_state"
    Campaign.objects.filter(pk=rating.pk).update(imported=True)
    with pytest.raises(Conflict) as refused:
        push_lifecycle.begin(campaign=rating, server=server, arrangement="shared", by=lead)
    assert refused.value.code == "campaign_imported"


def test_a_draft_is_pushed_once_it_is_open(study, lead):
    draft = lifecycle.create(study=study, name="Ratings", kind="attribute_likert", by=lead)
    bridge = push_lifecycle.begin(
        campaign=draft, server=server_of(study), arrangement="per_annotator", by=lead
    )
    with pytest.raises(Conflict) as refused:
        push(bridge=bridge, by=lead)
    assert refused.value.code == "wrong_state"
    lifecycle.open_(campaign=draft, by=lead)
    with pytest.raises(Conflict) as refused:
        push(bridge=bridge, by=lead)
    assert refused.value.code == "nobody_enrolled"


def test_places_follow_the_arrangement(rating):
    people = [new_annotator(rating) for _ in range(3)]
    Enrolment.objects.filter(annotator=people[1]).update(state=Enrolment.State.PAUSED)
    bridge = bridge_of(rating)
    assert [(one.slot, one.number, one.annotations_per_task) for one in places_of(bridge, rating)] == [
        (1, 1, 1),
        (2, 2, 1),
        (3, 3, 1),
    ]
    bridge.arrangement = "shared"
    assert [(one.name, one.number, one.annotations_per_task) for one in places_of(bridge, rating)] == [
        ("all", None, 3)
    ]
    bridge.arrangement = "per_annotator"
    places = places_of(bridge, rating)
    # A number stays with its person, even if others pause.
    assert [(one.annotator_id, one.number) for one in places] == [(people[0].pk, 1), (people[2].pk, 3)]
    assert len({one.name for one in places}) == 2


def test_a_task_is_pushed_to_no_more_people_than_it_needs(rating):
    bridge = bridge_of(rating)
    first, second, third = bridge.projects.order_by("slot")
    tasks = list(rating.tasks.order_by("pk"))
    rating.tasks.filter(pk=tasks[0].pk).update(held=1)  # answered on our own pages
    rating.tasks.filter(pk=tasks[1].pk).update(withdrawn=True)
    LabelStudioTask.objects.filter(project__in=[second, third]).delete()
    sharing = Sharing(bridge, rating)
    shares = [sharing.of(one) for one in (first, second, third)]
    others = {task.pk for task in tasks[2:]}
    assert [share.missing for share in shares] == [set(), others | {tasks[0].pk}, others]
    assert [share.needless for share in shares] == [{tasks[1].pk}, set(), set()]


def test_complete_tasks_are_withdrawn_from_annotators_who_did_not_answer(rating):
    annotator = new_annotator(rating)
    bridge = bridge_of(rating, arrangement="per_annotator")
    bridge.projects.all().delete()
    project = LabelStudioProject.objects.create(bridge=bridge, annotator=annotator, external_id=5)
    full = rating.tasks.first()
    rating.tasks.filter(pk=full.pk).update(held=3)
    assert full.pk not in Sharing(bridge, rating).of(project).missing
    LabelStudioTask.objects.create(project=project, task=full, external_id=9)
    assert Sharing(bridge, rating).of(project).needless == {full.pk}


def test_names_are_opaque_and_differ_between_projects(rating):
    bridge = bridge_of(rating)
    projects = list(bridge.projects.order_by("slot"))
    task = rating.tasks.first()
    refs = {ref_of(project, task.public_id) for project in projects}
    assert len(refs) == 3
    assert all(re.fullmatch(r"[0-9a-f]{24}", ref) for ref in refs)
    assert set(refs_of(projects[0]).values()) == {
        ref_of(projects[0], one.public_id) for one in rating.tasks.all()
    }
    assert re.fullmatch(r"Campaign [A-Z2-7]{4} · 2", title_of(bridge, 2))
    assert len({mark_of(bridge, place) for place in ("all", "slot 1", "slot 2")}) == 3


def test_refs_stay_when_the_server_is_given_another_key(rating, settings):
    project = bridge_of(rating).projects.first()
    before = refs_of(project)
    settings.SECRET_KEY = "another key for this server"
    assert refs_of(project) == before


def test_tasks_are_sent_in_an_uninformative_order(marking):
    project = bridge_of(marking).projects.select_related("bridge__campaign").first()
    rows = rows_of(project, list(marking.tasks.values_list("pk", flat=True)))
    refs = [row["ref"] for _, row in rows]
    assert refs == sorted(refs)
    assert len(refs) == marking.tasks.count()


def test_only_one_job_at_a_time_uses_a_bridge(rating, transactional_db):
    bridge, seen = bridge_of(rating), []

    def other() -> None:
        try:
            with alone_with(bridge):
                seen.append("both")
        except Conflict as refused:
            seen.append(refused.code)
        finally:
            connection.close()

    for _ in range(2):
        with alone_with(bridge):
            thread = threading.Thread(target=other)
            thread.start()
            thread.join()
    assert seen == ["label_studio_push_under_way"] * 2
    other()
    assert seen[-1] == "both"


@pytest.fixture
def shown(marking, study) -> tuple[LabelStudioProject, Image]:
    """An image with a file, and a project that shows it."""
    data = drawing(1, "drum")
    stored = store_image(study=study, data=data, group=study.groups.first(), model_label="sketch")
    return bridge_of(marking).projects.select_related("bridge").first(), stored.image


def path_of(image: Image, project: LabelStudioProject) -> str:
    address = image_access.image_address(image, bridge=project.bridge, project=project)
    assert address.startswith(f"{SITE}/pictures/")
    return address.removeprefix(SITE)


def test_pictures_for_other_sites_carry_no_metadata(shown):
    project, image = shown
    answer = Browser().get(path_of(image, project), headers={"origin": "https://labels.example.org"})
    assert answer.status_code == 200
    assert answer["Content-Type"] == "image/webp"
    assert answer["Access-Control-Allow-Origin"] == "*"
    assert answer["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert "Access-Control-Allow-Credentials" not in answer
    assert answer["Cache-Control"] == "private, no-cache"  # a revoked address no longer shows anything
    assert not answer.cookies
    again = Browser().get(path_of(image, project), headers={"if-none-match": answer["ETag"]})
    assert again.status_code == 304


def test_addresses_differ_between_projects_and_open_only_their_image(shown):
    project, image = shown
    others = [path_of(image, one) for one in project.bridge.projects.all()]
    assert len(set(others)) == len(others)
    token = others[0].rpartition("/")[2]
    assert open_address(token)[0] == image
    for wrong in (token[:-2] + "AA", token + "A", "", "x" * 59, token.swapcase()):
        with pytest.raises(NotFound):
            open_address(wrong)
    answer = Browser().get("/pictures/" + token[:-2] + "AA")
    assert answer.status_code == 404
    assert answer["Content-Type"].startswith("text/plain")
    # A page's own address of the image opens nothing here, and vice versa.
    own = image_url(image, viewer="user:1").rpartition("/")[2]
    assert Browser().get(f"/pictures/{own}").status_code == 404
    assert Browser().get(f"/images/{token}").status_code == 404


def test_addresses_expire_and_can_be_renewed_and_revoked(shown, lead):
    project, image = shown
    path, bridge = path_of(image, project), project.bridge
    bridge.images_until = timezone.now() - timedelta(seconds=1)
    bridge.save()
    assert Browser().get(path).status_code == 404
    for days in (0, 367, 1.5, "2"):
        with pytest.raises(DomainError) as refused:
            image_access.renew(bridge=bridge, by=lead, days=days)
        assert refused.value.code == "days_invalid"
    renewed = image_access.renew(bridge=bridge, by=lead, days=2)
    assert timedelta(days=1) < renewed.images_until - timezone.now() <= timedelta(days=2)
    assert Browser().get(path).status_code == 200
    void = image_access.make_void(bridge=bridge, by=lead)
    assert Browser().get(path).status_code == 404
    project.bridge = void
    assert Browser().get(path_of(image, project)).status_code == 200
    Image.objects.filter(pk=image.pk).update(retracted_at=timezone.now(), retracted_reason="blurred")
    assert Browser().get(path_of(image, project)).status_code == 404
    actions = AuditEntry.objects.filter(action__startswith="label_studio.images").values_list(
        "action", flat=True
    )
    assert set(actions) == {"label_studio.images_renewed", "label_studio.images_replaced"}


def test_changed_guidelines_change_the_configuration(rating, lead):
    before = settings_of(rating, versions.current(rating), annotations_per_task=1)
    after = settings_of(
        rating,
        versions.revise(campaign=rating, by=lead, guidelines="Look <closely>."),
        annotations_per_task=1,
    )
    assert after["expert_instruction"] == "<p>Look &lt;closely&gt;.</p>"
    assert digest(before) != digest(after)
    assert ElementTree.fromstring(before["label_config"]).tag == "View"


def test_instructions_name_the_answers_that_will_be_refused(marking, rating):
    said = settings_of(marking, versions.current(marking), annotations_per_task=1)["expert_instruction"]
    assert "‘None of the above’ and a tick or a box, and a ticked word without a box.</p>" in said
    marking.boxes_required = False
    said = settings_of(marking, versions.current(marking), annotations_per_task=1)["expert_instruction"]
    assert said.endswith("‘None of the above’ and a tick or a box.</p>")
    said = settings_of(rating, versions.current(rating), annotations_per_task=1)["expert_instruction"]
    assert "Before you submit" not in said


def test_a_bridge_cannot_be_ended_while_it_is_read(rating, lead, monkeypatch, transactional_db):
    monkeypatch.setattr(push_lifecycle, "_PATIENCE", 0.0)
    bridge, seen = bridge_of(rating), []

    def other() -> None:
        try:
            push_lifecycle.end(bridge=bridge, by=lead)
        except Conflict as refused:
            seen.append(refused.code)
        finally:
            connection.close()

    with reading_from(bridge, seconds=0, progress=Unwatched()) as mine:
        assert mine
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert seen == ["label_studio_busy"]
    push_lifecycle.end(bridge=bridge, by=lead)


def test_the_lock_file_has_the_permissions_of_the_database(rating, tmp_path, monkeypatch):
    bridge = bridge_of(rating)
    database = tmp_path / "db.sqlite3"
    database.touch(mode=0o660)
    database.chmod(0o660)
    monkeypatch.setitem(connection.settings_dict, "NAME", database)
    monkeypatch.setattr(locks, "_held", locks._on_this_machine)
    with alone_with(bridge):
        (lock,) = tmp_path.glob("db.sqlite3.*.lock")
        assert stat.S_IMODE(lock.stat().st_mode) == 0o660
        with pytest.raises(Conflict), alone_with(bridge):
            pass
