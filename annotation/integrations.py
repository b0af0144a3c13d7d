"""External tools in which a campaign can be labelled: the calls between the platform and these tools.

An integration is a Django app in a folder of its own, whose `AppConfig.ready` registers one `Integration`. Nothing
outside that folder names the tool, except the settings. `Campaign.labelled_in` holds the slug of the
tool in which a campaign is labelled, "" for our own pages.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.urls import URLPattern

from accounts.models import Annotator, User
from annotation.models import Annotation, Campaign, Invitation
from studies.models import Study
from studies.personal_data import PersonalTable, TableWords


@dataclass(frozen=True)
class Panel:
    """A part of a page that a tool brings: a template, which finds `values` there as `panel.values`."""

    template: str
    values: Mapping[str, Any]


class Integration:
    """An external tool. A tool overrides only the methods that it needs."""

    slug: str  # as in `Campaign.labelled_in`
    name: str  # as pages and messages say it

    study_page: str  # the full name of its page in a study, at an address that takes the study's slug alone
    campaign_page: (
        str  # that of a campaign, at an address that takes the slugs of the study and of the campaign
    )

    # What the tool adds to pages.

    def study_urls(self) -> Sequence[URLPattern]:
        """Return its addresses below that of a study; their names are in the namespace `annotation`."""
        return ()

    def history_sentences(self) -> Mapping[str, str]:
        """Return a sentence for each action of the audit trail that is its own, as `front.studies.history` has them."""
        return {}

    def lead_tasks(self, study_ids: Collection[int]) -> Mapping[int, str]:
        """Return by study what waits for its lead on `study_page`, in words."""
        return {}

    def problems(self, campaign_ids: Collection[int]) -> Mapping[int, str]:
        """Return by campaign what is wrong with it in the tool, in words."""
        return {}

    def campaign_panel(self, campaign: Campaign) -> Panel | None:
        """Return what the page of a campaign labelled in the tool says of that."""
        return None

    def annotation_panel(self, annotation: Annotation, campaign: Campaign) -> Panel | None:
        """Return what the page of an annotation shows to leads, if it was made in the tool."""
        return None

    # While a campaign is labelled in the tool: what annotators and leads may still do here.

    def check_correction(self, annotation: Annotation) -> None:
        """Raise Conflict where an annotation was made in the tool, so that it can be corrected only there."""

    def check_readmission(self, annotation: Annotation) -> None:
        """Raise Conflict where an annotation was excluded because of what happened in the tool."""

    # What changed here, each called in the transaction of the change.

    def places_changed(self, task_ids: Iterable[int]) -> None:
        """Places of these tasks became free, or labels took them again."""

    def eligibility_changed(self, campaign: Campaign, annotator_id: int | None = None) -> None:
        """It was decided again which answers of a campaign count: of one annotator, or of all."""

    def profile_changed(self, annotator: Annotator) -> None:
        """An annotator's profile was written, so that quotas may see them differently."""

    def campaign_reopened(self, campaign: Campaign) -> None:
        """A closed campaign was opened again."""

    def invitation_accepted(self, invitation: Invitation, annotator: Annotator) -> None:
        """An annotator used an invitation link."""

    def consent_given(self, annotator: Annotator, study: Study) -> None:
        """An annotator agreed to a study's consent text."""

    def consent_withdrawn(self, annotator: Annotator, campaigns: Iterable[Campaign]) -> None:
        """An annotator withdrew consent: delete what the tool's records contain about them."""

    # When somebody is erased.

    # Entries of the audit trail that name nobody and that the tool needs, so that they are not emptied.
    kept_audit_actions: tuple[str, ...] = ()

    def personal_tables(self) -> Sequence[PersonalTable]:
        """Return what the tool's tables store about annotators."""
        return ()

    def personal_words(self) -> Sequence[TableWords]:
        """Return what annotators read of these tables on their page “Your data”."""
        return ()

    def names_of(self, annotator: Annotator) -> Iterable[str]:
        """Return how the tool names an annotator."""
        return ()

    def study_ids_of(self, annotator: Annotator) -> Iterable[int]:
        """Return the studies whose records in the tool name an annotator."""
        return ()

    def annotator_erased(self, annotator: Annotator, by: User | None) -> None:
        """An annotator is being erased: forget them, and never read their answers in again."""


_registered: dict[str, Integration] = {}


def register(integration: Integration) -> None:
    """Add an outside tool. Call it once, in the `ready` of the tool's app."""
    _registered[integration.slug] = integration


def registered() -> tuple[Integration, ...]:
    """Return every outside tool, in the order of the installed apps."""
    return tuple(_registered.values())


def tool_name(slug: str) -> str:
    """Return the name of the tool that `Campaign.labelled_in` names, "" for our own pages."""
    return _registered[slug].name if slug else ""


def tool_of(campaign: Campaign) -> Integration | None:
    """Return the tool in which a campaign is labelled; None where our own pages give out its tasks."""
    return _registered[campaign.labelled_in] if campaign.labelled_in else None
