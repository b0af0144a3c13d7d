"""A recruitment whose study is at a stand-in for Prolific, with people in every state there."""

import uuid
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.db.models import F
from django.utils import timezone

from annotation.recruitment import identities
from annotation.recruitment.models import PanelPayment, PanelPlace, Recruitment
from annotation.recruitment.payments.send import Outbox, send_due
from annotation.recruitment.prolific.client import CompletionCode, ProlificClient, StudyDraft
from annotation.recruitment.prolific.connection import Patience
from tests.annotation.lead.conftest import queries
from tests.annotation.recruitment.conftest import guest, panel, recruit, recruitment
from tests.services.prolific.fake import FakeProlific

__all__ = ["guest", "panel", "queries", "recruit", "recruitment"]
PATIENCE = Patience(seconds=1.0, pauses=0.0, tries=1)


@pytest.fixture
def client_at(fake) -> Iterator[ProlificClient]:
    with ProlificClient(fake.url, fake.token, patience=PATIENCE) as client:
        yield client


class PaidStudy:
    """A recruitment here and its study at the panel."""

    def __init__(self, recruitment: Recruitment, fake: FakeProlific, client: ProlificClient) -> None:
        self.recruitment, self.fake, self.client = recruitment, fake, client

    def place(self, *, ends: str = "complete", answered: int = 3) -> PanelPlace:
        """Return the place of a new person, who completes or returns it, here and at the panel."""
        submission = self.fake.reserve(self.recruitment.remote_study, uuid.uuid4().hex)["id"]
        self.fake.open_link(submission)
        if ends == "complete":
            self.fake.complete(submission, self.recruitment.completed_code)
        elif ends == "give_back":
            self.fake.give_back(submission)
        return PanelPlace.objects.create(
            recruitment=self.recruitment,
            submission_hash=identities.hashes(submission)[0],
            submission_sealed=identities.seal(submission),
            answered=answered,
            state="left" if ends == "give_back" else "completed",
            ended_at=timezone.now(),
            reason="The answers were given without looking at the pictures, as three checks in a row showed. "
            * 2,
        )

    def order(self, place: PanelPlace, kind: str = "bonus", **fields) -> PanelPayment:
        fields = {"amount": 50, **({"cause": "work"} if kind == "bonus" else {}), **fields}
        return PanelPayment.objects.create(place=place, kind=kind, currency="GBP", **fields)

    def send(self, client: ProlificClient | None = None) -> None:
        """Do one round of the job, without its waits."""
        PanelPayment.objects.update(next_try_at=None)
        send_due(Outbox(self.recruitment, client or self.client))

    def let_pass(self, **duration: float) -> None:
        """Let time pass here."""
        for name in ("sent_at", "looked_at"):
            PanelPayment.objects.update(**{name: F(name) - timedelta(**duration)})

    def paid(self, what: str = "bonus") -> list[int]:
        """Return the payments made by the panel."""
        return [row["amount"] for row in self.fake.ledger() if row["what"] == what]

    def state(self, payment: PanelPayment) -> str:
        payment.refresh_from_db()
        return payment.state


@pytest.fixture
def paid_study(recruit, fake, client_at) -> PaidStudy:
    made = recruit(places=50)
    codes = (CompletionCode(made.completed_code, "COMPLETED", "MANUALLY_REVIEW"),)
    draft = StudyDraft(
        name="Drawings", description="Say what you see.", internal_name="Isles", places=50, minutes=10,
        reward=200, codes=codes, link="https://labels.example/?PROLIFIC_PID={{%PROLIFIC_PID%}}",
    )  # fmt: skip
    study = client_at.create_study(draft)
    client_at.transition_study(study.id, "PUBLISH")
    made.remote_study = study.id
    made.save(update_fields=["remote_study"])
    return PaidStudy(made, fake, client_at)
