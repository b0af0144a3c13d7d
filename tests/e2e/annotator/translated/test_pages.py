"""On a phone in German, Spanish and Hindi, the pages around the tasks show no English either.

These are the pages about oneself, the account, withdrawing, a panel, and all errors: no connection, invalid links
and addresses, too many attempts, a server that fails.
"""

from decimal import Decimal

import pytest
from django.conf import settings
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import translation

from annotation.campaigns import lifecycle
from annotation.models import Campaign, Enrolment
from annotation.people import invitations
from annotation.recruitment import providers, recruitments
from foundation.languages import TRANSLATIONS
from tests.e2e.annotator.steps import link, rating
from tests.e2e.annotator.translated.walk import Walk
from tests.e2e.conftest import PHONE

__all__ = ["rating"]
pytestmark = [
    pytest.mark.e2e,
    pytest.mark.django_db(transaction=True),
    pytest.mark.parametrize("language", TRANSLATIONS),
]
PASSWORD = "a long password"
SAVE = "form.about-you .button:not([name])"


@pytest.fixture
def walk(new_page, study, language) -> Walk:
    return Walk(new_page(size=PHONE, touch=True), language, names="Isles Panel GBP Zwirbeltum Quendolin")


@pytest.fixture
def joined(walk, rating) -> Campaign:
    """Return a campaign that the person on the walk has joined, up to its first task."""
    walk.begin(link(rating))
    for _ in range(4):
        walk.onward()
    walk.page.goto(reverse("annotate:task", args=[rating.pk]))
    return rating


def test_what_one_says_of_oneself(walk, rating):
    page = walk.page
    walk.begin(link(rating))
    walk.onward()
    walk.onward()
    page.locator("[name=gender]").fill("Zwirbeltum")
    page.locator("[name=nationality]").fill(
        page.locator("#id_nationality_suggestions option").nth(5).get_attribute("value")
    )
    page.locator("[name=languages]").fill(", ".join(str(number) for number in range(40)))
    walk.onward_by(SAVE)
    walk.look("about-you-refused")
    page.locator("[name=languages]").fill("")
    walk.onward_by(SAVE)
    walk.look("link")
    page.goto(reverse("annotate:profile"))
    walk.look("about-you-again")
    page.complaints.clear()  # the refusing page has an error status
    assert walk.met == {}


def test_changing_the_language_stopping_and_withdrawing(walk, joined, lead):
    page = walk.page
    for name in ("language", "link", "withdraw"):
        page.goto(reverse(f"annotate:{name}", args=[joined.pk]))
        walk.look(name)
    walk.onward_by(".button.danger")
    walk.look("withdrawn")
    page.goto(reverse("annotate:consent", args=[joined.pk]))
    walk.look("consent-after-withdrawal")
    walk.onward()
    for state in (Enrolment.State.PAUSED, Enrolment.State.EXCLUDED, Enrolment.State.ACTIVE):
        Enrolment.objects.update(state=state)
        page.goto(reverse("annotate:done", args=[joined.pk]))
        walk.look(f"done-{state}")
    for move in (lifecycle.pause, lifecycle.close):
        move(campaign=joined, by=lead)
        page.goto(reverse("annotate:task", args=[joined.pk]))
        walk.look(f"done-{move.__name__}")
        page.goto(reverse("annotate:home"))
        walk.look(f"home-{move.__name__}")
    assert walk.met == {}


def test_no_connection(walk, joined):
    page = walk.page
    page.locator("form.task-form[data-ready]").wait_for()
    for offline in (True, False):
        page.context.set_offline(offline)
        page.locator("#saved:not(:empty)").wait_for()
        walk.look(f"offline-{offline}")
    page.context.clear_cookies(name=settings.SESSION_COOKIE_NAME)
    page.locator("input[name=rating]").first.check(force=True)
    walk.submit()
    page.locator("a[href*='/account/sign-in/']").wait_for()
    walk.look("signed-out")
    page.complaints.clear()  # the browser reports refused requests
    assert walk.met == {}


