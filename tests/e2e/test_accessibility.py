"""axe-core (WCAG 2.2 AA) finds nothing on any page, in light and dark, on a desktop and on a phone."""

from functools import partial
from pathlib import Path

import pytest
from django.template.loader import render_to_string
from django.test import RequestFactory
from django.urls import URLResolver, get_resolver, reverse
from django.utils import timezone

from accounts import profiles
from analysis.models import ScoredImage, Scorer
from analysis.results.parameters import parameters_of
from analysis.results.reports import compute_report
from analysis.scoring.launch import plan_scorer
from annotation.answers.references import shown
from annotation.assignment import leases
from annotation.campaigns import known_tasks, lifecycle
from annotation.campaigns.images import reports
from annotation.label_studio.format.inventory import take_inventory
from annotation.models import Annotation, LabelStudioAnnotation, Task
from annotation.people import invitations
from annotation.quality.practice import rounds
from catalog.models import Attribute
from jobs.models import Job
from studies.models import Study
from tests.analysis.automated import factories
from tests.analysis.releases.past_release import past_release
from tests.annotation.factories import new_annotator, submit, ticking
from tests.annotation.label_studio import rows
from tests.annotation.label_studio.format.test_importer import foreign
from tests.annotation.label_studio.scenario import text_of, told
from tests.e2e.annotator.steps import marking, rating
from tests.e2e.conftest import DESKTOP, PHONE

__all__ = ["marking", "rating"]
pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.django_db(transaction=True)]

AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text(encoding="utf-8")
EVERYTHING = {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}
# All that can differ between light and dark.
COLOURS = {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}
FIND = """async (rules) => {
  const found = await axe.run(document, {runOnly: rules, resultTypes: ["violations"]});
  const words = (id, node) => `${id}: ${node.target} ${node.html.slice(0, 160)} ${node.failureSummary}`;
  return found.violations.flatMap(({id, nodes}) => nodes.map((node) => words(id, node)));
}"""
# Answers that are no pages: forms that only take a POST, downloads, pictures, data for scripts and machines.
NOT_PAGES = {
    "accounts:sign_out", "accounts:create_token", "accounts:revoke_token", "jobs:progress", "jobs:cancel",
    "jobs:retry", "studies:new_totals", "studies:new_mcas_totals", "studies:member_remove", "annotation:image_decide",
    "annotation:image_restore", "annotation:draft_asking", "annotation:campaign_progress",
    "annotation:campaign_open", "annotation:campaign_pause", "annotation:campaign_resume",
    "annotation:campaign_close", "annotation:campaign_reopen", "annotation:invitation_made",
    "annotation:invitation_revoke", "annotation:invitation_reissue", "annotation:annotation_exclude",
    "annotation:annotation_readmit", "annotation:quality_check", "annotation:quality_rule_remove",
    "annotation:screens_reopen", "annotate:warning_read",
    "annotation:pay_table", "analysis:compute", "analysis:table", "analysis:plot",
    "analysis:archive", "analysis:labels", "releases:build", "releases:download",
    "analysis:report", "analysis:compare_compute", "scoring:go_on", "scoring:score_unrounded",
    "generation:estimate", "generation:go_on",
    "annotation:known_settings", "annotation:known_remove",
    "annotation:label_studio_check", "annotation:label_studio_token", "annotation:label_studio_person_confirm",
    "annotation:label_studio_person_invite", "annotation:label_studio_person_ignore",
    "annotation:label_studio_person_undo", "annotation:label_studio_person_erase",
    "annotation:campaign_label_studio_missing_deleted", "annotation:campaign_label_studio_missing_kept",
    "annotation:campaign_label_studio_live", "annotation:campaign_label_studio_renew",
    "annotation:campaign_label_studio_push", "annotation:campaign_label_studio_reconcile",
    "annotation:campaign_label_studio_replace", "annotation:label_studio_answer_keep",
    "annotation:label_studio_answer_take", "annotation:label_studio_answer_restore",
    "annotation:label_studio_answer_undo",
    "annotate:ahead", "annotate:answer", "annotate:skip", "annotate:report", "annotate:make_link", "images:image",
    "pictures:picture",
    "set_language", "api-schema", "healthz", "readyz", "metrics",
    "api-docs",  # Swagger's own page, not ours to mend
}  # fmt: skip
C = {"study": "isles", "campaign": "marking"}
S = {"study": "isles"}
AUTOMATED = ("automated", "concordance", "captions", "pull", "mcas", "automated_tendency")


