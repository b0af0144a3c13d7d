"""A recruitment by the stand-in while web server and workers are killed: set up, reviewed, paid, and counted."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tests.foundation.database.own_database import ROOT, Server
from tests.services.annotators import WebServer, campaign, wait_until
from tests.services.prolific.fake import FakeProlific
from tests.services.prolific.participants import Crowd

# Seconds during which the panel may not show a bonus before the lead has it sent again.
ENV = {
    "PANEL_BONUS_SECONDS": "2",
    "JOB_LEASE_SECONDS": "2",
    "JOB_BACKOFF_SECONDS": "0",
    "JOB_MAX_ATTEMPTS": "1000",
}
SET_UP = """
from decimal import Decimal
from accounts.models import User
from annotation.models import Campaign
from annotation.recruitment import providers, recruitments
from annotation.recruitment.prolific import draft, subscription
from annotation.recruitment.prolific.access import ApiAccess
lead = User.objects.create(username="lead")
campaign = Campaign.objects.get(pk={campaign})
panel = providers.add(
    study=campaign.study, by=lead, name="Prolific", links=providers.KNOWN_PANELS["prolific"],
    api=ApiAccess("{token}", "{workspace}"),
)
subscription.connect(provider=panel, site="{site}", by=lead)
terms = recruitments.Terms("Anybody", {places}, {screens}, 10, Decimal("2.00"), "GBP", Decimal("33.3"))
made = recruitments.create(campaign=campaign, provider=panel, by=lead, terms=terms)
link = f"{site}/annotate/panel/{{made.public_id}}/?{{providers.query_of(panel)}}"
announcement = draft.Announcement("Say what you see", "Look at drawings and say what they show.")
draft.create(recruitment=made, announcement=announcement, link=link, by=lead)
made.refresh_from_db()
draft.publish(recruitment=made, by=lead)
answer = [made.pk, made.remote_study]
"""
# A lead who decides at once, in a separate process.
LEAD = """
import time
from django.db import close_old_connections
from accounts.models import User
from annotation.recruitment.models import PanelPayment, Recruitment
from annotation.recruitment.payments import decisions, review
from foundation.errors import DomainError
lead = User.objects.get(username="lead")
def decide():
    made = Recruitment.objects.select_related("provider", "campaign__study").get()
    decisions.approve_all(recruitment=made, by=lead)
    decisions.pay_bonuses(recruitment=made, total=review.review_of(made).bonus_total.units, by=lead)
    for payment in PanelPayment.objects.filter(kind="bonus", state__in=["unknown", "refused"]):
        if decisions.may_plan_again(payment):
            decisions.plan_again(payment=payment, by=lead)
while True:
    try:
        decide()
    except DomainError as error:  # somebody came between looking and deciding
        print(error, flush=True)
    close_old_connections()
    time.sleep(1)
"""
COUNT = """
from annotation.models import Assignment
from annotation.recruitment import cost, identities
from annotation.recruitment.models import PanelEvent, PanelPlace, PanelPayment, Recruitment
made = Recruitment.objects.get()
approved = made.panel_places.filter(payments__kind="approve", payments__state="confirmed").count()
payments = PanelPayment.objects.select_related("place")
answer = {
    "payments": [
        [identities.unseal(p.place.submission_sealed), p.kind, p.amount, p.state, p.attempts] for p in payments
    ],
    "places": [
        [identities.unseal(p.submission_sealed), p.state, p.answered, p.outcome] for p in made.panel_places.all()
    ],
    "leased": Assignment.objects.filter(state="leased").count(),
    "events": list(PanelEvent.objects.values_list("event_id", flat=True)),
    "estimate": cost.total(made, approved).units,
}
"""
_HELD = """
SELECT p.submission_hash FROM annotation_assignment a
JOIN annotation_task t ON t.id = a.task_id
JOIN annotation_enrolment e ON e.annotator_id = a.annotator_id AND e.campaign_id = t.campaign_id
JOIN recruitment_panelplace p ON p.enrolment_id = e.id
WHERE a.state = 'leased'
"""
_OPEN = """
SELECT (SELECT count(*) FROM recruitment_panelpayment WHERE state IN ('planned', 'sent', 'unknown'))
+ (SELECT count(*) FROM recruitment_panelplace WHERE state = 'working'
   OR (outcome = '' AND (state IN ('completed', 'screened_out') OR (state = 'left' AND answered > 0))))
