"""Sending a campaign to Label Studio: its projects and tasks, and later only what is new or has changed."""

from dataclasses import dataclass, field

from django.db import transaction
from django.utils import timezone

from accounts.models import User
from annotation.campaigns.instruments import versions
from annotation.label_studio.base.locks import alone_with
from annotation.label_studio.client.rest import Client
from annotation.label_studio.models import LabelStudioBridge, LabelStudioProject, LabelStudioTask
from annotation.label_studio.push import image_access
from annotation.label_studio.push.drift import take_back, take_stock
from annotation.label_studio.push.image_urls import needs_site_url, shows_pictures
from annotation.label_studio.push.layout import Sharing, places_of
from annotation.label_studio.push.lifecycle import needs_annotators
from annotation.label_studio.push.projects import ProjectSetup, set_up
from annotation.label_studio.push.subscription import ask_to_be_told
from annotation.label_studio.push.tasks import send
from annotation.models import Campaign
from foundation.errors import Conflict, NotFound
from jobs.progress.reporter import Progress, Unwatched
from studies import audit

PUSHED = "label_studio.pushed"


@dataclass
class PushReport:
    """What a push did. A task counts once for each project it stands in."""

    projects: int = 0
    sent: int = 0
    present: int = 0  # were there before
    adopted: int = 0  # were there without being known here: an earlier push was interrupted
    reconfigured: int = 0  # projects whose guidelines or settings were brought up to date
    restored: int = 0  # of these, projects that somebody had changed there
    remade: int = 0  # projects in place of ones that are gone
    taken_back: int = 0  # tasks that are not to be labelled any more
    twice: int = 0  # stand in a project more than once, answered: only what is said to one of the two is read
    notes: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        sentence = f"{self.sent:,} tasks were sent to {_projects(self.projects)}; {self.present:,} were there already."
        for number, words in (
            (self.adopted, "found there from an interrupted push"),
            (self.taken_back, "taken back"),
        ):
            sentence += f" {number:,} {'was' if number == 1 else 'were'} {words}." if number else ""
        if self.remade:
            sentence += f" {_projects(self.remade)} created again, because the old ones were gone."
        if self.reconfigured:
            edited = f", {self.restored:,} of them changed by hand in Label Studio" if self.restored else ""
            sentence += f" {_projects(self.reconfigured)} brought up to date{edited}."
        if self.twice:
            sentence += (
                f" {self.twice:,} task{' stands' if self.twice == 1 else 's stand'} in a project twice, and both were "
                "answered: only the answers to one of the two are read. Delete the other in Label Studio."
            )
        return " ".join((sentence, *self.notes))


def push(*, bridge: LabelStudioBridge, by: User | None, progress: Progress | None = None) -> PushReport:
    """Bring the campaign to its Label Studio as it is to be labelled now; raises Trouble where the server does not
    do what it is asked, and Conflict while another push is at work.

    It can be killed at any point: the next push finds what was sent and goes on. Labels are not touched.
    """
    with alone_with(bridge):
        bridge = _fresh(bridge)
        campaign = bridge.campaign
        _check(campaign, bridge)
        report = PushReport()
        with Client.of(bridge.server) as client:
            _push(client, bridge, campaign, report, progress or Unwatched())
        _finish(bridge, by, report)
    return report


def _push(
    client: Client, bridge: LabelStudioBridge, campaign: Campaign, report: PushReport, progress: Progress
) -> None:
    progress.step("Setting up projects")
    instrument, places = versions.current(campaign), places_of(bridge, campaign)
    progress.start(len(places))
    projects = []
    for place in places:
        progress.check_cancelled()
        setup = set_up(client, bridge, place, campaign, instrument)
        project = LabelStudioProject.objects.select_related("bridge__campaign").get(pk=setup.project.pk)
        _note(report, setup)
        stock = take_stock(client, project, setup.tasks, progress)
        report.adopted += stock.adopted
        report.twice += stock.answered_twice
        if (why := ask_to_be_told(client, project)) and why not in report.notes:
            report.notes.append(why)
        projects.append(project)
        progress.advance()
    report.present = LabelStudioTask.objects.filter(project__in=projects).count() - report.adopted
    sharing = Sharing(bridge, campaign)
    for project in _others(bridge, projects):  # of a place that is not asked for any more
        report.taken_back += take_back(client, project, sharing.of(project).needless, progress)
    shares = [(project, sharing.of(project)) for project in projects]
    progress.step("Sending tasks")
    progress.start(sum(len(share.missing) for _, share in shares))
    for project, share in shares:
        report.taken_back += take_back(client, project, share.needless, progress)
        report.sent += sum(send(client, project, share.missing, progress))
    image_access.rewrite(client, bridge, progress)


def _note(report: PushReport, setup: ProjectSetup) -> None:
    report.projects += 1
    report.reconfigured += setup.changed
    report.restored += setup.edited
    report.remade += setup.replaces_lost


def _others(bridge: LabelStudioBridge, projects: list[LabelStudioProject]) -> list[LabelStudioProject]:
    live = bridge.projects.filter(gone_at=None).exclude(pk__in=[project.pk for project in projects])
    return list(live.filter(annotator=None).select_related("bridge__campaign"))


def _check(campaign: Campaign, bridge: LabelStudioBridge) -> None:
    if campaign.state in (Campaign.State.DRAFT, Campaign.State.CLOSED):
        state = "a draft; open it first" if campaign.state == Campaign.State.DRAFT else "closed"
        raise Conflict("wrong_state", f"“{campaign.name}” is {state}, so there is nothing to send.")
    if shows_pictures(campaign):
        needs_site_url()
    if bridge.arrangement == LabelStudioBridge.Arrangement.PER_ANNOTATOR:
        needs_annotators(campaign)


def _fresh(bridge: LabelStudioBridge) -> LabelStudioBridge:
    current = (
        LabelStudioBridge.objects.select_related("campaign__study", "server").filter(pk=bridge.pk).first()
    )
    if current is None:
        raise NotFound("bridge_not_found", "This campaign is no longer labelled in a Label Studio.")
    return current


@transaction.atomic
def _finish(bridge: LabelStudioBridge, by: User | None, report: PushReport) -> None:
    LabelStudioBridge.objects.filter(pk=bridge.pk).update(pushed_at=timezone.now())
    audit.record(
        by=by,
        action=PUSHED,
        subject=bridge.campaign,
        study=bridge.campaign.study,
        projects=report.projects,
        sent=report.sent,
        present=report.present,
        adopted=report.adopted,
        reconfigured=report.reconfigured,
        remade=report.remade,
        taken_back=report.taken_back,
    )


def _projects(number: int) -> str:
    return f"{number:,} project{'' if number == 1 else 's'}"
