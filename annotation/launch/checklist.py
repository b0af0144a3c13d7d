"""The checklist of a campaign, and opening a campaign whose checks have all passed or been waived."""

from dataclasses import dataclass

from django.db import transaction

from accounts.models import User
from annotation.campaigns import lifecycle
from annotation.campaigns.instruments.languages import translations
from annotation.launch.checks import CHECKS, LaunchState
from annotation.models import Campaign, LaunchWaiver
from foundation.errors import Conflict


@dataclass(frozen=True)
class ChecklistLine:
    """A check of a draft: passed, missing or waived."""

    key: str
    title: str
    sentence: str = ""
    waiver: LaunchWaiver | None = None

    @property
    def state(self) -> str:
        if not self.sentence:
            return "passed"
        return "missing" if self.waiver is None else "waived"


def checklist(campaign: Campaign) -> list[ChecklistLine]:
    """Return every check of a draft. A simulated study has no checks, because it asks no people."""
    if campaign.study.simulated:
        return []
    state = LaunchState(campaign)
    waivers = {waiver.check_key: waiver for waiver in campaign.launch_waivers.select_related("created_by")}
    return [
        ChecklistLine(check.key, check.title, sentence, waivers.get(check.key) if sentence else None)
        for check, sentence in ((check, check.missing(state)) for check in CHECKS)
    ]


@transaction.atomic
def open_checked(*, campaign: Campaign, by: User | None) -> Campaign:
    """Open a draft whose checks have all passed or been waived; otherwise raise Conflict with what is missing.

    The checks are skipped for a draft without tasks, which `lifecycle.open_` refuses.
    """
    if campaign.state == Campaign.State.DRAFT and not campaign.imported:
        missing = [line for line in checklist(campaign) if line.state == "missing"]
        if missing and LaunchState(campaign).estimate.plan.tasks:
            raise Conflict(
                "not_ready",
                f"“{campaign.name}” is not ready to open. " + " ".join(line.sentence for line in missing),
                fields={line.key: line.sentence for line in missing},
            )
    return open_in_languages(campaign=campaign, by=by)


@transaction.atomic
def open_in_languages(*, campaign: Campaign, by: User | None) -> Campaign:
    """Open a draft, as programs do, after checking only its languages. Annotators can choose only complete languages.

    Raises Conflict if texts of a language are missing, unless a lead left them in English or waived the check.
    """
    if campaign.state == Campaign.State.DRAFT and campaign.languages.exists():
        for line in checklist(campaign):
            if line.key == "languages" and line.state == "missing":
                raise Conflict(
                    "languages_incomplete",
                    f"“{campaign.name}” is not ready to open. {line.sentence}",
                    fields={line.key: line.sentence},
                )
    opened = lifecycle.open_(campaign=campaign, by=by)
    if not opened.study.simulated:
        translations.settle(opened, by=by)
    return opened
