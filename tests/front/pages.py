"""The address of every named page, by role, and a study with content for each of them."""

import uuid
from decimal import Decimal

import pytest
from django.urls import URLResolver, get_resolver, reverse
from django.utils import timezone

from accounts.models import ConsentText
from analysis.models import ScoredImage, Scorer
from analysis.planning.plans import compute_plan, make_plan
from analysis.planning.preregistration import preregister
from analysis.results.parameters import parameters_of
from analysis.results.reports import compute_report
from analysis.scoring.launch import plan_scorer
from annotation.assignment import leases
from annotation.campaigns import known_tasks, lifecycle
from annotation.campaigns.images import reports
from annotation.kinds import study_kinds
from annotation.label_studio.format.inventory import take_inventory
from annotation.models import Annotation, Campaign, CampaignLanguage, Task
from annotation.people import invitations
from annotation.recruitment import providers, recruitments
from annotation.recruitment.models import PanelPayment, PanelPlace, Provider, Recruitment
from annotation.recruitment.panel import arrival
from catalog.models import Attribute
from generation.imports.answers import uploads
from generation.imports.answers.sample import FileSample
from generation.models import Answer
from generation.probing.codings import code_run
from generation.probing.execution import run
from jobs.models import Job
from jobs.progress.reporter import Unwatched
from studies.models import Study
from tests.analysis.automated import factories
from tests.analysis.releases.past_release import past_release
from tests.annotation.factories import new_annotator, submit, ticking
from tests.annotation.kinds.test_adding_a_kind import shown
from tests.annotation.label_studio.format.test_importer import foreign
from tests.generation.probing.probing_study import planned, words

# Not pages: forms that only take a POST, downloads, pictures, data for scripts and machines.
NOT_PAGES = {
    "accounts:sign_out", "account_logout", "mfa_download_recovery_codes", "accounts:end_session",
    "accounts:end_other_sessions", "accounts:unlink", "mfa_login_webauthn", "oidc_sign_in", "oidc_link",
    "saml_sign_in", "saml_link", "saml_acs", "saml_finish", "saml_metadata",
    "oidc_callback", "accounts:create_token", "own_data:download", "accounts:revoke_token", "jobs:progress",
    "jobs:cancel", "jobs:retry", "studies:new_totals", "studies:edit_totals", "studies:new_mcas_totals",
    "studies:member_remove", "studies:end_break_glass", "annotation:image_decide",
    "annotation:image_restore", "annotation:draft_asking", "annotation:campaign_progress",
    "annotation:campaign_open", "annotation:campaign_pause", "annotation:campaign_resume",
    "annotation:campaign_close", "annotation:campaign_reopen", "annotation:invitation_made",
    "annotation:recruitment_open", "annotation:recruitment_pause", "annotation:recruitment_close",
    "annotation:recruitment_approve", "annotation:recruitment_settle", "annotation:payment_seen",
    "annotation:panel_place_show", "annotation:panel_events", "annotation:recruitment_compare",
    "annotation:panel_place_end", "panel:arrive", "panel:stop", "panel:return", "panel:events",
    "annotation:invitation_revoke", "annotation:invitation_reissue", "annotation:annotation_exclude",
    "annotation:annotation_readmit", "annotation:quality_check", "annotation:quality_rule_remove",
    "annotation:kind_remove",
    "annotation:screens_reopen", "annotate:warning_read",
    "annotate:language", "annotation:language_remove", "annotation:language_add",
    "annotation:translations_file",
    "annotation:pay_table", "annotation:kind_file", "analysis:compute", "analysis:table", "analysis:plot",
    "analysis:archive", "analysis:labels", "releases:build", "releases:download",
    "analysis:report", "analysis:report_pdf", "analysis:compare_compute",
    "planning:designs", "planning:preregistration", "scoring:go_on", "scoring:score_unrounded",
    "generation:estimate", "generation:go_on", "generation:probe_estimate", "generation:probe_go_on",
    "generation:probe_retry", "generation:probe_cancel",
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
    "api-docs",  # Swagger's own page, which we cannot fix
}  # fmt: skip
C = {"study": "isles", "campaign": "marking"}
S = {"study": "isles"}
AUTOMATED = ("automated", "concordance", "captions", "pull", "mcas", "automated_tendency")

ASSOCIATIONS = ("probe_words", "associations", "heat_maps", "overlap", "judge")
PROBING = ("probes", "probe_models", "probe_orders", "probe_planner", *ASSOCIATIONS)


def german(campaign: dict[str, str]) -> str:
    """A language that the campaign is translated into."""
    translated = Campaign.objects.get(study__slug=campaign["study"], slug=campaign["campaign"])
    return CampaignLanguage.objects.get_or_create(campaign=translated, language="de")[0].language


