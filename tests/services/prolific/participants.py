"""People whom the stand-in sends to us: they arrive, agree, answer, and complete, return, decline or vanish."""

import random
import re
import ssl
import threading
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.services.prolific.fake import FakeProlific

# How many of a hundred people do each; the others complete all their screens.
GIVE_BACK, VANISH, DECLINE, NO_CODE = 10, 5, 5, 5
_PATIENCE = 240.0
_UNREACHABLE = "Please try again in a minute"
# Created once: reading the certificates takes longer than a request, and none is used.
_TLS = ssl.create_default_context()


@dataclass
class Seen:
    """The observations of people, and when they returned their places."""

    done: int = 0
    left_at: dict[str, float] = field(default_factory=dict)  # submission: when they returned it at the panel
    troubles: list[str] = field(default_factory=list)


class Participant:
    """One person, who sends each request until it is answered."""

    def __init__(self, fake: FakeProlific, seen: Seen, study: str, number: int) -> None:
        self.fake, self.seen, self.study, self.number = fake, seen, study, number
        self.client = httpx.Client(follow_redirects=True, timeout=60, trust_env=False, verify=_TLS)
        self.base = ""

    def ask(self, method: str, path: str, **sent: Any) -> httpx.Response:
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            token = self.client.cookies.get("stereoscope_csrf", "")
            try:
                response = self.client.request(
                    method, f"{self.base}{path}", headers={"X-CSRFToken": token}, **sent
                )
            except httpx.TransportError:
                response = None
            if response is not None and response.status_code < 500 and response.status_code != 429:
                return response
            time.sleep(random.uniform(0.05, 0.3))
        raise AssertionError(f"no answer to {path}")

    def come(self) -> None:
        """Take a place, work, and leave in one of the usual ways."""
        with self.client:
            end = time.monotonic() + _PATIENCE
            submission = self.fake.reserve(self.study, f"{self.number:024x}")
            self.fake.open_link(submission["id"])
            welcome = self.ask("GET", submission["link"])
            while _UNREACHABLE in welcome.text and time.monotonic() < end:
                welcome = self.ask("GET", submission["link"])  # as the page advises
            if not welcome.url.path.endswith("/welcome/"):
                raise AssertionError(f"{welcome.url.path}: {welcome.status_code}")
            self.base = f"{welcome.url.scheme}://{welcome.url.host}:{welcome.url.port}"
            panel = welcome.url.path.removesuffix("welcome/")
            self._work(submission["id"], panel, self.number % 100)
        self.seen.done += 1

    def _work(self, submission: str, panel: str, luck: int) -> None:
        if luck < DECLINE:
            self.ask("POST", f"{panel}stop/")
            self.fake.complete(submission, self._code(panel))
            self.fake.give_back(submission)
            return
        task = self._agree(panel)
        if luck < DECLINE + VANISH + GIVE_BACK:
            self._answer(task)  # and hold the next screen
            if luck >= DECLINE + VANISH:
                self.fake.give_back(submission)
                self.seen.left_at[submission] = time.time()
            return
        while task:
            task = self._answer(task)
        code = self._code(panel)
        self.fake.complete(submission, "" if luck < DECLINE + VANISH + GIVE_BACK + NO_CODE else code)

    def _agree(self, panel: str) -> dict[str, Any] | None:
        welcome = self.ask("GET", f"{panel}welcome/")
        campaign = re.search(r"/annotate/(\d+)/", welcome.text)
        assert campaign is not None, welcome.url
        self.campaign = campaign[1]
        consent = f"/annotate/{self.campaign}/consent/"
        text = re.search(r'name="text" value="(\d+)"', self.ask("GET", consent).text)
        if text is not None:
            self.ask("POST", consent, data={"text": text[1]})
        self.ask("POST", f"/annotate/{self.campaign}/about-you/", data={"skip": "1"})
        response = self.ask("POST", f"/api/v1/campaigns/{self.campaign}/next", json={})
        return dict(response.json()) if response.status_code == 200 else None

    def _answer(self, task: dict[str, Any] | None) -> dict[str, Any] | None:
        if task is None:
            return None
        sent = {"submission_id": str(uuid.uuid4()), "answer": {"none_of_the_above": True}}
        saved = self.ask("POST", f"/api/v1/assignments/{task['assignment']}/submit", json=sent)
        assert saved.status_code == 200, saved.text
        following: dict[str, Any] | None = saved.json()["next"]
        return following

    def _code(self, panel: str) -> str:
        self.ask("GET", f"{panel}end/")
        self.client.follow_redirects = False
        location = self.ask("GET", f"{panel}return/").headers["location"]
        self.client.follow_redirects = True
        return str(location.rpartition("=")[2])


class Crowd:
    """Several people at a time, each in a separate thread."""

    def __init__(self, fake: FakeProlific, study: str, people: Sequence[int], *, at_once: int) -> None:
        self.seen = Seen()
        self._waiting = list(people)
        self._fake, self._study = fake, study
        self._threads = [threading.Thread(target=self._come, daemon=True) for _ in range(at_once)]
        for thread in self._threads:
            thread.start()

    def at_work(self) -> bool:
        return any(thread.is_alive() for thread in self._threads)

    def stop(self) -> None:
        """Let nobody else come, and wait for those who are there."""
        self._waiting.clear()
        for thread in self._threads:
            thread.join(_PATIENCE)

    def _come(self) -> None:
        while True:
            try:
                number = self._waiting.pop()
            except IndexError:
                return
            try:
                Participant(self._fake, self.seen, self._study, number).come()
            except Exception as trouble:  # the result rows report the error; the others continue
                self.seen.troubles.append(f"{type(trouble).__name__}: {trouble}"[:300])