def named_pages(resolver: URLResolver | None = None, prefix: str = "") -> set[str]:
    """Return the names of every address that people may open, without administration and API."""
    found: set[str] = set()
    for entry in (resolver or get_resolver()).url_patterns:
        if isinstance(entry, URLResolver):
            if entry.namespace not in {"admin", "api"}:
                inner = f"{prefix}{entry.namespace}:" if entry.namespace else prefix
                found |= named_pages(entry, inner)
        elif entry.name:
            found.add(prefix + entry.name)
    return found


@pytest.fixture
def busy(study, marking, rating, lead):
    """A study with answers, an open report of a picture, a retracted one, a draft, and computed results."""
    people = [new_annotator(marking) for _ in range(3)]
    for person in people:
        for number in range(3):
            leased = leases.next_assignment(campaign=marking, annotator=person)
            texts = [one.attribute.text for one in leased.task.task_attributes.order_by("position")]
            submit(leased, ticking(leased, *texts[: 1 + number]))
    leased = leases.next_assignment(campaign=marking, annotator=people[0])
    reports.report(assignment=leased, annotator=people[0], reason="other", details="Odd hands.")
    other = leases.next_assignment(campaign=marking, annotator=people[1])
    if other.task.image_id != leased.task.image_id:
        reports.retract(image=other.task.image, by=lead, reason="Shows a real person.")
    add_check(marking, lead)
    study.groups.filter(name="Velmari").update(map_code="MLT")  # so that there is a map
    Job.objects.create(kind="generate", title="Generate 4 images", study_id=study.pk, created_by=lead)
    lifecycle.create(study=study, name="Drafted", kind="stereotype_marking", by=lead)
    past_release(study, lead)
    add_scorers(study, lead)
    factories.score(study)
    factories.describe(study)
    seen_by_machines(study, lead)
    return study


def seen_by_machines(study, lead) -> None:
    """Another study: images of pull's conditions and of phrases, by two models, that nobody judged."""
    other = Study.objects.create(
        name="Phrases", slug="phrases", resource=study.resource, seed=1, created_by=lead
    )
    for group in study.groups.all():
        other.groups.create(name=group.name, display_name=group.display_name, region=group.region)
    for member in study.memberships.all():
        other.memberships.create(user=member.user, role=member.role)
    factories.associate(other, models=("sketch", "brush"))
    for group in other.groups.all():
        factories.image(other, f"default {group.name}", group=group)
    factories.draw_near(other)
    compute_report(study=other, parameters=parameters_of(other, resamples=100), by=lead)


def add_scorers(study, lead) -> None:
    """One scorer that could not read an image, and one of captions that nobody started."""
    scorer = plan_scorer(study=study, kind="clip", by=lead)
    image = study.images.filter(retracted_at=None).first()
    ScoredImage.objects.create(scorer=scorer, image=image, outcome="failed", reason="Its file is damaged.")
    plan_scorer(study=study, kind="captions", model_id="org/writer", by=lead)


def add_check(campaign, lead, purpose: str = "gold"):
    """Make a task with known answers: one right, one wrong, one not scored."""
    texts = ("tall hat", "drum", "kite")
    one, two, three = (Attribute.objects.get(text=text) for text in texts)
    return known_tasks.add(
        campaign=campaign,
        purpose=purpose,
        by=lead,
        image=campaign.study.images.filter(retracted_at=None).first(),
        attributes=[one, two, three],
        answers={one: True, two: False},
        explanations={one: "It stands on the head."},
    )


def sign_in(page, client, user, live_server) -> None:
    client.force_login(user)
    cookie = client.cookies["stereoscope_session"].value
    page.context.add_cookies([{"name": "stereoscope_session", "value": cookie, "url": live_server.url}])


