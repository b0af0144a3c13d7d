"""The checks before a campaign opens. Each check says in one sentence what is missing."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

from accounts.consent_texts import DEFAULT_BODY, DEFAULT_SERIES, DEFAULT_SUPPORT
from annotation.campaigns import feasibility
from annotation.campaigns.instruments.languages.progress import language_states
from annotation.campaigns.planning.estimate import CampaignEstimate, estimate
from annotation.kinds.declaration import Kind
from annotation.kinds.options import Options
from annotation.kinds.registry import kind_of
from annotation.launch.institutions import names_institution
from annotation.models import Annotation, Campaign, Task
from annotation.people.pay import Rate
from studies import consent

# What annotators can write to or call: an address with @, a web address, or a telephone number.
_CONTACT = re.compile(r"\S@\S+\.\S|https?://\S|\+?\d[\d ()/-]{6,}\d")
_SHORTEST_NOTICE = 40
_CELLS_NAMED = 4


class LaunchState:
    """A draft as the checks look at it; each part is read once."""

    def __init__(self, campaign: Campaign) -> None:
        self.campaign = campaign
        self.kind: Kind = kind_of(campaign)
        self.options = Options.of(campaign)
        self.consent = consent.current_text(campaign.study)

    @cached_property
    def estimate(self) -> CampaignEstimate:
        return estimate(self.campaign)

    @cached_property
    def quotas(self) -> feasibility.QuotaReport:
        return feasibility.before_opening(self.campaign, self.estimate.plan)

    @cached_property
    def cost(self) -> Decimal | None:
        """Return what all screens come to at the campaign's rate and the assumed pace, None without a rate."""
        rate = Rate.of(self.campaign)
        if rate is None:
            return None
        return rate.comes_to(tasks=self.estimate.plan.submissions, seconds=self.estimate.hours * 3600)


@dataclass(frozen=True)
class LaunchCheck:
    """`missing` returns a sentence where something is missing, "" where nothing is."""

    key: str
    title: str
    missing: Callable[[LaunchState], str]


def _consent(state: LaunchState) -> str:
    if state.consent.series == DEFAULT_SERIES:
        return (
            "Annotators would be shown the default consent text. Publish your own consent text "
            "that names your institution and a contact person."
        )
    text = f"{state.consent.body}\n{state.consent.support}"
    sentences = []
    if not _CONTACT.search(text):
        sentences.append(
            "The consent text gives no e-mail address, web address or telephone number for questions. Add a contact."
        )
    if not names_institution(text, without=f"{DEFAULT_BODY}\n{DEFAULT_SUPPORT}"):
        sentences.append(
            "The consent text does not name the institution responsible, such as “Harbour University”. Add its name."
        )
    return " ".join(sentences)


def _pay(state: LaunchState) -> str:
    if state.options.pay_amount is None and not state.options.pay.strip():
        return (
            "The campaign does not say what people are paid. Set a rate, or state in words that the work "
            "is unpaid."
        )
    return ""


def _budget(state: LaunchState) -> str:
    if state.cost is None or not state.cost:
        return ""
    amount = f"{state.cost:,} {state.options.pay_currency}"
    if state.options.pay_budget is None:
        return f"No budget is set. At the rate and the expected pace, all screens together cost {amount}."
    if float(state.cost) > state.options.pay_budget:
        return f"All screens together cost {amount}, more than the budget of {state.options.pay_budget:,.2f}."
    return ""


def _quotas(state: LaunchState) -> str:
    return state.quotas.impossible


def _people(state: LaunchState) -> str:
    lacking = [cell.sentence for cell in state.quotas.cells if cell.shortfall]
    if not lacking:
        return ""
    sentences = lacking[:_CELLS_NAMED]
    if more := len(lacking) - len(sentences):
        sentences.append(
            f"{more:,} more {'kind of person is' if more == 1 else 'kinds of people are'} missing."
        )
    sentences.append(
        "Invite these people before you open the campaign. If these people come later or from a panel, "
        "waive this check and give this as the reason."
    )
    return " ".join(sentences)


def _practice(state: LaunchState) -> str:
    checks = state.campaign.tasks.filter(purpose__in=[Task.Purpose.PRACTICE, Task.Purpose.GOLD])
    if checks.exists():
        return ""
    return (
        "There is no practice and no task with a known answer, so nothing checks whether people "
        "understand the work."
    )


def _notice(state: LaunchState) -> str:
    sensitive = sum(task.sensitive for task in state.estimate.plan.tasks)
    if not sensitive or len(state.consent.content_notice.strip()) >= _SHORTEST_NOTICE:
        return ""
    return (
        f"{sensitive:,} screens ask about stereotypes that raters called offensive, but the content notice does not "
        "warn of them."
    )


def _guidelines(state: LaunchState) -> str:
    instrument = state.campaign.instruments.order_by("-version").first()
    guidelines = instrument.guidelines if instrument else ""
    if not guidelines.strip():
        return "There are no guidelines."
    return ""


def _languages(state: LaunchState) -> str:
    sentences = []
    for language in language_states(state.campaign):
        if not language.allowed:
            parts = [(language.missing, "not translated"), (language.outdated, "changed since translation")]
            lack = " and ".join(f"{number:,} {what}" for number, what in parts if number)
            sentences.append(f"{language.name}: of the {len(language.texts):,} texts, {lack}.")
    if sentences:
        sentences.append("Annotators cannot choose a language until every text is translated.")
    return " ".join(sentences)


def _pilot(state: LaunchState) -> str:
    others = Annotation.objects.filter(
        campaign__study=state.campaign.study_id, campaign__kind=state.campaign.kind, is_latest=True
    )
    if others.exclude(campaign=state.campaign.pk).exists():
        return ""
    return "This study has had no pilot of this kind. Run a small campaign of this kind before you open this one."


CHECKS = (
    LaunchCheck("consent", "Consent", _consent),
    LaunchCheck("pay", "Pay", _pay),
    LaunchCheck("budget", "Budget", _budget),
    LaunchCheck("quotas", "Quotas", _quotas),
    LaunchCheck("people", "People for the quotas", _people),
    LaunchCheck("practice", "Practice", _practice),
    LaunchCheck("notice", "Content notice", _notice),
    LaunchCheck("guidelines", "Guidelines", _guidelines),
    LaunchCheck("languages", "Languages", _languages),
    LaunchCheck("pilot", "Pilot", _pilot),
)
KEYS = tuple(check.key for check in CHECKS)
