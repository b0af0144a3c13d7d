"""Work survives a lost network, a restarted server, a closed tab, an expired session and a second tab."""

import socket
import threading
from contextlib import suppress
from urllib.parse import urlsplit

import pytest
from django.contrib.sessions.models import Session

from annotation.assignment import leases
from annotation.models import Annotation, Assignment, Box
from tests.e2e.annotator.steps import FIRST, assert_holds, drag, join, link, marking, rating, ready, saved
from tests.e2e.conftest import be_patient

__all__ = ["marking", "rating"]
pytestmark = [pytest.mark.e2e, pytest.mark.django_db(transaction=True)]

BOXES = "[data-overlay] [data-box]"
KEPT = "Object.keys(localStorage).filter((key) => key.startsWith('annotate:draft:'))"


class Passage:
    """A connection to a server that can be closed, which drops its traffic, and reopened at the same port."""

    def __init__(self, host: str, port: int) -> None:
        self.upstream = (host, port)
        self.port = 0
        self.sockets: list[socket.socket] = []

    def __enter__(self) -> "Passage":
        self.open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def open(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", self.port), reuse_port=False)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, args=(self.listener,), daemon=True).start()

    def close(self) -> None:
        for one in [self.listener, *self.sockets]:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        self.sockets.clear()

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                client, _ = listener.accept()
                server = socket.create_connection(self.upstream)
            except OSError:
                return
            self.sockets += [client, server]
            for source, sink in ((client, server), (server, client)):
                threading.Thread(target=self._carry, args=(source, sink), daemon=True).start()

    @staticmethod
    def _carry(source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)


def another_tab(page):
    """Return a new tab of the same browser profile, whose errors count as well."""
    tab = page.context.new_page()
    be_patient(tab)
    tab.on("pageerror", lambda error: page.complaints.append(str(error)))
    return tab


def leave(page) -> None:
    """Close the tab after preventing further requests.

    A closing tab is briefly online again, and might otherwise retry.
    """
    page.evaluate("() => { window.fetch = () => new Promise(() => {}); }")
    page.close()


def task_address(campaign) -> str:
    return f"/annotate/{campaign.pk}/"


def submit_into_nothing(page) -> None:
    """Submit an answer without receiving a response; the page keeps trying."""
    page.keyboard.press("0")
    page.context.set_offline(True)
    page.get_by_role("button", name="Submit").click()
    page.get_by_text("Not saved yet: no connection.").wait_for()


def test_a_network_that_goes_is_said_and_the_answer_arrives_when_it_is_back(page, marking):
    join(page, marking)
    page.context.set_offline(True)
    page.get_by_text("No connection. Your work is kept on this device.").wait_for()
    page.keyboard.press("1")
    drag(page, FIRST)
    page.get_by_role("button", name="Submit").click()
    page.get_by_text("Not saved yet: no connection.").wait_for()
    assert not Annotation.objects.exists()
    page.context.set_offline(False)
    saved(page, 1)
    assert_holds(Box.objects.get(), FIRST)
    page.complaints.clear()  # the browser reports the lost requests


def test_a_network_that_goes_and_comes_back_while_one_works_is_said(page, marking):
    join(page, marking)
    page.context.set_offline(True)
    page.get_by_text("No connection. Your work is kept on this device.").wait_for()
    page.context.set_offline(False)
    page.get_by_text("Connected again.").wait_for()


def test_a_server_that_stops_and_starts_again_delays_an_answer_and_loses_none(browser, marking, live_server):
    upstream = urlsplit(live_server.url)
    with Passage(upstream.hostname, upstream.port) as passage:
        context = browser.new_context(base_url=f"http://localhost:{passage.port}")
        page = context.new_page()
        be_patient(page)
        join(page, marking)
        page.keyboard.press("0")
        passage.close()
        page.get_by_role("button", name="Submit").click()
        page.get_by_text("Not saved yet: no connection.").wait_for()
        assert not Annotation.objects.exists()
        passage.open()
        saved(page, 1)
        context.close()
    assert Annotation.objects.get().none_of_the_above is True


def test_a_page_that_a_network_puts_in_between_is_not_taken_for_saved(page, marking):
    join(page, marking)
    page.keyboard.press("0")
    page.route("**/submit", lambda route: route.fulfill(status=200, body="<h1>Welcome to our hotel</h1>"))
    page.get_by_role("button", name="Submit").click()
    page.get_by_text("Not saved yet: no connection.").wait_for()
    page.unroute("**/submit")
    saved(page, 1)
    assert Annotation.objects.count() == 1


def test_what_was_begun_in_a_closed_tab_is_back_in_a_new_one(page, marking):
    join(page, marking)
    page.keyboard.press("1")
    drag(page, FIRST)
    page.get_by_text("Draft kept on this device.").wait_for()
    page.close()
    tab = another_tab(page)
    tab.goto(task_address(marking))
    ready(tab)
    tab.get_by_text("Your unfinished answer is restored.").wait_for()
    assert tab.locator(BOXES).count() == 1
    tab.get_by_role("button", name="Submit").click()
    saved(tab, 1)
    assert_holds(Box.objects.get(), FIRST)
    assert tab.evaluate(f"{KEPT}.map((key) => JSON.parse(localStorage[key]).answer).filter(Boolean)") == []


@pytest.mark.parametrize("opened", ["the task", "the list of tasks", "the end"])
def test_an_answer_that_no_server_confirmed_before_the_tab_was_closed_is_sent_by_the_next_page(
    page, marking, opened
):
    join(page, marking)
    submit_into_nothing(page)
    kept = page.evaluate(f"{KEPT}.map((key) => JSON.parse(localStorage[key]).sent)")
    leave(page)
    tab = another_tab(page)
    page.context.set_offline(False)
    assert not Annotation.objects.exists()
    addresses = {
        "the task": task_address(marking),
        "the list of tasks": "/annotate/",
        "the end": f"/annotate/{marking.pk}/done/",
    }
    tab.goto(addresses[opened])
    if opened == "the task":
        saved(tab, 1)
    else:
        tab.get_by_text("The answer you gave earlier is saved now.").wait_for()
    assert str(Annotation.objects.get().submission_id) == kept[0]["submission_id"]
    page.complaints.clear()


def test_an_answer_to_a_task_that_somebody_else_has_meanwhile_is_sent_beside_the_open_one(page, marking):
    join(page, marking)
    submit_into_nothing(page)
    first = Assignment.objects.get()
    leave(page)
    # The assignment expires, and another task is leased.
    Assignment.objects.filter(pk=first.pk).update(state="expired", slot=None, ended_at=first.leased_at)
    first.task.__class__.objects.filter(pk=first.task_id).update(held=0, wanted=0)
    tab = another_tab(page)
    page.context.set_offline(False)
    tab.goto(task_address(marking))
    tab.get_by_text("The answer you gave earlier is saved now.").wait_for()
    ready(tab)
    assert Annotation.objects.get().assignment_id == first.pk
    assert Assignment.objects.get(state="leased").pk != first.pk
    page.complaints.clear()


def test_an_answer_refused_for_good_is_told_and_not_sent_for_ever(page, marking):
    join(page, marking)
    submit_into_nothing(page)
    # Neither a tick nor 'none of the above', which every server refuses.
    page.evaluate(
        f"""() => {{
          for (const key of {KEPT}) {{
            const kept = JSON.parse(localStorage[key]);
            kept.sent.answer.none_of_the_above = false;
            localStorage[key] = JSON.stringify(kept);
          }}
        }}"""
    )
    leave(page)
    page.context.set_offline(False)
    given = Assignment.objects.get()
    leases.skip(assignment=given, annotator=given.annotator)
    tab = another_tab(page)
    tab.goto(task_address(marking))
    tab.get_by_text("An answer you gave earlier could not be saved").wait_for()
    assert tab.evaluate(f"{KEPT}.filter((key) => JSON.parse(localStorage[key]).sent)") == []
    page.complaints.clear()


def test_after_the_session_ended_the_same_link_brings_the_answer_back_and_sends_it(page, marking):
    address = link(marking)
    page.goto(address)
    page.get_by_role("button", name="Start").click()
    page.get_by_role("button", name="I am 18 or older and I agree").click()
    page.get_by_role("button", name="Skip").click()
    page.get_by_role("link", name="Go to the first task").click()
    ready(page)
    page.keyboard.press("1")
    drag(page, FIRST)
    Session.objects.all().delete()
    page.get_by_role("button", name="Submit").click()
    page.get_by_text("You are signed out. Your answer is kept on this device").wait_for()
    assert not Annotation.objects.exists()
    page.goto(address)
    page.get_by_role("button", name="Start").click()
    saved(page, 1)
    assert_holds(Box.objects.get(), FIRST)
    page.complaints.clear()


def test_a_draft_outlives_the_session_and_comes_back_after_signing_in_with_a_password(page, marking):
    join(page, marking)
    person = marking.enrolments.get().annotator.user
    person.set_password("a-long-enough-word")
    person.save()
    page.keyboard.press("1")
    drag(page, FIRST)
    Session.objects.all().delete()
    page.reload()
    page.complaints.clear()  # reported if the next task was requested after the session ended
    page.get_by_label("Username").fill(person.username)
    page.get_by_label("Password").fill("a-long-enough-word")
    page.get_by_role("button", name="Sign in", exact=True).click()
    ready(page)
    page.get_by_text("Your unfinished answer is restored.").wait_for()
    assert page.locator(BOXES).count() == 1


def test_nothing_is_sent_or_shown_as_somebody_else(page, marking):
    join(page, marking)
    submit_into_nothing(page)
    page.route("**/submit", lambda route: route.abort())
    page.context.set_offline(False)
    page.goto("about:blank")
    page.unroute("**/submit")
    page.context.clear_cookies()
    join(page, marking)
    page.wait_for_load_state("networkidle")
    assert page.locator("[data-unsent]").is_hidden()
    page.goto("/annotate/")
    page.wait_for_load_state("networkidle")
    assert not Annotation.objects.exists()
    assert len(page.evaluate(f"{KEPT}.filter((key) => JSON.parse(localStorage[key]).sent)")) == 1
    page.complaints.clear()


def test_signing_out_leaves_nothing_begun_on_the_device(page, marking):
    join(page, marking)
    page.keyboard.press("1")
    page.get_by_text("kept on this device").wait_for()
    page.goto("/annotate/")
    assert page.evaluate(f"{KEPT}.length") == 1
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url(lambda address: "/annotate/" not in address)
    assert page.evaluate(f"{KEPT}.length") == 0


def test_drafts_that_are_a_week_past_their_time_are_swept_away(page, marking):
    join(page, marking)
    page.evaluate(
        """localStorage.setItem("annotate:draft:9:gone:answer", JSON.stringify({who: "x", until: Date.now() - 1}));
        localStorage.setItem("annotate:draft:9:new:answer", JSON.stringify({who: "x", until: Date.now() + 60000}))"""
    )
    page.reload()
    ready(page)
    kept = page.evaluate(KEPT)
    assert "annotate:draft:9:new:answer" in kept
    assert "annotate:draft:9:gone:answer" not in kept


def test_two_tabs_of_one_task_show_the_same_and_undo_goes_back(page, marking):
    join(page, marking)
    tab = another_tab(page)
    tab.goto(task_address(marking))
    ready(tab)
    page.keyboard.press("1")
    drag(page, FIRST)
    tab.locator(BOXES).wait_for()
    tab.get_by_text("Answer changed in another tab.").wait_for()
    tab.get_by_role("button", name="Undo").click()
    assert tab.locator(BOXES).count() == 0
    page.locator(BOXES).wait_for(state="detached")
    page.get_by_role("button", name="Undo").click()
    tab.locator(BOXES).wait_for()
    tab.get_by_role("button", name="Submit").click()
    saved(tab, 1)
    page.get_by_text("This task was finished in another tab.").wait_for()
    page.get_by_role("link", name="Go to the current task").click()
    saved(page, 1)
    assert Annotation.objects.count() == 1
    assert_holds(Box.objects.get(), FIRST)


def test_leaving_is_asked_about_only_while_something_is_on_its_way(page, marking):
    asked = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    join(page, marking)
    page.keyboard.press("1")
    page.reload()
    ready(page)
    assert asked == []
    page.keyboard.press("0")
    page.route("**/submit", lambda route: route.abort())
    page.get_by_role("button", name="Submit").click()
    page.get_by_text("Not saved yet").wait_for()
    page.goto("/annotate/")
    assert asked == ["beforeunload"]
    page.goto("about:blank")  # otherwise the next attempt is reported too
    page.complaints.clear()