def violations(page) -> list[str]:
    """Run axe on the page as it stands, in every scheme and size."""
    found: set[str] = set()
    page.evaluate(AXE)
    for size in (DESKTOP, PHONE):
        page.set_viewport_size(size)
        # At its end the row of buttons that sticks to the screen's edge lies over nothing.
        page.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)")
        for scheme, rules in (("light", EVERYTHING), ("dark", COLOURS)):
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            found |= {f"{scheme} {size['width']} {one}" for one in page.evaluate(FIND, rules)}
    page.set_viewport_size(DESKTOP)
    return sorted(found)


def open_parts(page) -> None:
    """Open everything that can be opened, so that nothing is judged unseen."""
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")


def visit(page, address, *, status: int = 200) -> list[str]:
    assert page.goto(address).status == status, address
    open_parts(page)
    return [f"{address} {one}" for one in violations(page)]


def wrong(page, addresses) -> list[str]:
    return [one for address in addresses for one in visit(page, address)]


def annotator_pages(campaign, person, token) -> dict[str, str]:
    pk = campaign.pk
    names = ("task", "answers", "previous", "done", "consent", "withdraw", "link", "profile")
    return {
        "annotate:home": reverse("annotate:home"),
        "annotate:pay": reverse("annotate:pay"),
        "annotate:invitation": reverse("annotate:invitation", args=[token]),
        **{f"annotate:{name}": reverse(f"annotate:{name}", args=[pk]) for name in names},
    }


def practice_pages(campaign, task) -> dict[str, str]:
    pk = campaign.pk
    return {
        "annotate:practice": reverse("annotate:practice", args=[pk]),
        "annotate:practice_task": reverse("annotate:practice_task", args=[pk]),
        "annotate:practice_answer": reverse("annotate:practice_answer", args=[pk, task]),
    }


def looked_into(study) -> Job:
    """A file from a Label Studio that a worker has looked into."""
    return Job.objects.create(
        kind="label_studio.look_into_export",
        title="Look",
        study_id=study.pk,
        state="succeeded",
        finished_at=timezone.now(),
        arguments={"file_name": "export.json", "export": "uploads/nowhere.json"},
        result={"inventory": take_inventory([foreign()]).described()},
    )


def label_studio_pages(server: int, user: int, answer: int = 0, look: int = 0) -> dict[str, str]:
    at = {**S, "server": server}
    named = {
        "label_studio": S, "label_studio_server": at, "label_studio_disconnect": at, "label_studio_people": at,
        "label_studio_person": {**at, "user": user}, "campaign_label_studio": C, "campaign_label_studio_end": C,
        "label_studio_answers": C, "campaign_label_studio_missing": C, "campaign_label_studio_cleanup": C,
        "label_studio_answer": {**C, "answer": answer}, "label_studio_file_upload": S,
        "label_studio_file": {**S, "look": look},
    }  # fmt: skip
    return {
        f"annotation:{name}": reverse(f"annotation:{name}", kwargs=values) for name, values in named.items()
    }


