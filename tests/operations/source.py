"""The content of a server for backups: a labelled study with a report, files, a session, jobs, a letter."""

import io
import random

from django.contrib.sessions.backends.db import SessionStore
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.utils import timezone
from PIL import Image as Picture

from accounts.models import User
from analysis.results.parameters import parameters_of
from analysis.results.reports import compute_report
from annotation.watch.notices import NOTIFY
from catalog.models import Attribute, IdentityGroup, Resource, Stereotype
from generation.images.storage import store_image
from generation.models import Image
from jobs.models import Job, Worker
from studies.models import Study, StudyGroup
from tests.analysis.conftest import labelled

UPLOAD = "uploads/table.csv"
_LISTED = {
    "Velmari": ["tall hat", "blue scarf", "lantern", "kite"],
    "Orsani": ["round glasses", "drum", "umbrella", "tall hat"],
}
_VOTES = {"in_region_stereotype": 2, "in_region_not": 1, "in_region_unsure": 0}
_VOTES |= {"out_region_stereotype": 1, "out_region_not": 2, "out_region_unsure": 0}


def fill(images: int = 4) -> str:
    """Fill an empty server; return the digest of its report."""
    lead = User.objects.create_user("lena", password="a long password", is_lead=True)
    study = Study.objects.create(
        name="Isles", slug="isles", resource=_resource(), seed=7, created_by=lead, simulated=False
    )
    for group in study.resource.groups.all():
        StudyGroup.objects.create(study=study, group=group, name=group.name)
    labelled(study, lead)
    for number in range(images):
        store_image(
            study=study, data=picture(number), group=study.groups.first(), model_label=f"painter {number}"
        )
    default_storage.save(UPLOAD, ContentFile(b"people,attribute\nVelmari,lantern\n"))
    default_storage.save("shown/aa/cached.webp", ContentFile(b"made again when somebody looks"))
    report = compute_report(study=study, parameters=parameters_of(study, resamples=100), by=lead)
    _leave_work_open(lead)
    return report.inputs_digest


def picture(number: int) -> bytes:
    """Return a PNG that is unique for the number."""
    noise = random.Random(number)
    drawn = Picture.frombytes("RGB", (32, 32), noise.randbytes(32 * 32 * 3))
    data = io.BytesIO()
    drawn.save(data, "PNG")
    return data.getvalue()


def state() -> dict[str, object]:
    """Return the state that a restore changes."""
    from django.contrib.sessions.models import Session

    return {
        "sessions": Session.objects.count(),
        "workers": Worker.objects.count(),
        "jobs": dict(Job.objects.values_list("title", "state")),
        "images": Image.objects.exclude(file="").count(),
    }


def _resource() -> Resource:
    resource = Resource.objects.create(name="Peoples", slug="peoples", has_rater_counts=True, invented=True)
    for name, attributes in _LISTED.items():
        group = IdentityGroup.objects.create(resource=resource, name=name, display_name=name)
        for text in attributes:
            attribute, _ = Attribute.objects.get_or_create(text=text)
            Stereotype.objects.create(group=group, attribute=attribute, **_VOTES)
    return resource


def _leave_work_open(lead: User) -> None:
    now = timezone.now()
    session = SessionStore()
    session["_auth_user_id"] = str(lead.pk)
    session.save()
    Worker.objects.create(name="elsewhere:1", host="elsewhere", started_at=now, heartbeat_at=now)
    running = {"state": "running", "worker": "elsewhere:1", "lease_expires_at": now, "heartbeat_at": now}
    Job.objects.create(kind="generate", title="Generate", attempts=1, **running)
    Job.objects.create(kind=NOTIFY, title="Letter", arguments={"notice": 1}, **running)
    Job.objects.create(kind="compute_report", title="Done", state="succeeded", finished_at=now)