def test_signing_in_and_the_account(walk, joined):
    page = walk.page
    person = Enrolment.objects.latest("pk").annotator.user
    person.username = "quendolin"
    person.set_password(PASSWORD)
    person.save()
    page.context.clear_cookies(name=settings.SESSION_COOKIE_NAME)
    page.goto(reverse("accounts:password"))
    walk.look("sign-in")
    sign_in(walk, "wrong")
    walk.look("sign-in-refused")
    sign_in(walk, PASSWORD)
    walk.look("password")
    for old, new, again in (
        ("wrong", "quendolin", "short"),
        (PASSWORD, "password", "password"),
        (PASSWORD, *("quite another",) * 2),
    ):
        for name, value in (("old_password", old), ("new_password1", new), ("new_password2", again)):
            page.locator(f"[name={name}]").fill(value)
        walk.onward_by("form .button.primary")
        walk.look(f"password-{again}")
    page.locator("[name=name]").fill("Zwirbeltum")
    walk.onward_by("form .button.primary")
    walk.look("token")
    page.locator("[name=name]").fill("Zwirbeltum")
    page.locator("[name=expires_on]").fill("2020-01-01")
    walk.onward_by("form .button.primary")
    walk.look("token-refused")
    walk.onward_by("td .button.danger")
    walk.look("token-revoked")
    page.goto(reverse("annotate:home"))
    walk.onward_by("[data-sign-out] button")
    walk.look("signed-out")
    page.complaints.clear()  # refusing pages have an error status
    assert walk.met == {}


def sign_in(walk: Walk, password: str) -> None:
    walk.page.locator("[name=username]").fill("quendolin")
    walk.page.locator("[name=password]").fill(password)
    walk.onward_by("form .button.primary")


def test_what_is_shown_when_something_is_wrong(walk, joined, rating):
    page = walk.page
    _, token = invitations.invite(campaign=rating, by=None)
    invitations.revoke(invitation=rating.invitations.latest("pk"), by=None)
    for name, address in (
        ("link-revoked", reverse("annotate:invitation", args=[token])),
        ("link-unknown", reverse("annotate:invitation", args=["nothing"])),
        ("no-such-page", "/annotate/nothing/here/"),
        ("no-such-campaign", reverse("annotate:task", args=[rating.pk + 1])),
        ("no-place", reverse("panel:end", args=["5f0c3c1e-58a5-4d7b-9a55-0a3b8c1d2e4f"])),
    ):
        page.goto(address)
        walk.look(name)
    page.goto(reverse("annotate:withdraw", args=[rating.pk]))
    page.context.clear_cookies(name=settings.CSRF_COOKIE_NAME)
    walk.onward_by(".button.danger")
    walk.look("form-expired")
    page.context.clear_cookies(name=settings.SESSION_COOKIE_NAME)
    page.goto(reverse("accounts:sign_in"))
    assert page.locator("[name=username]").count()
    while page.locator("[name=username]").count():
        sign_in(walk, "wrong")
    walk.look("too-many-tries")
    for status in (400, 403, 500, 503):
        with translation.override(walk.language):
            page.set_content(render_to_string(f"{status}.html"))
        walk.look(str(status))
    page.complaints.clear()  # refusing pages have an error status
    assert walk.met == {}


def test_from_a_panel_and_back(walk, rating, study, lead):
    page = walk.page
    links = providers.LinkForm("Isles Panel", "pid", "session", "", "https://panel.example/done?cc={code}")
    panel = providers.add(study=study, by=lead, name="Isles Panel", links=links)
    terms = recruitments.Terms(
        name="Anybody", places=2, screens=1, minutes=10, reward=Decimal("2.00"), currency="GBP"
    )
    draft = recruitments.create(campaign=rating, provider=panel, by=lead, terms=terms)
    recruitment = recruitments.move(recruitment=draft, to="open", by=lead)
    address = reverse("panel:arrive", args=[recruitment.public_id])
    walk.begin(f"{address}?pid=5f3a0c&session=77")
    walk.look("panel-welcome")
    page.goto(reverse("panel:end", args=[recruitment.public_id]))
    walk.look("panel-not-agreed")
    page.goto(reverse("panel:welcome", args=[recruitment.public_id]))
    for _ in range(3):
        walk.onward()
    page.locator("form.task-form[data-ready]").wait_for()
    walk.look("panel-task")
    page.goto(reverse("panel:end", args=[recruitment.public_id]))
    walk.look("panel-working")
    page.goto(reverse("annotate:task", args=[rating.pk]))
    walk.answer()
    walk.submit()
    page.wait_for_url("**/end/")
    walk.look("panel-completed")
    recruitments.move(recruitment=recruitment, to="pause", by=lead)
    for name, query in (
        ("closed", "?pid=other&session=78"),
        ("again", "?pid=5f3a0c&session=79"),
        ("no-id", ""),
    ):
        page.goto(address + query)
        walk.look(f"panel-{name}")
    page.complaints.clear()  # refusing pages have an error status
    assert walk.met == {}