def lead_pages() -> dict[str, str]:
    """Return what a lead opens, by name; the rows they name exist in `busy`."""
    # Which picture `busy` retracts follows from the order of tasks; a retracted one has no page of results.
    standing = Annotation.objects.filter(task__image__isnull=False, task__image__retracted_at=None)
    annotation = standing.filter(status="accepted").latest("pk")
    image = annotation.task.image
    enrolment = annotation.campaign.enrolments.latest("pk").pk
    scorer = Scorer.objects.filter(kind="clip").earliest("pk").pk
    move = {**C, "enrolment": enrolment, "move": "pause"}
    named = {
        "studies:list": {}, "studies:new": {}, "studies:new_mcas": {}, "studies:detail": S, "studies:members": S,
        "studies:consent": S, "studies:own_words": S, "studies:history": S,
        "generation:images": S, "generation:not_made": S,
        "generation:generate": S, "generation:import_images": S, "annotation:image_reports": S,
        "annotation:campaigns": S, "annotation:campaign_new": S, "annotation:campaign": C,
        "annotation:campaign_edit": {**C, "campaign": "drafted"},
        "annotation:campaign_delete": {**C, "campaign": "drafted"}, "annotation:preview": C,
        "annotation:campaign_settings": C, "annotation:campaign_extend": C, "annotation:campaign_copy": C,
        "annotation:instrument": C, "annotation:instrument_change": C, "annotation:pay": C,
        "annotation:campaign_close_confirm": C, "annotation:coverage": C, "annotation:screens": C,
        "annotation:quality": C,
        "annotation:annotators": C, "annotation:enrolment_move": move, "annotation:invitations": C,
        "annotation:known_tasks": C, "annotation:known_new": C,
        "annotation:known_change": {**C, "task": annotation.campaign.tasks.get(purpose="gold").public_id},
        "annotation:annotations": C, "annotation:annotation": {**C, "annotation": annotation.pk},
        "analysis:overview": S, "analysis:groups": S, "analysis:attributes": S, "analysis:agreement": S,
        "analysis:visual_attributes": S, "analysis:annotators": S, "analysis:disagreement": S,
        "analysis:annotator_groups": S, "analysis:compare": S,
        "scoring:list": S, "scoring:new": S, "scoring:scorer": {**S, "scorer": scorer},
        "scoring:remove": {**S, "scorer": scorer},
        **{f"analysis:{name}": S for name in AUTOMATED},
        "releases:list": S, "releases:release": {**S, "version": 2},
        "releases:remove_files": {**S, "version": 2}, "releases:set_aside": {**S, "version": 2},
        "analysis:group": {**S, "group": image.group.name},
        "analysis:attribute": {**S, "attribute": annotation.judgements.first().attribute.text},
        "analysis:image": {**S, "image": image.public_id},
        "catalog:list": {}, "catalog:import": {}, "catalog:detail": {"resource": "invented-peoples"},
        "catalog:group": {"resource": "invented-peoples", "group": image.group.group_id},
        "jobs:list": {}, "jobs:detail": {"pk": Job.objects.latest("pk").pk},
        "accounts:profile": {}, "accounts:password": {}, "gallery": {},
    }  # fmt: skip
    return {name: reverse(name, kwargs=arguments) for name, arguments in named.items()}


def more_lead_pages() -> list[str]:
    new_check = reverse("annotation:known_new", kwargs=C)
    gold = Task.objects.get(purpose="gold")
    new = reverse("annotation:campaign_new", kwargs=S)
    return [
        f"{new_check}?image={gold.image.public_id}",
        f"{new_check}?annotation={Annotation.objects.filter(task__image__retracted_at=None).latest('pk').pk}",
        reverse("annotation:known_new", kwargs={**C, "campaign": "rating"}),
        reverse("studies:new") + "?resource=invented-peoples",
        reverse("studies:new_mcas") + "?variant=dall-e-2",
        reverse("generation:generate", kwargs=S) + "?backend=openai&model_id=painter-3&price=1&budget=1",
        reverse("generation:generate", kwargs=S) + "?backend=sketch&prompt_set=visage-pull",
        f"{new}?kind=stereotype_marking",
        f"{new}?kind=attribute_likert",
        reverse("annotation:campaign", kwargs={**C, "campaign": "drafted"}),
        reverse("annotation:campaign", kwargs={**C, "campaign": "rating"}),
        reverse("annotation:preview", kwargs={**C, "campaign": "rating"}),
        reverse("annotation:campaign_extend", kwargs=C) + "?annotators_per_task=5",
        reverse("annotation:instrument_change", kwargs={**C, "campaign": "rating"}),
    ]


def more_automated_pages() -> list[str]:
    """Those of a study that machines saw and nobody judged, and captions of one group."""
    other = {"study": "phrases"}
    return [
        *(reverse(f"analysis:{name}", kwargs=other) for name in ("overview", "groups", *AUTOMATED)),
        reverse("analysis:captions", kwargs=S) + "?group=Velmari",
        reverse("analysis:mcas", kwargs=other) + "?model=sketch&beside=brush",
    ]


