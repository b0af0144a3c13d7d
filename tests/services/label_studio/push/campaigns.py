"""Helpers for tests of pushing: campaigns with images, a connection, and a proxy that records requests."""

import http.client
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

import httpx

from annotation.campaigns import lifecycle
from annotation.label_studio.base.connections import connect
from annotation.label_studio.client.rest import Client
from annotation.label_studio.models import LabelStudioBridge, LabelStudioServer, LabelStudioTask
from annotation.label_studio.push import lifecycle as push_lifecycle
from annotation.models import Campaign
from generation.images.storage import store_image
from tests.generation.drawings import drawing

SITE = "https://stereoscope.example.org"


def marking_of(study, lead, *, images: int = 2, wanted: int = 2, **more) -> Campaign:
    """Return an open marking campaign: each image on two screens of three attributes."""
    for index, group in enumerate(study.groups.order_by("name")):
        for number in range(images):
            data = drawing(100 * index + number, "tall hat")
            store_image(study=study, data=data, group=group, model_label="sketch")
    draft = lifecycle.create(
        study=study,
        name="Marking",
        kind="stereotype_marking",
        by=lead,
        annotators_per_task=wanted,
        attributes_per_screen=3,
        **more,
    )
    return lifecycle.open_(campaign=draft, by=lead)


def rating_of(study, lead, *, wanted: int = 2) -> Campaign:
    """Return an open rating campaign of the study's six stereotypes."""
    draft = lifecycle.create(
        study=study,
        name="Ratings",
        kind="attribute_likert",
        by=lead,
        annotators_per_task=wanted,
    )
    return lifecycle.open_(campaign=draft, by=lead)


def connected(label_studio, study, lead, *, url: str = "") -> LabelStudioServer:
    return connect(study=study, url=url or label_studio.url, token=label_studio.owner.token, by=lead)


def begun(label_studio, campaign, lead, arrangement: str = "per_slot", *, url: str = "") -> LabelStudioBridge:
    server = connected(label_studio, campaign.study, lead, url=url)
    return push_lifecycle.begin(campaign=campaign, server=server, arrangement=arrangement, by=lead)


def there(label_studio, bridge: LabelStudioBridge) -> dict[int, dict[int, dict[str, Any]]]:
    """Return task → data in Label Studio, by the number of each project that still exists."""
    with Client(label_studio.url, label_studio.owner.token) as client:
        return {
            project.external_id: {
                task["id"]: task["data"]
                for page in client.tasks_with_annotations(project.external_id)
                for task in page
            }
            for project in bridge.projects.filter(gone_at=None)
        }


def written_down(bridge: LabelStudioBridge) -> dict[int, set[int]]:
    """Return the numbers of the stored tasks, by the project's number."""
    rows = LabelStudioTask.objects.filter(project__bridge=bridge, project__gone_at=None)
    found: dict[int, set[int]] = {}
    for project, number in rows.values_list("project__external_id", "external_id"):
        found.setdefault(project, set()).add(number)
    return found


def ask(label_studio, method: str, path: str, body: Any = None, *, person=None) -> Any:
    """Send Label Studio a request as one of its people, by default the owner."""
    token = (person or label_studio.owner).token
    with httpx.Client(trust_env=False, timeout=60) as http_client:
        said = http_client.request(
            method, f"{label_studio.url}{path}", headers={"Authorization": f"Token {token}"}, json=body
        )
    assert said.status_code < 300, said.text
    return said.json() if said.content else None


def answer_there(label_studio, task: int, person, *, rating: int = 5) -> int:
    """Rate a task in Label Studio."""
    result = {
        "id": "r1",
        "type": "choices",
        "from_name": "rating",
        "to_name": "attribute",
        "value": {"choices": [str(rating)]},
    }
    body = {"result": [result], "lead_time": 3.5}
    return int(ask(label_studio, "POST", f"/api/tasks/{task}/annotations/", body, person=person)["id"])


@dataclass
class Recorded:
    """A proxy before a server: `sent` has every byte of every request that came through, as received."""

    url: str
    sent: list[bytes] = field(default_factory=list)
    # Called with the method and path of each request before its response is forwarded.
    before_answer: Callable[[str, str], None] = lambda method, path: None

    def text(self) -> str:
        return b"\n".join(self.sent).decode("latin-1").lower()

    def asked(self, method: str, part: str) -> int:
        """Return the number of requests of this method with this part in their address."""
        lines = [one.split(b"\r\n", 1)[0].decode("latin-1") for one in self.sent]
        return sum(line.startswith(f"{method} ") and part in line for line in lines)


@contextmanager
def recorded(server: str) -> Iterator[Recorded]:
    """Forward everything to `server` and record the requests."""
    place = urlsplit(server)
    found: list[Recorded] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _pass_on(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            head = f"{self.requestline}\r\n{self.headers}".encode("latin-1")
            found[0].sent.append(head + b"\r\n" + body)
            assert place.hostname is not None
            connection = http.client.HTTPConnection(place.hostname, place.port or 80, timeout=300)
            try:
                headers = {name: value for name, value in self.headers.items() if name != "Connection"}
                connection.request(self.command, self.path, body, headers)
                answer = connection.getresponse()
                content = answer.read()
            finally:
                connection.close()
            found[0].before_answer(self.command, self.path)
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in (
                    "connection",
                    "transfer-encoding",
                    "content-length",
                    "date",
                    "server",
                ):
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _pass_on

        def log_message(self, *_: object) -> None: ...

    proxy = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    proxy.daemon_threads = True
    found.append(Recorded(f"http://127.0.0.1:{proxy.server_port}"))
    thread = threading.Thread(target=proxy.serve_forever, daemon=True)
    thread.start()
    try:
        yield found[0]
    finally:
        proxy.shutdown()
        proxy.server_close()
        thread.join()
