"""The states of studies, submissions and money as Prolific documents them, and a clock that tests move."""

import csv
import io
import secrets
import time
from datetime import UTC, datetime
from typing import Any

from tests.services.prolific.store import Store

RESERVED_SECONDS = 10 * 60
REVIEW_SECONDS = 21 * 24 * 3600  # then Prolific approves by itself
STUDY_MOVES = {
    ("UNPUBLISHED", "PUBLISH"): "ACTIVE",
    ("ACTIVE", "PAUSE"): "PAUSED",
    ("PAUSED", "START"): "ACTIVE",
    ("ACTIVE", "STOP"): "COMPLETED",
    ("PAUSED", "STOP"): "COMPLETED",
}
HOLDS_PLACE = {"RESERVED", "ACTIVE", "AWAITING REVIEW", "APPROVED", "PARTIALLY APPROVED"}
PAID = {"APPROVED", "PARTIALLY APPROVED", "SCREENED OUT"}
WAITING = "waiting"  # events that still have to be sent
SETTINGS = {
    "token": "test-token",
    "workspace": "workspace-1",
    "currency": "GBP",
    "money": 10_000_000,
    "fee_permille": 333,  # of rewards and bonuses
    "vat_permille": 0,  # of the fee
    "bonus_delay": 0.0,  # seconds until a paid bonus appears
    "offset": 0.0,  # seconds by which the clock is ahead
    "eligible": 5_000,
    "hold_events": False,
    "retry_seconds": 1.0,  # before an event is sent again
}


class Refused(Exception):
    """A request that Prolific answers with an error."""

    def __init__(self, status: int, detail: Any) -> None:
        super().__init__(detail)
        self.status, self.detail = status, detail


def new_id() -> str:
    """Return an id in the format of Prolific's."""
    return secrets.token_hex(12)


