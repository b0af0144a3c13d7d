"""axe-core (WCAG 2.2 AA) finds nothing on any page, in light and dark, on a desktop and on a phone."""

from functools import partial

import pytest
from django.template.loader import render_to_string
from django.test import RequestFactory
from django.urls import reverse

from accounts import profiles
from accounts.rights import Role
from annotation.answers.attribute_references import shown_attributes
from annotation.assignment import leases
from annotation.campaigns import known_tasks
from annotation.label_studio.models import LabelStudioAnnotation
from annotation.people import invitations
from annotation.quality.practice import rounds
from catalog.models import Attribute
from jobs.models import Job
from tests.analysis.probing.weavers import probe_weavers
from tests.analysis.questions.every_kind import answer_every_kind
from tests.annotation.factories import new_annotator, submit
from tests.annotation.label_studio import rows
from tests.annotation.label_studio.scenario import text_of, told
from tests.e2e.annotator.steps import marking, rating
from tests.e2e.axe import ONE_LOOK, open_parts, sign_in, violations, visit, wrong
from tests.front.addresses import opened_by
from tests.front.pages import (
    PROBING,
    C,
    S,
    add_check,
    annotator_pages,
    busy,
    label_studio_pages,
    lead_pages,
    looked_into,
    more_automated_pages,
    more_lead_pages,
    panel_pages,
    practice_pages,
    signed_out_pages,
)
from tests.front.test_links import members

__all__ = ["busy", "marking", "rating"]
pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.django_db(transaction=True)]


def test_every_page_of_an_annotator(new_page, busy, marking, rating, client, live_server):
    page = new_page()
    token = invitations.invite(campaign=marking, by=None)[1]
    found = visit(page, reverse("annotate:invitation", args=[token]))
    found += visit(page, "/annotate/i/unknown/", status=404)
    page.complaints.clear()  # the unknown link is answered 404
    person = new_annotator(marking)
    sign_in(page, client, person.user, live_server)
    page.goto(f"/annotate/{marking.pk}/")  # redirects to the page about oneself
    page.get_by_role("button", name="Skip").click()
    page.get_by_text("Your personal link").first.wait_for()
    found += violations(page)
    done = leases.next_assignment(campaign=marking, annotator=person)
    submit(done)
    # A task during work: ticked, with a selected box, a refusal and every notice visible.
    page.goto(f"/annotate/{marking.pk}/")
    page.locator("[data-drawing]:not([hidden])").wait_for()
    page.locator("form[data-task][data-ready]").wait_for()
    page.keyboard.press("1")
    page.keyboard.press("b")
    page.keyboard.press("2")
    page.get_by_role("button", name="Submit").click()
    page.get_by_role("button", name="Zoom in").click()
    open_parts(page)
    page.evaluate(
        "for (const id of ['break-reminder', 'task-expired', 'warning']) document.getElementById(id).hidden = false"
    )
    found += [f"task at work {one}" for one in violations(page)]
    found += wrong(page, annotator_pages(marking, person, token).values())
    page.context.add_cookies([{"name": "stereoscope_blur", "value": "1", "url": live_server.url}])
    found += visit(page, f"/annotate/{marking.pk}/")
    invitation = invitations.invite(campaign=rating, by=None)[1]
    invitations.accept(token=invitation, user=person.user)
    page.goto(f"/annotate/{rating.pk}/")
    page.locator("form[data-task][data-ready]").wait_for()
    page.keyboard.press("5")
    page.get_by_role("button", name="Submit").click()
    found += violations(page)
    assert found == []


def test_every_page_of_practice(new_page, marking, rating, lead, client, live_server):
    task = add_check(marking, lead, "practice")
    drum = Attribute.objects.get(text="drum")
    known_tasks.add(
        campaign=rating,
        purpose="practice",
        by=lead,
        content=known_tasks.TaskContent(attributes=[drum]),
        answers={drum: [4, 5]},
    )
    person = new_annotator(marking)
    profiles.describe(annotator=person)
    page = new_page()
    sign_in(page, client, person.user, live_server)
    at = practice_pages(marking, task.public_id)
    found = wrong(page, [at["annotate:practice"], at["annotate:practice_task"]])
    given = {"ticked": [shown_attributes(task)[0].ref], "none_of_the_above": False}
    rounds.answer(task=task, annotator=person, data=given)
    found += wrong(page, [at["annotate:practice_answer"], at["annotate:practice"]])
    invitations.accept(token=invitations.invite(campaign=rating, by=None)[1], user=person.user)
    at = practice_pages(rating, task.public_id)
    found += wrong(page, [at["annotate:practice"], at["annotate:practice_task"]])
    page.locator("form[data-practice][data-ready]").wait_for()
    page.keyboard.press("3")
    page.get_by_role("button", name="Submit").click()
    page.get_by_role("heading", name="0 of 1 right").wait_for()
    found += violations(page)
    assert found == []


