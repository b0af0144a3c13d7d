"""The study, its resource, its consent text and its campaigns as facts for the documents of a release."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np
from django.db.models import Count

from analysis.releases.contents import (
    CampaignFacts,
    Guidelines,
    QualityCheck,
    QuestionCampaignFacts,
    StudyFacts,
)
from analysis.releases.key_sets import KeySet
from analysis.releases.tables.label_pages import Page, counted_in
from analysis.releases.tables.questions.answer_pages import AnswerPage
from analysis.releases.tables.questions.question_rows import declaration_of
from annotation.answers.inclusion import counted, reason_of
from annotation.assignment import quota_rules
from annotation.kinds.registry import kind_of
from annotation.models import Campaign, Instrument, Judgement
from annotation.people.annotator_ids import ids_usable
from studies import consent
from studies.models import Study

LEFT_OUT = (
    "left_out"  # a reason of releases alone: the answers count, and their annotator could not be protected
)


def released_campaigns(study: Study, using: str) -> list[Campaign]:
    """Return the campaigns whose labels a release contains."""
    return list(Campaign.objects.using(using).filter(study=study).order_by("pk"))


def study_facts(study: Study) -> StudyFacts:
    """Read a study's facts for the data card."""
    text = consent.current_text(study)
    regions = study.groups.exclude(region="").order_by().values_list("region", flat=True).distinct()
    resource = study.resource
    return StudyFacts(
        name=study.name,
        slug=study.slug,
        description=study.description,
        protocol=study.protocol,
        protocol_name=str(study.get_protocol_display()),
        simulated=study.simulated,
        min_raters=study.min_raters,
        rater_pools=study.rater_pools,
        groups=study.groups.count(),
        regions=tuple(sorted(regions)),
        resource=resource.name if resource else None,
        resource_citation=resource.citation if resource else "",
        resource_licence=resource.licence if resource else "",
        invented=bool(resource and resource.invented),
        consent_version=str(text),
        consent=text.body,
        content_notice=text.content_notice,
        support=text.support,
    )


@dataclass
class Tally:
    """The counts of a campaign, added up page by page."""

    campaign: Campaign
    using: str
    left_out: Collection[int] = ()  # annotators whose answers count but are not released
    annotations: int = 0
    answers: int = 0
    first_day: int | None = None  # counted from 1970
    last_day: int | None = None
    annotators: KeySet = field(default_factory=KeySet)
    instruments: dict[int, int] = field(default_factory=dict)

    def add(self, page: Page | AnswerPage) -> None:
        """Add a page of this campaign."""
        rows = page.annotations
        days = rows["submitted_at"]
        self.annotations += len(days)
        self.answers += len(page.judgements["pk"])
        self.first_day = min(int(days.min()), self.first_day if self.first_day is not None else 2**31)
        self.last_day = max(int(days.max()), self.last_day if self.last_day is not None else -(2**31))
        self.annotators.add(rows["annotator"])
        for key, number in zip(*np.unique(rows["instrument"], return_counts=True), strict=True):
            self.instruments[int(key)] = self.instruments.get(int(key), 0) + int(number)

    def facts(self) -> CampaignFacts:
        """Return the campaign's facts, once all its pages were added."""
        kind = kind_of(self.campaign)
        if kind.about_attributes:
            return CampaignFacts(**self._shared())
        return QuestionCampaignFacts(
            **self._shared(),
            answers=self.answers,
            texts=self._texts(),
            declaration=declaration_of(self.campaign),
        )

    def _shared(self) -> dict[str, Any]:
        campaign = self.campaign
        kind = kind_of(campaign)
        return {
            "slug": campaign.slug,
            "name": campaign.name,
            "kind": str(campaign.kind),
            "imported": campaign.imported,
            "ids_are_people": ids_usable(campaign, using=self.using),
            "annotators_per_task": campaign.annotators_per_task,
            "attributes_per_screen": campaign.attributes_per_screen,
            "boxes_required": campaign.boxes_required,
            "annotations": self.annotations,
            "judgements": self.answers if kind.marks_attributes else 0,
            "ratings": self.answers if kind.rates_attributes else 0,
            "annotators": len(self.annotators.keys()),
            "first_day": day(self.first_day),
            "last_day": day(self.last_day),
            "not_counted": self._not_counted(),
            "guidelines": tuple(
                _guidelines(instrument, self.instruments)
                for instrument in campaign.instruments.order_by("-version")
            ),
            "quality_checks": tuple(
                QualityCheck(rule.measure, rule.threshold, rule.minimum, rule.action)
                for rule in campaign.quality_rules.order_by("pk")
            ),
            "quota_fields": tuple(dict.fromkeys(rule.field for rule in quota_rules.stored(campaign))),
            "options": dict(sorted(campaign.options.items())),
        }

    def _texts(self) -> int:
        """Answers in own words that count, as of the snapshot."""
        counting = counted_in(self.campaign, using=self.using, left_out=self.left_out)
        texts = Judgement.objects.using(self.using).filter(text__isnull=False)
        return texts.filter(annotation__in=counting.values("pk")).count()

    def _not_counted(self) -> dict[str, int]:
        """Annotations by the reason why they do not count, as of the snapshot."""
        rows = reason_of(self.campaign).using(self.using).exclude(reason="").values_list("reason")
        reasons = dict(rows.annotate(number=Count("pk")).order_by("reason"))
        if self.left_out:
            answered = counted(self.campaign).using(self.using).filter(annotator__in=self.left_out)
            reasons |= {LEFT_OUT: number} if (number := answered.count()) else {}
        return reasons


def _guidelines(instrument: Instrument, answered: Mapping[int, int]) -> Guidelines:
    return Guidelines(
        version=instrument.version,
        guidelines=instrument.guidelines,
        statement=instrument.statement,
        labels=instrument.labels,
        since=instrument.created_at.astimezone(UTC).date(),
        annotations=answered.get(instrument.pk, 0),
    )


def day(number: int | None) -> date | None:
    """Return the date of a day counted from 1970."""
    return None if number is None else (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(days=number)).date()