def test_every_page_of_an_annotator(new_page, busy, marking, rating, client, live_server):
    page = new_page()
    token = invitations.invite(campaign=marking, by=None)[1]
    found = visit(page, reverse("annotate:invitation", args=[token]))
    found += visit(page, "/annotate/i/unknown/", status=404)
    page.complaints.clear()  # the unknown link is answered 404
    person = new_annotator(marking)
    sign_in(page, client, person.user, live_server)
    page.goto(f"/annotate/{marking.pk}/")  # leads to about you
    page.get_by_role("button", name="Skip").click()
    page.get_by_text("Your way back").first.wait_for()
    found += violations(page)
    done = leases.next_assignment(campaign=marking, annotator=person)
    submit(done)
    # A task at work: ticked, with a chosen box, a refusal and every notice to be seen.
    page.goto(f"/annotate/{marking.pk}/")
    page.locator("[data-drawing]:not([hidden])").wait_for()
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
    page.keyboard.press("3")
    page.get_by_role("button", name="Submit").click()
    found += violations(page)
    assert found == []


def test_every_page_of_practice(new_page, marking, rating, lead, client, live_server):
    task = add_check(marking, lead, "practice")
    drum = Attribute.objects.get(text="drum")
    known_tasks.add(campaign=rating, purpose="practice", by=lead, attributes=[drum], answers={drum: [4, 5]})
    person = new_annotator(marking)
    profiles.describe(annotator=person)
    page = new_page()
    sign_in(page, client, person.user, live_server)
    at = practice_pages(marking, task.public_id)
    found = wrong(page, [at["annotate:practice"], at["annotate:practice_task"]])
    given = {"ticked": [shown(task)[0].ref], "none_of_the_above": False}
    rounds.answer(task=task, annotator=person, data=given)
    found += wrong(page, [at["annotate:practice_answer"], at["annotate:practice"]])
    invitations.accept(token=invitations.invite(campaign=rating, by=None)[1], user=person.user)
    at = practice_pages(rating, task.public_id)
    found += wrong(page, [at["annotate:practice"], at["annotate:practice_task"]])
    page.keyboard.press("2")
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
    found += wrong(page, [before["annotation:campaign_label_studio"]])  # now there is something to choose
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
    told(bridge, task, 901, 2, text_of(task), minute=1, changed=2, updated_by=1)  # by somebody else
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


def test_the_pages_an_analyst_sees_of_a_study(new_page, busy, lead, analyst, client, live_server):
    client.force_login(lead)
    client.post(reverse("analysis:compute", kwargs=S))
    page = new_page()
    sign_in(page, client, analyst, live_server)
    names = [
        name for name in lead_pages() if name.startswith(("analysis:", "studies:detail", "annotation:ann"))
    ]
    assert wrong(page, [*(lead_pages()[name] for name in names), *more_automated_pages()]) == []


def test_sign_in_start_page_and_errors(new_page, busy, client, live_server, settings):
    settings.DEMO = True
    page = new_page()
    found = wrong(page, ["/", "/account/sign-in/"])
    found += visit(page, "/no/such/page/", status=404)
    page.goto("/account/sign-in/")
    page.get_by_label("Username").fill("nobody")
    page.get_by_label("Password", exact=True).fill("wrong")
    page.get_by_role("button", name="Sign in").click()
    page.locator(".error-summary").wait_for()
    found += violations(page)
    for template in ("400.html", "403.html", "403_csrf.html", "404.html", "500.html"):
        body = render_to_string(template, request=RequestFactory().get("/"))
        page.route(f"**/{template}", partial(_answer, body))
        found += visit(page, f"/{template}")
    page.complaints.clear()  # the browser reports what was answered 404
    assert found == []


def _answer(body, route) -> None:
    route.fulfill(body=body, content_type="text/html")


def test_no_page_is_left_out(busy, marking, client, lead):
    client.force_login(lead)
    client.post(reverse("analysis:compute", kwargs=S))
    practised = practice_pages(marking, "00000000-0000-0000-0000-000000000000")
    visited = {
        *practised,
        *label_studio_pages(0, 0),
        *annotator_pages(marking, None, "token"),
        *lead_pages(),
        "home",
        "accounts:sign_in",
    }
    assert named_pages() - NOT_PAGES - visited == set()
