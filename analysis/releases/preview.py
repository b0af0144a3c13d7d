"""What a release would hold if it were built now, and what its privacy check would say. Builds nothing."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Exists, OuterRef

from accounts.models import AnnotatorProfile
from analysis import reports
from analysis.models import AttributeScore, Caption, Report
from analysis.releases import privacy
from analysis.releases.contents import PrivacyReport
from annotation.counted import counted
from annotation.models import Box, Campaign, Enrolment, Judgement
from studies.models import Study

# More profiles than this are checked by the job that builds: a page must answer while one waits.
MOST_PROFILES = 1_000


@dataclass(frozen=True)
class Preview:
    """Rows by table, when they were counted where that was not just now, and what would become of profiles.

    `privacy` is None where there are too many profiles to try on a page.
    """

    rows: dict[str, int]
    counted_at: datetime | None
    privacy: PrivacyReport | None

    @property
    def empty(self) -> bool:
        return not (self.rows["judgements"] or self.rows["ratings"])


def preview(study: Study, *, k: int) -> Preview:
    """Count what would be in a release, of large studies as of the latest report, and try its privacy."""
    campaigns = list(Campaign.objects.filter(study=study).select_related("study"))
    report = _whole_report(study)
    labels = (
        _labels(campaigns)
        if report is None
        else {name: report.summary["counted"][name] for name in ("judgements", "boxes", "ratings")}
    )
    rows = labels | {
        "annotators": len(_annotators(campaigns)),
        "images": study.images.filter(retracted_at=None).count(),
        "associations": study.associations.count(),
    }
    if study.scorers.exists():
        rows |= _found_by_machines(study)
    return Preview(
        rows=rows,
        counted_at=report.computed_at if report else None,
        privacy=_privacy(campaigns, k=k),
    )


def _found_by_machines(study: Study) -> dict[str, int]:
    shown = {"scorer__study": study, "image__retracted_at": None}
    return {
        "scorers": study.scorers.count(),
        "attribute_scores": AttributeScore.objects.filter(**shown).count(),
        "captions": Caption.objects.filter(**shown).count(),
    }


def _whole_report(study: Study) -> Report | None:
    """Return the latest report, if it left nothing out by choice."""
    report = reports.latest_report(study)
    chosen = report and (report.parameters["without_annotators"] or report.parameters["campaigns"])
    return None if chosen else report


def _labels(campaigns: list[Campaign]) -> dict[str, int]:
    labels = dict.fromkeys(("judgements", "boxes", "ratings"), 0)
    for campaign in campaigns:
        answers = Judgement.objects.filter(annotation__in=counted(campaign))
        if campaign.kind == Campaign.Kind.STEREOTYPE_MARKING:
            labels["judgements"] += answers.count()
            labels["boxes"] += Box.objects.filter(judgement__in=answers).count()
        else:
            labels["ratings"] += answers.count()
    return labels


def _privacy(campaigns: list[Campaign], *, k: int) -> PrivacyReport | None:
    stated: dict[int, privacy.Profile] = {}
    origins: dict[int, str] = {}
    for campaign in campaigns:
        profiles = AnnotatorProfile.objects.filter(_answered(campaign))
        columns = ("annotator", "annotator__origin", *AnnotatorProfile.FIELDS)
        found = list(profiles.values_list(*columns)[: MOST_PROFILES + 1])
        stated.update({row[0]: privacy.stated_by(row[2:]) for row in found})
        origins.update({row[0]: row[1] for row in found})
        if len(stated) > MOST_PROFILES:
            return None
    ordered = {key: stated[key] for key in sorted(stated)}
    # Nobody is told here of those who stated nothing.
    return privacy.coarsen(ordered, k=k, without_profile=0, origins=origins).report


def _annotators(campaigns: list[Campaign]) -> set[int]:
    """Return everybody of whom something counts; each is looked up by index, however many their answers."""
    found: set[int] = set()
    for campaign in campaigns:
        enrolled = Enrolment.objects.filter(_answered(campaign), campaign=campaign)
        found.update(enrolled.values_list("annotator", flat=True))
    return found


def _answered(campaign: Campaign) -> Exists:
    return Exists(counted(campaign).filter(annotator=OuterRef("annotator")))
