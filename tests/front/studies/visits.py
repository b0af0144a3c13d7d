"""An address for each pattern of the site that answers GET: files by name, pages, responses of the API."""

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.test import Client
from django.urls import resolve, reverse

from analysis.models import Release, Report, Scorer
from analysis.results.output.report_pdf import can_make_pdf
from analysis.results.schema import LABELS, files_of
from annotation.kinds import study_kinds
from annotation.label_studio.models import LabelStudioAnnotation
from annotation.models import Assignment, Campaign
from generation.models import Answer
from jobs.models import Job
from studies.models import Study
from tests.annotation.factories import new_annotator
from tests.annotation.label_studio import rows
from tests.annotation.label_studio.scenario import told
from tests.front import pages
from tests.front.pages import C, S

FORMATS = ("svg", "png", "csv", "vl.json")
RESULTS = "/studies/isles/results"


def route_of(url: str) -> str:
    """Return the pattern of an address."""
    return plain(resolve(url.partition("?")[0]).route)


def plain(route: str) -> str:
    """Return a pattern as `resolve` writes it, without its last slash, which is optional in the API."""
    return route.replace("^", "").rstrip("/")


def compute(study: Study, client: Client) -> Report:
    """Compute the results of two models for the comparison pages."""
    for group in study.groups.all():
        image = study.images.filter(group=group).latest("pk")
        image.model_label = "brush"
        image.save()
    client.post(reverse("analysis:compute", kwargs=S))
    return Report.objects.filter(study=study).latest("pk")


def keep_archive(study: Study) -> Release:
    """Store the archive of the study's release."""
    release = Release.objects.get(study=study)
    release.archive = default_storage.save("releases/isles-v2.zip", ContentFile(b"PK"))
    release.archive_bytes = 2
    release.save()
    return release


def files(study: Study, report: Report) -> dict[str, str]:
    """Return the name of each file in the audit trail, by its address."""
    names = files_of(report.tables.values_list("name", flat=True))
    campaign = study.campaigns.get(slug="marking")
    version = keep_archive(study).version
    return {
        **{f"{RESULTS}/tables/{name}.csv": f"{name}.csv" for name in names},
        **{f"{RESULTS}/labels/{name}.csv": f"{name}.csv" for name in LABELS},
        **{f"{RESULTS}/plots/theta.{format}": f"theta.{format}" for format in FORMATS},
        f"{RESULTS}/tables.zip": "results.zip",
        f"{RESULTS}/report.html": "report.html",
        **({f"{RESULTS}/report.pdf": "report.pdf"} if can_make_pdf() else {}),
        f"{RESULTS}/compare/?format=csv": "differences.csv",
        f"{RESULTS}/disagreement/?format=csv": "disagreement.csv",
        reverse("planning:designs", kwargs=S): "plan.csv",
        reverse("planning:preregistration", kwargs={**S, "number": 1}): "preregistration-1.json",
        reverse("releases:download", kwargs={**S, "version": version}): f"release {version}",
        **{
            reverse("annotation:kind_file", kwargs={**S, "key": key}): f"{key}.json"
            for key in study_kinds.kinds_for(study)
        },
        reverse("annotation:pay_table", kwargs=C): "marking-pay.csv",
        reverse("annotation:translations_file", kwargs=C): "marking-translations.csv",
        reverse("api:campaign-text-translations", args=[campaign.pk]): "marking-translations.csv",
        **{reverse("api:results-table", args=["isles", name]): f"{name}.csv" for name in names},
        reverse("api:release-download", args=["isles", version]): f"release {version}",
    }


def api_answers(study: Study, *, server: int, answer: int) -> list[str]:
    """Return the addresses of the API that answer with JSON."""
    campaign = study.campaigns.get(slug="marking").pk
    model_answer = Answer.objects.filter(run__study=study).latest("pk")
    run, scorers = ["isles", model_answer.run_id], Scorer.objects.filter(study=study)
    of_kind = {scorer.kind: ["isles", scorer.pk] for scorer in scorers.order_by("-pk")}
    places = {
        "study-campaign-list": ["isles"], "campaign-detail": [campaign], "campaign-progress": [campaign],
        "campaign-annotators": [campaign],
        "campaign-text-instruments": [campaign], "campaign-text-languages": [campaign],
        "study-label-studio-list": ["isles"], "label-studio-detail": [server], "label-studio-people": [server],
        "label-studio-bridge-status": [campaign], "label-studio-bridge-cleanup": [campaign],
        "label-studio-bridge-answers": [campaign], "label-studio-answer-detail": [answer],
        "study-list": [], "study-detail": ["isles"], "study-images": ["isles"],
        "job-list": [], "job-detail": [Job.objects.filter(study_id=study.pk).latest("pk").pk],
        "probe-run-list": ["isles"], "probe-run-detail": run, "probe-run-answers": run, "probe-run-associations": run,
        "answer-overrides": [model_answer.pk], "results": ["isles"],
        "release-list": ["isles"], "release-detail": ["isles", 2], "release-check": ["isles"],
        "scorer-list": ["isles"], "scorer-detail": of_kind["clip"], "scorer-scores": of_kind["clip"],
        "scorer-captions": of_kind["captions"], "scorer-text-scores": of_kind["captions"],
    }  # fmt: skip
    return [reverse(f"api:{name}", args=arguments) for name, arguments in places.items()]


def label_studio_rows(campaign) -> tuple[int, int, int, int]:
    """Create a server with a person and an answer; return the keys of server, person, answer and file."""
    server = rows.server_of(campaign.study)
    bridge = rows.bridge_of(campaign, server)
    person = rows.user_of(server, 2, state="mapped", annotator=new_annotator(campaign))
    told(bridge, campaign.tasks.earliest("pk"), 901, 2, minute=1)
    answer = LabelStudioAnnotation.objects.get(external_id=901)
    return server.pk, person.pk, answer.pk, pages.looked_into(campaign.study).pk


def by_scripts(study: Study, server: int, person: int, *_: int) -> list[str]:
    """Return the addresses requested by scripts of a lead's pages, and forms without a page of their own."""
    return [
        reverse("jobs:progress", args=[Job.objects.filter(study_id=study.pk).latest("pk").pk]),
        reverse("generation:estimate", kwargs=S),
        reverse("generation:probe_estimate", kwargs=S),
        reverse("annotation:campaign_progress", kwargs=C),
        reverse("annotation:known_settings", kwargs=C),
        reverse("annotation:invitation_made", kwargs=C),
        reverse("annotation:label_studio_token", kwargs={**S, "server": server}),
        reverse("annotation:label_studio_person_confirm", kwargs={**S, "server": server, "user": person}),
        reverse("annotation:campaign_label_studio_live", kwargs=C),
    ]


def of_annotator(campaign: Campaign, submitted: Assignment) -> list[str]:
    """Return further addresses of an annotator who submitted a screen."""
    return [
        reverse("annotate:ahead", args=[campaign.pk]),
        reverse("annotate:language", args=[campaign.pk]),
        reverse("annotate:previous", args=[campaign.pk, submitted.public_id]),
        reverse("annotate:profile"),
    ]


def of_panel(addresses: dict[str, str]) -> list[str]:
    """Return addresses of somebody who came from a panel in addition to the given ones."""
    arrival = addresses["panel:welcome"].removesuffix("welcome/")
    return [f"{arrival}?person=5f3a0c&submission=1&study=2", f"{arrival}return/"]
