"""A server is killed while people from a panel work: each has one place, one end, one code, and no open screen."""

import random
import re
import ssl
import threading
import time
import uuid
from typing import Any

import httpx
import pytest

from tests.foundation.database.own_database import own_server
from tests.services.annotators import PATIENCE, campaign, wait_until, web_server

pytestmark = [pytest.mark.services, pytest.mark.slow]
PLACES, SCREENS, AT_ONCE, KILLS = 16, 3, 4, 5
# Of every four people, three complete their screens, and one stops after the first.
ANSWERS = PLACES // 4 * (3 * SCREENS + 1)
BETWEEN_KILLS = ANSWERS // (KILLS + 1)
# Created once: reading the certificates takes longer than a request, and none is used.
TLS = ssl.create_default_context()
RECRUITED = """
from decimal import Decimal
from accounts.models import User
from annotation.models import Campaign
from annotation.recruitment import providers, recruitments
lead = User.objects.create(username="lead")
campaign = Campaign.objects.get(pk={campaign})
links = providers.LinkForm("Panel", "pid", "session", "", "https://panel.example/done?cc={{code}}")
panel = providers.add(study=campaign.study, by=lead, name="Panel", links=links)
terms = recruitments.Terms("Anybody", {places}, {screens}, 10, Decimal("2.00"), "GBP")
made = recruitments.create(campaign=campaign, provider=panel, by=lead, terms=terms)
made = recruitments.move(recruitment=made, to="open", by=lead)
answer = [str(made.public_id), made.completed_code, made.declined_code]
"""
KEPT = """
from annotation.models import Annotation, Assignment
from annotation.recruitment.models import PanelPerson, PanelPlace, Recruitment
answer = {
    "places": list(PanelPlace.objects.order_by("pk").values_list("state", "answered", "person")),
    "held": Recruitment.objects.get().held,
    "leased": Assignment.objects.filter(state="leased").count(),
    "people": PanelPerson.objects.count(),
    "annotations": [str(one) for one in Annotation.objects.values_list("submission_id", flat=True)],
}
"""


class Kills:
    """One kill after each number of answers: the person with the last of these answers waits for it.

    So all kills happen in the middle of the work, however fast the machine is, while the others continue.
    """

    def __init__(self) -> None:
        self.happened = self.answers = 0
        self._changed = threading.Condition()

    def wait_after_answer(self) -> None:
        with self._changed:
            self.answers += 1
            number, early = divmod(self.answers, BETWEEN_KILLS)
            if not early and number <= KILLS:
                assert self._changed.wait_for(lambda: self.happened >= number, PATIENCE)

    def due(self) -> bool:
        return self.answers >= (self.happened + 1) * BETWEEN_KILLS

    def count(self) -> None:
        with self._changed:
            self.happened += 1
            self._changed.notify_all()


class Guest:
    """A person who comes by the panel's link and sends each request until it is answered."""

    def __init__(self, port: int, campaign_id: int, number: int, *, kills: Kills) -> None:
        self.client = httpx.Client(
            base_url=f"http://127.0.0.1:{port}", follow_redirects=True, timeout=60, verify=TLS
        )
        self.campaign, self.number, self.kills = campaign_id, number, kills
        self.acknowledged: list[str] = []
        self.location = ""

    def ask(self, method: str, path: str, **sent: Any) -> httpx.Response:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            token = self.client.cookies.get("stereoscope_csrf", "")
            try:
                response = self.client.request(method, path, headers={"X-CSRFToken": token}, **sent)
            except httpx.TransportError:
                response = None
            if response is not None and response.status_code < 500 and response.status_code != 429:
                return response
            time.sleep(random.uniform(0.05, 0.3))
        raise AssertionError(f"no answer to {path}")

    def work(self, panel: str, *, stops: bool) -> None:
        """Come, agree, answer, and return; with `stops`, leave after the first screen."""
        ids = {"pid": f"person-{self.number}", "session": f"session-{self.number}"}
        assert "person-" not in str(self.ask("GET", panel, params=ids).url)
        consent = f"/annotate/{self.campaign}/consent/"
        text = re.search(r'name="text" value="(\d+)"', self.ask("GET", consent).text)
        if text is not None:
            self.ask("POST", consent, data={"text": text[1]})
        self.ask("POST", f"/annotate/{self.campaign}/about-you/", data={"skip": "1"})
        response = self.ask("POST", f"/api/v1/campaigns/{self.campaign}/next", json={})
        task = response.json() if response.status_code == 200 else None
        while task:
            sent = {"submission_id": str(uuid.uuid4()), "answer": {"none_of_the_above": True}}
            saved = self.ask("POST", f"/api/v1/assignments/{task['assignment']}/submit", json=sent)
            assert saved.status_code == 200, saved.text
            self.acknowledged.append(sent["submission_id"])
            self.kills.wait_after_answer()
            if stops:
                self.ask("POST", f"{panel}stop/")
                break
            task = saved.json()["next"]
        self.ask("GET", f"/annotate/{self.campaign}/done/")
        self.client.follow_redirects = False
        self.location = self.ask("GET", f"{panel}return/").headers["location"]


def test_a_server_that_is_killed_gives_each_person_one_place_and_the_right_code(tmp_path):
    with own_server(tmp_path) as server:
        made = campaign(server, tasks=100, annotators=0)
        public_id, completed, left = server.ask(
            RECRUITED.format(campaign=made["campaign"], places=PLACES, screens=SCREENS)
        )
        with web_server(server, tmp_path) as web:
            kills = Kills()
            guests = [Guest(web.port, made["campaign"], number, kills=kills) for number in range(PLACES)]
            panel = f"/annotate/panel/{public_id}/"

            troubles: list[BaseException] = []

            def in_turn(own: list[Guest]) -> None:
                try:
                    for guest in own:
                        with guest.client:
                            guest.work(panel, stops=guest.number % 4 == 3)
                except Exception as trouble:  # the main thread raises the errors of these threads
                    troubles.append(trouble)
                    raise

            threads = [
                threading.Thread(target=in_turn, args=(guests[n::AT_ONCE],), daemon=True)
                for n in range(AT_ONCE)
            ]
            for thread in threads:
                thread.start()

            def at_work() -> bool:
                return any(thread.is_alive() for thread in threads)

            while at_work() and kills.happened < KILLS:
                wait_until(lambda: kills.due() or not at_work())
                web.kill_worker()
                kills.count()
            wait_until(lambda: not at_work())
            assert troubles == []
            kept = server.ask(KEPT)
    assert kills.happened == KILLS
    assert kills.answers == ANSWERS
    # Each has one place, which ended once and has all acknowledged answers.
    assert kept["people"] == len(kept["places"]) == PLACES
    outcomes = sorted((state, answered) for state, answered, _ in kept["places"])
    assert outcomes == [("completed", SCREENS)] * 12 + [("left", 1)] * 4
    assert (kept["held"], kept["leased"]) == (12, 0)
    assert sorted(kept["annotations"]) == sorted(one for guest in guests for one in guest.acknowledged)
    codes = [guest.location.rpartition("=")[2] for guest in guests]
    assert codes == [left if number % 4 == 3 else completed for number in range(PLACES)]
    log = (tmp_path / "gunicorn.log").read_text(errors="replace")
    assert "person-" not in log
    assert "session-" not in log