def looked_into_answers(study) -> Job:
    """An uploaded file of answers whose first rows a worker has read."""
    sample = FileSample(
        "words.csv",
        ["question", "descriptor", "response"],
        [2],
        [["singular", "Velmari", "[brave]"]],
        1,
        [],
        False,
    )
    return Job.objects.create(
        kind=uploads.LOOK,
        title="Read words.csv",
        study_id=study.pk,
        state=Job.State.SUCCEEDED,
        finished_at=timezone.now(),
        arguments={"study": study.pk, "file_name": "words.csv"},
        result={"sample": sample.as_json()},
    )


def named_pages(resolver: URLResolver | None = None, prefix: str = "") -> set[str]:
    """Return the name of every address that people may open, without the admin site and the API."""
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
    link = arrival.PanelLink("5f3a0c", "7")
    arrival.arrive(recruitment=recruited(marking, lead), link=link, user=None)
    study.groups.filter(name="Velmari").update(map_code="MLT")  # needed for a map
    Job.objects.create(kind="generate", title="Generate 4 images", study_id=study.pk, created_by=lead)
    lifecycle.create(study=study, name="Drafted", kind="stereotype_marking", by=lead)
    study_kinds.add(study=study, content=shown("declaration").encode(), by=lead)
    past_release(study, lead)
    add_scorers(study, lead)
    factories.score(study)
    factories.describe(study)
    seen_by_machines(study, lead)
    ask(study, lead)
    add_plan(study, lead)
    return study


def add_plan(study, lead) -> None:
    """A computed plan that was preregistered, and a change since."""
    plan = make_plan(
        study=study,
        hypothesis="Stereotypes are drawn more often than random attributes.",
        primary_measure="theta_pooled",
        parameters={
            "groups": 2,
            "images": "4, 8",
            "annotators": "6",
            "stereotypes": 2,
            "random_attributes": 2,
        },
        by=lead,
    )
    compute_plan(plan=plan, progress=Unwatched(), simulations=50)
    preregister(study=study, plan=plan, by=lead)
    lifecycle.create(study=study, name="Second thoughts", kind="stereotype_marking", by=lead)


def ask(study, lead) -> None:
    """Have an invented model complete sentences about the groups of the study."""
    probe_run = planned(study, lead, probe_set=words())
    run(run=probe_run, progress=Unwatched())
    code_run(run=probe_run, by=lead, progress=Unwatched())


def seen_by_machines(study, lead) -> None:
    """A study with images for pull and for phrases, by two models, that nobody judged."""
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
    """Add a scorer that could not read an image, and a caption scorer that was never started."""
    scorer = plan_scorer(study=study, kind="clip", by=lead)
    image = study.images.filter(retracted_at=None).first()
    ScoredImage.objects.create(
        scorer=scorer, image=image, outcome="failed", reason="The image file is damaged."
    )
    plan_scorer(study=study, kind="captions", model_id="org/writer", by=lead)


def add_check(campaign, lead, purpose: str = "gold"):
    """Make a task with known answers: one right, one wrong, one not scored."""
    texts = ("tall hat", "drum", "kite")
    one, two, three = (Attribute.objects.get(text=text) for text in texts)
    return known_tasks.add(
        campaign=campaign,
        purpose=purpose,
        by=lead,
        content=known_tasks.TaskContent(
            image=campaign.study.images.filter(retracted_at=None).first(), attributes=[one, two, three]
        ),
        answers={one: True, two: False},
        explanations={one: "It stands on the head."},
    )


def annotator_pages(campaign, person, token) -> dict[str, str]:
    pk = campaign.pk
    names = ("task", "answers", "previous", "done", "consent", "withdraw", "link", "profile")
    ConsentText.objects.update(may_erase_self=True)
    return {
        "annotate:home": reverse("annotate:home"),
        "annotate:pay": reverse("annotate:pay"),
        **{f"own_data:{name}": reverse(f"own_data:{name}") for name in ("overview", "erase", "erased")},
        "own_data:table": reverse("own_data:table", args=["work"]),
        "annotate:invitation": reverse("annotate:invitation", args=[token]),
        **{f"annotate:{name}": reverse(f"annotate:{name}", args=[pk]) for name in names},
    }


def panel_pages(campaign, lead, client) -> dict[str, str]:
    """Sign somebody in with `client` by the link of a panel; return the pages for them."""
    recruitment = recruited(campaign, lead, "Everybody else")
    names = ("arrive", "refused", "welcome", "end")
    addresses = {f"panel:{name}": reverse(f"panel:{name}", args=[recruitment.public_id]) for name in names}
    client.get(addresses.pop("panel:arrive"), {"person": "5f3a0c", "submission": "1", "study": "2"})
    return addresses