"""
_STARTED = "SELECT name FROM jobs_worker"
_BUSY = "SELECT worker FROM jobs_job WHERE state = 'running'"
_LAST_KILLS = 5
_SLOWEST = 5.0  # seconds without progress after which a process is killed nevertheless
_LOOKS = 0.25  # seconds between two queries for held screens
_LAST_LOOKS = 8.0  # seconds of further queries after the last person left


class Workers:
    """Worker processes that are restarted when they were killed."""

    def __init__(self, server: Server, number: int, log: Path) -> None:
        self.server, self.log = server, log
        self.processes = [self._start() for _ in range(number)]

    def _start(self) -> "subprocess.Popen[bytes]":
        with self.log.open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "manage.py", "worker", "-v", "0", "--interval", "0.1"],
                cwd=ROOT, env=self.server.env, stdout=log, stderr=log,
            )  # fmt: skip

    def ready(self) -> bool:
        return len(self._places_of(_STARTED)) == len(self.processes)

    def kill_one(self) -> bool:
        """Kill a worker, if possible a busy one, and start another; return whether one was killed.

        Workers that are still starting are left alone, and so is the only one that has started, because on a slow
        machine there would never be a running worker.
        """
        started = self._places_of(_STARTED)
        if len(started) < 2:
            return False
        place = random.choice(self._places_of(_BUSY) or started)
        self.processes[place].kill()
        self.processes[place].wait()
        self.processes[place] = self._start()
        return True

    def _places_of(self, statement: str) -> list[int]:
        pids = {row[0].split(":")[1] for row in self.server.rows(statement) if ":" in row[0]}
        return [place for place, process in enumerate(self.processes) if str(process.pid) in pids]

    def close(self) -> None:
        for process in self.processes:
            with suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)
            process.wait()


@dataclass(frozen=True)
class Outcome:
    """The result of a killed study. Money in pence."""

    kills: int
    worker_kills: int  # of the kills; the others were processes of the web server
    people: int
    paid_twice: int
    unpaid: int
    paid_unordered: int  # paid by the panel without a payment here
    events_lost: int  # answered with 2xx and not stored
    leased: int  # screens that are still held at the end by people who left
    left: int  # people who gave their place back while they held a screen
    events: int  # answered with 2xx
    slow: int  # screens that were held more than 5 s after their person left
    slowest: float
    slow_to_act: int  # screens that were held more than 5 s after the event of it was acknowledged
    slowest_act: float
    spent: int  # what left the wallet
    ledger: int  # the sum of our payments, with the fee
    estimate: int  # our estimate of the cost of approvals
    rewards: int  # their actual cost
    sent_again: (
        int  # bonuses that were sent more than once, each time ordered by a person or after a busy response
    )
    troubles: tuple[str, ...]


class KilledStudy:
    """Sets up a recruitment of a number of places, and kills a process each second while people come."""

    def __init__(
        self, server: Server, fake: FakeProlific, web: WebServer, *, places: int, screens: int
    ) -> None:
        self.server, self.fake, self.web, self.places = server, fake, web, places
        # Of the three places of a screen, its quota rule leaves two to people without details about themselves.
        made = campaign(server, tasks=places * screens * 3 // 5 + screens, annotators=0)
        self.site = f"http://127.0.0.1:{web.port}"
        self.recruitment, self.study = server.ask(
            SET_UP.format(
                campaign=made["campaign"], token=fake.token, workspace=fake.workspace, site=self.site,
                places=places, screens=screens,
            )
        )  # fmt: skip
        self.start_money = fake.control("balance")["total_balance"]
        self.kills = self.worker_kills = 0

    def plant_faults(self) -> None:
        """Make a share of all calls and events fail."""
        for call in ("approve", "create_bonuses", "pay_bonuses", "submission", "submissions"):
            self.fake.fault(call, "429", times=None, share=0.05, seconds=0.3)
            self.fake.fault(call, "502", times=None, share=0.05)
        for call in ("approve", "pay_bonuses"):
            self.fake.fault(call, "502_after", times=None, share=0.1)
            self.fake.fault(call, "closed_after", times=None, share=0.1)
        for kind in ("duplicate", "late", "reordered", "forged"):
            self.fake.fault("event", kind, times=None, share=0.1, seconds=1.0)

    def run(self, workers: Workers, *, at_once: int, seconds: float) -> Outcome:
        """Let people come and be paid while a process is killed each second; then wait until everything is settled."""
        wait_until(workers.ready)  # as in production, where workers run before anybody comes
        crowd, watch = Crowd(self.fake, self.study, range(self.places), at_once=at_once), _Watch(self.server)
        end = time.monotonic() + seconds
        with self.server.start("shell", "-v", "0", "-c", LEAD):
            while crowd.at_work() and time.monotonic() < end:
                before = crowd.seen.done
                self._kill(workers)
                # On a slow machine, wait until a person progresses between two kills.
                latest = time.monotonic() + _SLOWEST
                while crowd.at_work() and crowd.seen.done == before and time.monotonic() < latest:
                    time.sleep(0.1)
            crowd.stop()
            time.sleep(_LAST_LOOKS)
            held_until = watch.held_until(list(crowd.seen.left_at))
            # The time of people who vanished runs out; they too are paid while processes are killed.
            self.fake.move_clock(seconds=3600)
            for _ in range(_LAST_KILLS):
                self._kill(workers)
            self._settle(end=time.monotonic() + seconds)
        return self._outcome(dict(crowd.seen.left_at), held_until, troubles=tuple(crowd.seen.troubles))

    def _kill(self, workers: Workers) -> None:
        time.sleep(1)
        if self.kills % 3 == 0 and workers.kill_one():
            self.worker_kills += 1
        else:
            self.web.kill_worker()
        self.kills += 1

    def _settle(self, *, end: float) -> None:
        """Wait until nobody works, everybody is decided about and every payment is settled."""
        quiet = 0
        while quiet < 3 and time.monotonic() < end:
            time.sleep(1)
            quiet = quiet + 1 if self.server.rows(_OPEN)[0][0] == 0 else 0

    def _outcome(
        self, left_at: dict[str, float], held_until: dict[str, float], *, troubles: tuple[str, ...]
    ) -> Outcome:
        counted = self.server.ask(COUNT)
        ledger = self.fake.ledger()
        paid = Counter((row["submission"], row["what"]) for row in ledger)
        ordered: Counter[tuple[str, str]] = Counter()
        for submission, kind, _, state, _ in counted["payments"]:
            if state != "refused" and kind in {"approve", "bonus"}:
                ordered[submission, "reward" if kind == "approve" else "bonus"] += 1
        unordered = sum(number for key, number in paid.items() if not ordered[key])
        # The reward, and a part of it again as a bonus.
        both = {submission for submission, what in paid if what == "bonus"} & {
            submission for submission, what in paid if what == "reward"
        }
        owed = {
            submission
            for submission, state, answered, outcome in counted["places"]
            if outcome != "rejected"
            and (state in {"completed", "screened_out"} or (state == "left" and answered))
        }
        events = [event for event in self.fake.documents("event") if "acknowledged_at" in event]
        delivered = {event["id"] for event in events}
        known_at = {
            event["body"]["resource_id"]: event["acknowledged_at"]
            for event in events
            if event["body"].get("status") == "RETURNED"
        }
        waits = [held_until[key] - moment for key, moment in left_at.items()]
        acts = [held_until[key] - known_at.get(key, moment) for key, moment in left_at.items()]
        confirmed = [row for row in counted["payments"] if row[3] == "confirmed"]
        rewards = [row for row in ledger if row["what"] == "reward"]
        return Outcome(
            kills=self.kills,
            worker_kills=self.worker_kills,
            people=len(counted["places"]),
            paid_twice=sum((paid - ordered).values()) - unordered + len(both),
            unpaid=len(owed - {submission for submission, _ in paid}),
            paid_unordered=unordered,
            events_lost=len(delivered - set(counted["events"])),
            leased=counted["leased"],
            left=len(waits),
            events=len(delivered),
            slow=sum(wait > 5 for wait in waits),
            slowest=max(waits, default=0.0),
            slow_to_act=sum(wait > 5 for wait in acts),
            slowest_act=max(acts, default=0.0),
            spent=self.start_money - self.fake.control("balance")["total_balance"],
            ledger=sum(amount + (amount * 333 + 500) // 1000 for _, _, amount, _, _ in confirmed),
            estimate=counted["estimate"],
            rewards=sum(row["amount"] + row["fees"] for row in rewards),
            sent_again=sum(
                kind == "bonus" and attempts > 1 for _, kind, _, _, attempts in counted["payments"]
            ),
            troubles=troubles,
        )


class _Watch:
    """Queries several times a second who holds a screen, to measure how long people who left kept theirs."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self._samples: list[tuple[float, set[str]]] = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self) -> None:
        while not self._ended.wait(_LOOKS):
            rows = self.server.rows(_HELD)
            self._samples.append((time.time(), {row[0] for row in rows}))

    def held_until(self, submissions: list[str]) -> dict[str, float]:
        """End, and return the time at which each submission was last seen to hold a screen; 0 for never."""
        self._ended.set()
        self._thread.join()
        hashes = self.server.ask(
            "from annotation.recruitment import identities\n"
            f"answer = {{key: identities.hashes(key)[0] for key in {submissions!r}}}"
        )
        return {
            key: max((at for at, held in self._samples if hashes[key] in held), default=0.0)
            for key in submissions
        }