class World:
    """Everything at Prolific. Each public method is one request, in one transaction."""

    def __init__(self, store: Store) -> None:
        self.store = store
        if store.get("settings", "") is None:
            store.put("settings", "", SETTINGS)

    # Settings, clock and money

    @property
    def settings(self) -> dict[str, Any]:
        return self.store.get("settings", "") or {}

    def configure(self, **changes: Any) -> None:
        unknown = set(changes) - set(SETTINGS)
        if unknown:
            raise Refused(400, f"no such settings: {sorted(unknown)}")
        self.store.put("settings", "", self.settings | changes)

    def now(self) -> float:
        return time.time() + float(self.settings["offset"])

    def move_clock(self, seconds: float) -> None:
        """Let time pass: places expire, reviews end, bonuses arrive."""
        self.configure(offset=float(self.settings["offset"]) + seconds)
        self.tick()

    def tick(self) -> None:
        now = self.now()
        for batch in self.store.all("batch"):
            self._pay_due(batch, now)
        for study in self.store.all("study"):
            if study["status"] != "UNPUBLISHED":
                self._time_out(study, now)

    def _time_out(self, study: dict[str, Any], now: float) -> None:
        longest = 60 * (study.get("maximum_allowed_time") or 2 + 2 * study["estimated_completion_time"])
        for submission in self.store.all("submission", parent=study["id"]):
            age = now - submission["changed"]
            status = submission["status"]
            if (status == "RESERVED" and age > RESERVED_SECONDS) or (status == "ACTIVE" and age > longest):
                self._change(submission, "TIMED-OUT")
            elif status == "AWAITING REVIEW" and age > REVIEW_SECONDS:
                self.approve([submission["id"]])

    def with_fees(self, amount: int) -> tuple[int, int]:
        """Return Prolific's fee on an amount, and the tax on that fee, each rounded half up."""
        fee = (amount * self.settings["fee_permille"] + 500) // 1000
        return fee, (fee * self.settings["vat_permille"] + 500) // 1000

    def cost(self, places: int, reward: int) -> int:
        rewards = places * reward
        return rewards + sum(self.with_fees(rewards))

    def balance(self) -> dict[str, Any]:
        paid = sum(row["amount"] + row["fees"] for row in self.store.ledger())
        total = self.settings["money"] - paid
        locked = 0
        for study in self.store.all("study"):
            if study["status"] in {"ACTIVE", "PAUSED"}:
                submissions = self.store.all("submission", parent=study["id"])
                open_places = study["total_available_places"] - sum(
                    submission["status"] in PAID for submission in submissions
                )
                locked += self.cost(max(0, open_places), study["reward"])
        return {
            "currency_code": self.settings["currency"],
            "total_balance": total,
            "available_balance": total - locked,
            "balance_breakdown": {},
            "available_balance_breakdown": {},
        }

    # Studies

    def create_study(self, body: dict[str, Any]) -> dict[str, Any]:
        codes = [code["code"] for code in body["completion_codes"]]
        if len(set(codes)) != len(codes):
            raise Refused(400, {"completion_codes": ["Each code must be unique."]})
        floor = {"GBP": 600, "USD": 800}[self.settings["currency"]]
        if body["reward"] * 60 < floor * body["estimated_completion_time"]:
            raise Refused(400, {"reward": ["The reward is below the minimum an hour."]})
        for code in body["completion_codes"]:
            for action in code["actions"]:
                if action.get("fixed_screen_out_reward", 0) >= body["reward"]:
                    raise Refused(400, {"completion_codes": ["The screen-out reward is too high."]})
        study = {"id": new_id(), "status": "UNPUBLISHED", "created": self.now(), **body}
        self.store.put("study", study["id"], study)
        return self._shown(study)

    def _shown(self, study: dict[str, Any]) -> dict[str, Any]:
        taken = sum(s["status"] in HOLDS_PLACE for s in self.store.all("submission", parent=study["id"]))
        return {
            **study,
            "places_taken": taken,
            "total_cost": self.cost(study["total_available_places"], study["reward"]),
        }

    def _study(self, study_id: str) -> dict[str, Any]:
        study = self.store.get("study", study_id)
        if study is None:
            raise Refused(404, f"Study {study_id} was not found")
        return study

    def study(self, study_id: str) -> dict[str, Any]:
        return self._shown(self._study(study_id))

    def transition_study(self, study_id: str, action: str) -> dict[str, Any]:
        study = self._study(study_id)
        after = STUDY_MOVES.get((study["status"], action))
        if after is None:
            raise Refused(400, f"{action} is not possible for a study that is {study['status']}")
        cost = self.cost(study["total_available_places"], study["reward"])
        if action == "PUBLISH" and cost > self.balance()["available_balance"]:
            raise Refused(400, "There is not enough money in your balance.")
        study["status"] = after
        self.store.put("study", study_id, study)
        self._tell("study.status.change", {"resource_id": study_id, "metadata": {}, "status": after})
        return self._shown(study)

    # Submissions: actions of people

    def reserve(self, study_id: str, participant: str) -> dict[str, Any]:
        """Give a person a place; return it with the address to which they are sent."""
        study = self._study(study_id)
        submissions = self.store.all("submission", parent=study_id)
        if study["status"] != "ACTIVE":
            raise Refused(409, "the study is not active")
        if any(submission["participant"] == participant for submission in submissions):
            raise Refused(409, "this participant was here")
        if sum(s["status"] in HOLDS_PLACE for s in submissions) >= study["total_available_places"]:
            raise Refused(409, "the study is full")
        submission = {
            "id": new_id(),
            "study_id": study_id,
            "participant": participant,
            "status": "RESERVED",
            "started": self.now(),
            "changed": self.now(),
            "completed": None,
            "code": None,
            "bonuses": [],
            "return_requested": None,
        }
        self.store.put("submission", submission["id"], submission, parent=study_id)
        self._tell_of(submission)
        return {**self.shown(submission), "link": self._link(study, submission)}

    def _link(self, study: dict[str, Any], submission: dict[str, Any]) -> str:
        link: str = study["external_study_url"]
        for name, value in (
            ("PROLIFIC_PID", submission["participant"]),
            ("STUDY_ID", study["id"]),
            ("SESSION_ID", submission["id"]),
        ):
            link = link.replace(f"{{{{%{name}%}}}}", value)
        return link

    def start(self, submission_id: str) -> dict[str, Any]:
        """Open the link: the submission becomes active."""
        submission = self._submission(submission_id)
        if submission["status"] == "RESERVED":
            self._change(submission, "ACTIVE")
        return self.shown(submission)

    def complete(self, submission_id: str, code: str = "") -> dict[str, Any]:
        """Return to Prolific with or without a code, even after the time has expired."""
        submission = self._submission(submission_id)
        if submission["status"] not in {"RESERVED", "ACTIVE", "TIMED-OUT"}:
            raise Refused(409, f"a submission that is {submission['status']} cannot be completed")
        submission["code"] = code or "NOCODE"
        self._follow(submission, code, actor="participant")
        return self.shown(submission)

    def _follow(self, submission: dict[str, Any], code: str, *, actor: str) -> None:
        study = self._study(submission["study_id"])
        codes = {
            known["code"]: known
            for known in study["completion_codes"]
            if known.get("actor", "participant") == actor
        }
        submission["completed"] = self.now()
        action = codes[code]["actions"][0] if code in codes else {"action": "MANUALLY_REVIEW"}
        if action["action"] == "REQUEST_RETURN":
            submission["return_requested"] = self.now()
        if action["action"] == "FIXED_SCREEN_OUT_PAYMENT" and self._has_slot(study, action):
            self._pay(submission, "SCREENED OUT", action["fixed_screen_out_reward"])
        elif action["action"] == "AUTOMATICALLY_APPROVE":
            self._pay(submission, "APPROVED", study["reward"])
        else:
            self._change(submission, "AWAITING REVIEW")

    def _has_slot(self, study: dict[str, Any], action: dict[str, Any]) -> bool:
        submissions = self.store.all("submission", parent=study["id"])
        return sum(s["status"] == "SCREENED OUT" for s in submissions) < action["slots"]

    def give_back(self, submission_id: str) -> dict[str, Any]:
        """Return a place."""
        submission = self._submission(submission_id)
        if submission["status"] not in {"RESERVED", "ACTIVE", "AWAITING REVIEW", "TIMED-OUT"}:
            raise Refused(409, f"a submission that is {submission['status']} cannot be returned")
        self._change(submission, "RETURNED")
        return self.shown(submission)

    # Submissions: actions of researchers

    def _submission(self, submission_id: str) -> dict[str, Any]:
        submission = self.store.get("submission", submission_id)
        if submission is None:
            raise Refused(404, f"Submission {submission_id} was not found")
        return submission

    def submission(self, submission_id: str) -> dict[str, Any]:
        return self.shown(self._submission(submission_id))

    def submissions(self, study_id: str, page: int, page_size: int) -> dict[str, Any]:
        self._study(study_id)
        rows = self.store.all("submission", parent=study_id)
        begin = (page - 1) * page_size
        short = [
            {
                "id": row["id"],
                "participant_id": row["participant"],
                "status": row["status"],
                "started_at": _iso(row["started"]),
                "completed_at": _iso(row["completed"]),
                "study_code": row["code"],
                "has_siblings": False,
                "return_requested": _iso(row["return_requested"]),
            }
            for row in rows[begin : begin + page_size]
        ]
        return {"results": short, "meta": {"count": len(rows)}}

    def shown(self, submission: dict[str, Any]) -> dict[str, Any]:
        return {
            "id": submission["id"],
            "participant": submission["participant"],
            "study_id": submission["study_id"],
            "status": submission["status"],
            "started_at": _iso(submission["started"]),
            "completed_at": _iso(submission["completed"]),
            "entered_code": submission["code"],
            "bonus_payments": submission["bonuses"],
            "return_requested": _iso(submission["return_requested"]),
        }

    def approve(self, submission_ids: list[str]) -> None:
        """Approve and pay; a submission that is already approved is not paid again."""
        submissions = [self._submission(submission_id) for submission_id in submission_ids]
        for submission in submissions:
            if submission["status"] in PAID:
                continue
            if submission["status"] not in {"AWAITING REVIEW", "REJECTED", "TIMED-OUT"}:
                raise Refused(400, f"Submission {submission['id']} is {submission['status']}")
            study = self._study(submission["study_id"])
            self._pay(submission, "APPROVED", study["reward"])

    def transition_submission(self, submission_id: str, body: dict[str, Any]) -> dict[str, Any]:
        submission = self._submission(submission_id)
        status = submission["status"]
        if body["action"] == "APPROVE":
            self.approve([submission_id])
            submission = self._submission(submission_id)
        elif body["action"] == "REJECT" and status != "REJECTED":
            if status != "AWAITING REVIEW":
                raise Refused(400, f"Submission {submission_id} is {status}")
            self._change(submission, "REJECTED")
        elif body["action"] == "COMPLETE" and status != "SCREENED OUT":
            study = self._study(submission["study_id"])
            codes = [c["code"] for c in study["completion_codes"] if c.get("actor") == "researcher"]
            if body["completion_code"] not in codes or status not in {"ACTIVE", "AWAITING REVIEW"}:
                raise Refused(
                    400, {"completion_code": ["Not a code for researchers, or not the time for it."]}
                )
            self._follow(submission, body["completion_code"], actor="researcher")
        return self.shown(submission)

    def _pay(self, submission: dict[str, Any], status: str, amount: int) -> None:
        fees = sum(self.with_fees(amount))
        self.store.pay("reward", submission=submission["id"], amount=amount, fees=fees, at=self.now())
        self._change(submission, status)

    def _change(self, submission: dict[str, Any], status: str) -> None:
        submission["status"], submission["changed"] = status, self.now()
        self.store.put("submission", submission["id"], submission, parent=submission["study_id"])
        self._tell_of(submission)

    # Bonuses

    def create_bonuses(self, study_id: str, text: str) -> dict[str, Any]:
        self._study(study_id)
        rows = []
        for line in csv.reader(io.StringIO(text)):
            submission = self.store.get("submission", line[0])
            if len(line) != 2 or submission is None or submission["study_id"] != study_id:
                raise Refused(400, f"These ids are incorrect: {line[0]}")
            rows.append([line[0], round(float(line[1]) * 100)])
        amount = sum(row[1] for row in rows)
        fees, vat = self.with_fees(amount)
        batch = {"id": new_id(), "study": study_id, "rows": rows, "due": [], "amount": amount}
        batch |= {"fees": fees, "vat": vat, "total_amount": amount + fees + vat}
        self.store.put("batch", batch["id"], batch)
        return {name: batch[name] for name in ("id", "study", "amount", "fees", "vat", "total_amount")}

    def pay_bonuses(self, batch_id: str) -> None:
        """Take the money; people receive it a little later. Each call pays, even if it was made before."""
        batch = self.store.get("batch", batch_id)
        if batch is None:
            raise Refused(404, f"Bulk payment {batch_id} was not found")
        if batch["total_amount"] > self.balance()["available_balance"]:
            raise Refused(400, "There is not enough money in your balance.")
        for submission_id, amount in batch["rows"]:
            fees = sum(self.with_fees(amount))
            self.store.pay(
                "bonus", submission=submission_id, batch=batch_id, amount=amount, fees=fees, at=self.now()
            )
        batch["due"].append(self.now() + float(self.settings["bonus_delay"]))
        self.store.put("batch", batch_id, batch)
        self._pay_due(batch, self.now())

    def _pay_due(self, batch: dict[str, Any], now: float) -> None:
        due = [moment for moment in batch["due"] if moment <= now]
        if not due:
            return
        batch["due"] = [moment for moment in batch["due"] if moment > now]
        self.store.put("batch", batch["id"], batch)
        for _ in due:
            for submission_id, amount in batch["rows"]:
                submission = self._submission(submission_id)
                submission["bonuses"].append(amount)
                self.store.put("submission", submission_id, submission, parent=submission["study_id"])

    # Events

    def _tell_of(self, submission: dict[str, Any]) -> None:
        details = {"participant_id": submission["participant"], "status": submission["status"]}
        self._tell("submission.status.change", {"resource_id": submission["id"], **details})

    def _tell(self, event_type: str, body: dict[str, Any]) -> None:
        for subscription in self.store.all("subscription"):
            if (
                subscription["is_enabled"]
                and subscription["confirmed"]
                and subscription["event_type"] == event_type
            ):
                event = {
                    "id": secrets.token_hex(16),
                    "target": subscription["target_url"],
                    "body": {"event_type": event_type, **body},
                    "created": self.now(),
                    "due": 0.0,
                    "tries": 0,
                    "statuses": [],
                    "done": False,
                }
                self.store.put("event", event["id"], event, parent=WAITING)


def _iso(moment: float | None) -> str | None:
    return None if moment is None else datetime.fromtimestamp(moment, UTC).isoformat()