def recruited(campaign, lead, name="Anybody") -> Recruitment:
    """Return an open recruitment of the campaign."""
    links = providers.KNOWN_PANELS["generic"]
    panel = providers.add(study=campaign.study, by=lead, name=f"Panel for {name}", links=links)
    terms = recruitments.Terms(
        name=name, places=5, screens=4, minutes=10, reward=Decimal("2.00"), currency="GBP"
    )
    draft = recruitments.create(campaign=campaign, provider=panel, by=lead, terms=terms)
    return recruitments.move(recruitment=draft, to="open", by=lead)


def unknown_bonus(place: PanelPlace) -> PanelPayment:
    """Return a bonus for a place that was sent but that the panel does not show."""
    sent = {
        "amount": 50, "currency": "GBP", "state": "unknown", "key": uuid.uuid4(), "batch": "batch",
        "attempts": 1, "sent_at": timezone.now(), "problem": "No answer.",
    }  # fmt: skip
    return PanelPayment.objects.get_or_create(place=place, kind="bonus", cause="work", defaults=sent)[0]


def planned_by_api(campaign) -> Recruitment:
    """Return a recruitment that is not yet drafted at its panel, which has an API."""
    panel, _ = Provider.objects.get_or_create(
        study=campaign.study, name="Panel with an API", kind="prolific",
        defaults={"person_parameter": "person", "token_sealed": "sealed", "workspace": "workspace"},
    )  # fmt: skip
    terms = {"places": 5, "screens": 4, "minutes": 10, "reward": 200, "currency": "GBP"}
    return Recruitment.objects.get_or_create(
        campaign=campaign, provider=panel, name="By the API", defaults=terms
    )[0]


def practice_pages(campaign, task) -> dict[str, str]:
    pk = campaign.pk
    return {
        "annotate:practice": reverse("annotate:practice", args=[pk]),
        "annotate:practice_task": reverse("annotate:practice_task", args=[pk]),
        "annotate:practice_answer": reverse("annotate:practice_answer", args=[pk, task]),
    }


def looked_into(study) -> Job:
    """A Label Studio file that a worker has inspected."""
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
    """Return the addresses of a lead's pages by name; the rows in them exist in `busy`."""
    # The picture that `busy` retracts depends on the order of tasks; it has no page of results.
    standing = Annotation.objects.filter(task__image__isnull=False, task__image__retracted_at=None)
    annotation = standing.filter(status="accepted").latest("pk")
    image = annotation.task.image
    enrolment = annotation.campaign.enrolments.latest("pk").pk
    scorer = Scorer.objects.filter(kind="clip").earliest("pk").pk
    move = {**C, "enrolment": enrolment, "move": "pause"}
    answer = Answer.objects.latest("pk")
    probe = {**S, "run": answer.run_id}
    panel_place = PanelPlace.objects.latest("pk")
    recruitment = {**C, "recruitment": panel_place.recruitment_id}
    payment = {**recruitment, "payment": unknown_bonus(panel_place).pk}
    by_api = planned_by_api(panel_place.recruitment.campaign)
    drafted = {**C, "recruitment": by_api.pk}
    personal_link, _ = invitations.invite(campaign=annotation.campaign, by=None, label="Ada")
    named = {
        "studies:list": {}, "studies:new": {}, "studies:new_mcas": {}, "studies:new_pairs": {},
        "studies:new_biasdora": {}, "studies:detail": S, "studies:members": S,
        "studies:edit": S, "studies:delete": S, "studies:groups": S,
        "studies:consent": S, "studies:own_words": S, "studies:history": S,
        "generation:images": S, "generation:not_made": S,
        "generation:probes": S, "generation:probe_new": S, "generation:probe": probe, "generation:answers": probe,
        "generation:answer": {**probe, "answer": answer.pk}, "generation:answer_upload": S,
        "generation:answer_file": {**S, "look": looked_into_answers(answer.run.study).pk},
        "generation:generate": S, "generation:import_images": S, "annotation:image_reports": S,
        "annotation:scenarios": S, "annotation:scenarios_redraw": S,
        "annotation:kinds": S, "annotation:kind": {**S, "key": "rubric"},
        "annotation:kind_new": S, "annotation:kind_edit": {**S, "key": "calm_scenes"},
        "annotation:campaigns": S, "annotation:campaign_new": S, "annotation:campaign": C,
        "annotation:campaign_edit": {**C, "campaign": "drafted"},
        "annotation:campaign_delete": {**C, "campaign": "drafted"},
        "annotation:campaign_launch": {**C, "campaign": "drafted"}, "annotation:preview": C,
        "annotation:campaign_settings": C, "annotation:campaign_extend": C, "annotation:campaign_copy": C,
        "annotation:instrument": C, "annotation:instrument_change": C, "annotation:pay": C,
        "annotation:languages": C, "annotation:language_untranslated": {**C, "language": german(C)},
        "annotation:campaign_close_confirm": C, "annotation:coverage": C, "annotation:screens": C,
        "annotation:quality": C,
        "annotation:recruitments": C, "annotation:panel_new": C, "annotation:recruitment_new": C,
        "annotation:recruit_all": C, "annotation:recruitments_publish": C,
        "annotation:recruitment": recruitment, "annotation:recruitment_review": recruitment,
        "annotation:recruitment_bonuses": recruitment, "annotation:payment_again": payment,
        "annotation:panel_place": {**recruitment, "place": panel_place.pk},
        "annotation:panel": {**C, "panel": by_api.provider_id},
        "annotation:recruitment_draft": drafted, "annotation:recruitment_publish": drafted,
        "annotation:annotators": C, "annotation:enrolment_move": move,
        "privacy:erase_annotator": {**C, "enrolment": enrolment}, "annotation:invitations": C,
        "annotation:personal_links": C, "annotation:letters_again": C,
        "annotation:letter": {**C, "invitation": personal_link.pk},
        "annotation:known_tasks": C, "annotation:known_new": C,
        "annotation:known_change": {**C, "task": annotation.campaign.tasks.get(purpose="gold").public_id},
        "annotation:annotations": C, "annotation:annotation": {**C, "annotation": annotation.pk},
        "analysis:overview": S, "analysis:groups": S, "analysis:attributes": S, "analysis:agreement": S,
        "analysis:visual_attributes": S, "analysis:annotators": S, "analysis:disagreement": S,
        "analysis:annotator_groups": S, "analysis:compare": S, "analysis:questions": S,
        **{f"analysis:{name}": S for name in PROBING},
        "planning:plan": S, "planning:new": S, "planning:preregister": S,
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
        "accounts:profile": {}, "accounts:password": {}, "accounts:sessions": {},
        "account_reauthenticate": {}, "gallery": {},
        "mfa_index": {}, "mfa_activate_totp": {}, "mfa_generate_recovery_codes": {}, "mfa_add_webauthn": {},
    }  # fmt: skip
    return {name: reverse(name, kwargs=arguments) for name, arguments in named.items()}