def test_every_page_about_label_studio(new_page, marking, lead, client, live_server):
    page = new_page()
    sign_in(page, client, lead, live_server)
    study = marking.study
    before = label_studio_pages(0, 0)
    empty = [before["annotation:label_studio"], before["annotation:campaign_label_studio"]]
    found = wrong(page, empty)
    server = rows.server_of(study)
    found += wrong(page, [before["annotation:campaign_label_studio"]])  # now there are options
    bridge = rows.bridge_of(marking, server)
    user = rows.user_of(server, 1)
    at = label_studio_pages(server.pk, user.pk)
    found += wrong(page, [at["annotation:label_studio_people"], at["annotation:label_studio_answers"]])
    named = rows.user_of(server, 2, state="mapped", annotator=new_annotator(marking))
    for state in rows.State.values:
        rows.seen(bridge, named, state=state, reason="Why it is so.")
    rows.seen(bridge, named, missing="held")
    rows.in_trouble(bridge)
    task = marking.tasks.earliest("pk")
    told(bridge, task, 901, 2, minute=1)
    told(bridge, task, 901, 2, text_of(task), minute=1, changed=2, updated_by=1)  # by another person
    changed = LabelStudioAnnotation.objects.get(external_id=901)
    work = {"kind": "label_studio.push", "title": "Push", "arguments": {"bridge": bridge.pk}}
    Job.objects.create(**work, study_id=study.pk, state="running", steps_done=3, steps_total=40)
    at = label_studio_pages(server.pk, user.pk, changed.pk, looked_into(study).pk)
    found += wrong(page, at.values())
    label = reverse("annotation:annotation", kwargs={**C, "annotation": changed.annotation_id})
    found += wrong(page, [label])
    found += wrong(page, [label_studio_pages(server.pk, named.pk)["annotation:label_studio_person"]])
    assert found == []


def test_every_page_of_a_lead(new_page, busy, lead, client, live_server):
    lead.is_staff = True  # for the gallery
    lead.save()
    client.force_login(lead)
    client.post(reverse("analysis:compute", kwargs=S))
    page = new_page()
    sign_in(page, client, lead, live_server)
    found = wrong(page, [*lead_pages().values(), *more_lead_pages()])
    page.goto(reverse("annotation:invitations", kwargs=C))
    page.get_by_role("button", name="Make the link").click()
    page.get_by_role("link", name="I have copied it").wait_for()
    found += violations(page)
    assert found == []


def test_every_page_of_other_members(new_page, busy, lead, client, live_server):
    client.force_login(lead)
    client.post(reverse("analysis:compute", kwargs=S))
    addresses = [*lead_pages().values(), *more_automated_pages()]
    page = new_page()
    found = []
    for role in (Role.COORDINATOR, Role.STEWARD, Role.ANALYST):
        sign_in(page, client, members(role), live_server)
        found += [f"{role} {one}" for one in wrong(page, opened_by(role, addresses), ONE_LOOK)]
    assert found == []


def test_every_page_before_signing_in_and_of_a_panel(new_page, marking, lead, client, live_server, settings):
    settings.EMAIL_HOST = "mail.example.org"
    page = new_page()
    found = wrong(page, signed_out_pages().values())
    of_panel = panel_pages(marking, lead, client)
    cookie = client.cookies["stereoscope_session"].value
    page.context.add_cookies([{"name": "stereoscope_session", "value": cookie, "url": live_server.url}])
    found += visit(page, of_panel.pop("panel:refused"), status=409)
    found += wrong(page, of_panel.values())
    page.complaints.clear()  # the browser reports the status 409
    assert found == []


def test_results_of_declared_questions(new_page, study, lead, analyst, client, live_server):
    answer_every_kind(study)
    client.force_login(lead)
    client.post(reverse("analysis:compute", kwargs=S))
    page = new_page()
    sign_in(page, client, analyst, live_server)
    questions = reverse("analysis:questions", kwargs=S)
    queries = ["", "?campaign=ranking", "?campaign=rubric", "?campaign=rubric&question=why"]
    overview = reverse("analysis:overview", kwargs=S)
    assert wrong(page, [overview, *(questions + query for query in queries)]) == []


def test_results_of_probes(new_page, lead, client, live_server):
    probed = probe_weavers(lead)
    results = {"study": probed.study.slug}
    client.force_login(lead)
    client.post(reverse("analysis:compute", kwargs=results))
    page = new_page()
    sign_in(page, client, lead, live_server)
    probes = reverse("analysis:probes", kwargs=results)
    names = ("overview", *PROBING)
    addresses = [reverse(f"analysis:{name}", kwargs=results) for name in names]
    assert wrong(page, [*addresses, f"{probes}?by=scenario"]) == []


def test_sign_in_start_page_and_errors(new_page, busy, client, live_server, settings):
    settings.DEMO = True
    page = new_page()
    found = wrong(page, ["/", "/account/sign-in/"])
    found += visit(page, "/no/such/page/", status=404)
    page.goto("/account/sign-in/")
    page.get_by_label("Username").fill("nobody")
    page.get_by_label("Password", exact=True).fill("wrong")
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.locator(".error-summary").wait_for()
    found += violations(page)
    for template in ("400.html", "403.html", "403_csrf.html", "404.html", "500.html"):
        body = render_to_string(template, request=RequestFactory().get("/"))
        page.route(f"**/{template}", partial(_answer, body))
        found += visit(page, f"/{template}")
    page.complaints.clear()  # the browser reports the status 404
    assert found == []


def _answer(body, route) -> None:
    route.fulfill(body=body, content_type="text/html")
