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
    """The result of a push. A task counts once for each of its projects."""

    projects: int = 0
    sent: int = 0
    present: int = 0  # tasks that were already there
    adopted: int = 0  # tasks that were there without being known here, from an interrupted push
    reconfigured: int = 0  # projects whose guidelines or settings were updated
    restored: int = 0  # the projects among these that somebody had changed there
    remade: int = 0  # projects that replace missing ones
    taken_back: int = 0  # tasks that are no longer to be labelled
    # Tasks that are in a project twice, both answered: the answers to only one of the two are read.
    twice: int = 0
    notes: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        sentence = (
            f"{self.sent:,} tasks were sent to {_projects(self.projects)}; "
            f"{self.present:,} were already in Label Studio."
        )
        for number, words in (
            (self.adopted, "found in Label Studio after an interrupted push"),
            (self.taken_back, "removed from Label Studio"),
        ):
            sentence += f" {number:,} {'was' if number == 1 else 'were'} {words}." if number else ""
        if self.remade:
            sentence += (
                f" {_projects(self.remade)} created again, because the old projects no longer existed."
            )
        if self.reconfigured:
            edited = f", {self.restored:,} of them changed by hand in Label Studio" if self.restored else ""
            sentence += f" {_projects(self.reconfigured)} updated{edited}."
        if self.twice:
            sentence += (
                f" {self.twice:,} task{' is' if self.twice == 1 else 's are'} in a project twice, and both copies "
                "were answered: only the answers to one copy are read. Delete the other copy in Label Studio."
            )
        return " ".join((sentence, *self.notes))


def push(*, bridge: LabelStudioBridge, by: User | None, progress: Progress | None = None) -> PushReport:
    """Send the present state of the campaign to Label Studio; raises Trouble if the server fails, and Conflict while
    another push is running.

    It can be killed at any point: the next push finds what was sent and continues. Labels do not change.
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
    for project in _others(bridge, projects):  # of a place that is no longer needed
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