def administrator_pages() -> dict[str, str]:
    """Return the addresses that administrators open in studies of others, by name."""
    return {"studies:break_glass": reverse("studies:break_glass", kwargs=S)}


def second_factor_pages(passkey: int = 1) -> dict[str, str]:
    """Return the addresses for people with a second factor, by name; `passkey` is the key of a passkey."""
    names = ("mfa_deactivate_totp", "mfa_view_recovery_codes", "mfa_reauthenticate", "mfa_authenticate",
             "mfa_reauthenticate_webauthn")  # fmt: skip
    of_passkeys = ("mfa_edit_webauthn", "mfa_remove_webauthn")
    return {
        **{name: reverse(name) for name in names},
        **{name: reverse(name, args=[passkey]) for name in of_passkeys},
    }


def signed_out_pages() -> dict[str, str]:
    """Return the addresses open before signing in, by name."""
    link = {"uidb36": "1", "key": "worn-out"}
    names = ("accounts:sign_in", "accounts:signed_out", "account_login", "account_inactive")
    return {
        **{name: reverse(name) for name in names},
        "account_reset_password": reverse("account_reset_password"),
        "account_reset_password_done": reverse("account_reset_password_done"),
        "account_reset_password_from_key": reverse("account_reset_password_from_key", kwargs=link),
    }


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
        reverse("generation:generate", kwargs=S)
        + "?backend=diffusers&model_id=painter&prompt_set=visage-pull",
        reverse("generation:probe_new", kwargs=S)
        + "?backend=transformers&model_id=talker&probe_set=biasdora-words",
        f"{new}?kind=stereotype_marking",
        f"{new}?kind=attribute_likert",
        reverse("annotation:kind_new", kwargs=S) + "?from=image_text",
        reverse("annotation:campaign", kwargs={**C, "campaign": "drafted"}),
        reverse("annotation:campaign", kwargs={**C, "campaign": "rating"}),
        reverse("annotation:preview", kwargs={**C, "campaign": "rating"}),
        reverse("annotation:campaign_extend", kwargs=C) + "?annotators_per_task=5",
        reverse("annotation:instrument_change", kwargs={**C, "campaign": "rating"}),
    ]


def more_automated_pages() -> list[str]:
    """Return the pages of a study that machines scored and nobody judged, and the captions of one group."""
    other = {"study": "phrases"}
    return [
        *(reverse(f"analysis:{name}", kwargs=other) for name in ("overview", "groups", *AUTOMATED)),
        reverse("analysis:captions", kwargs=S) + "?group=Velmari",
        reverse("analysis:mcas", kwargs=other) + "?model=sketch&beside=brush",
    ]
