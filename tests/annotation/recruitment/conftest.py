"""An open recruitment of the marking campaign, and people who come by the panel's links."""

from decimal import Decimal

import pytest
from django.test import Client
from django.urls import reverse

from accounts import profiles
from annotation.assignment import leases
from annotation.recruitment import providers, recruitments
from annotation.recruitment.models import PanelPlace, Provider, Recruitment
from annotation.recruitment.recruitments import Terms
from studies import consent
from tests.annotation.factories import submit
from tests.annotation.lead.conftest import queries
from tests.services.prolific.fake import FakeProlific

__all__ = ["queries"]


@pytest.fixture
def fake(tmp_path, settings, _prolific_of_process) -> FakeProlific:
    """A stand-in for Prolific in a separate process, reset for each test."""
    _prolific_of_process.start_anew(tmp_path / "prolific.sqlite")
    settings.PROLIFIC_URL = _prolific_of_process.url
    return _prolific_of_process


@pytest.fixture
def panel(study, lead) -> Provider:
    """A panel whose links name person, session and study, and to which people return."""
    links = providers.LinkForm(
        "Isles Panel", "pid", "session", "survey", "https://panel.example/done?cc={code}"
    )
    return providers.add(study=study, by=lead, name="Isles Panel", links=links)


@pytest.fixture
def recruit(marking, panel, lead):
    """Return a function that opens a recruitment, by default of two places of three screens."""

    def made(campaign=marking, **changes) -> Recruitment:
        terms = {
            "name": "Anybody", "places": 2, "screens": 3, "minutes": 10, "reward": Decimal("2.00"),
            "currency": "GBP",
        }  # fmt: skip
        draft = recruitments.create(
            campaign=campaign, provider=panel, by=lead, terms=Terms(**{**terms, **changes})
        )
        return recruitments.move(recruitment=draft, to="open", by=lead)

    return made


@pytest.fixture
def recruitment(recruit) -> Recruitment:
    return recruit()


class Guest(Client):
    """A browser in which somebody opens a panel's link."""

    def arrive(self, recruitment: Recruitment, person: str, session: str | None = None):
        self.recruitment = recruitment
        query = {"pid": person, "session": session or f"{person}-session", "survey": "remote-study-77"}
        return self.get(reverse("panel:arrive", args=[recruitment.public_id]), query)

    def page(self, name: str) -> str:
        return reverse(f"panel:{name}", args=[self.recruitment.public_id])

    @property
    def place(self) -> PanelPlace:
        user = self.session["_auth_user_id"]
        return PanelPlace.objects.filter(enrolment__annotator__user=user).latest("pk")

    def agree(self):
        """Agree to the text and skip the questions about oneself."""
        enrolment = self.place.enrolment
        text = consent.current_text(enrolment.campaign.study)
        consent.give(annotator=enrolment.annotator, text=text)
        profiles.describe(annotator=enrolment.annotator)
        return self

    def answer(self, number: int) -> int:
        """Answer all screens given out, at most `number`; return the number answered."""
        enrolment = self.place.enrolment
        for done in range(number):
            leased = leases.next_assignment(campaign=enrolment.campaign, annotator=enrolment.annotator)
            if leased is None:
                return done
            submit(leased)
        return number


@pytest.fixture
def guest(db):
    """Return a browser of somebody new, who came by the link of a recruitment."""

    def came(recruitment: Recruitment, person: str = "5f3a0c", *, ready: bool = True) -> Guest:
        browser = Guest()
        browser.arrive(recruitment, person)
        return browser.agree() if ready else browser

    return came
