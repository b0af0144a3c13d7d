"""The contents of a release built now, and the result of its privacy check. Builds nothing."""

from dataclasses import dataclass
from datetime import datetime

from django.db import DEFAULT_DB_ALIAS

from analysis.models import AttributeScore, Caption, Report
from analysis.releases.privacy.check import PrivacyCheck, check
from analysis.releases.privacy.people import People, people_of
from analysis.releases.privacy.profile_history import earlier_of, live
from analysis.results import reports
from annotation.answers.inclusion import counted
from annotation.campaigns import snapshots
from annotation.kinds.registry import kind_of
from annotation.models import Box, Campaign, Judgement, Point
from studies.models import Study

# With more profiles, the build job does the check, because a page must answer quickly.
MOST_PROFILES = 1_000


@dataclass(frozen=True)
class Preview:
    """Rows by table, the time of counting if it was earlier, and how profiles would be released.

    `check` is None if there are too many profiles for a page.
    """

    rows: dict[str, int]
    counted_at: datetime | None
    check: PrivacyCheck | None
    pending: bool = False  # labels are being counted for the first time, so their rows are missing here
    texts: int = 0  # answers in own words: in a release only if the lead includes them

    @property
    def empty(self) -> bool:
        labels = ("judgements", "ratings", "answers")
        return not self.pending and not (self.texts or any(self.rows.get(name) for name in labels))

    @property
    def asks_questions(self) -> bool:
        """Whether campaigns ask declared questions."""
        return "answers" in self.rows


def preview(study: Study, *, k: int, leave_out_people: bool = False) -> Preview:
    """Count the contents of a release (for large studies, from the latest report), and check its privacy."""
    campaigns = _released(study)
    people = people_of(campaigns, using=DEFAULT_DB_ALIAS)
    report = _whole_report(study)
    about_attributes = [campaign for campaign in campaigns if kind_of(campaign).about_attributes]
    labels, counted_at = (
        _labels(about_attributes, ("judgements", "boxes", "ratings"))
        if report is None
        else (
            {name: report.summary["counted"][name] for name in ("judgements", "boxes", "ratings")},
            report.computed_at,
        )
    )
    asking = [campaign for campaign in campaigns if campaign not in about_attributes]
    answers, answers_at = _labels(asking, ("answers", "places", "texts")) if asking else ({}, None)
    texts = (answers or {}).pop("texts", 0)
    rows = (
        (labels or {})
        | (answers or {})
        | {
            "annotators": len(people.origins),
            "images": study.images.count() - study.images.filter(retracted_at__isnull=False).count(),
            "associations": study.associations.count(),
        }
    )
    if study.scorers.exists():
        rows |= _found_by_machines(study)
    return Preview(
        rows=rows,
        counted_at=min(filter(None, (counted_at, answers_at)), default=None),
        pending=labels is None or answers is None,
        check=_check(study, people, k, leave_out_people),
        texts=texts,
    )


def _released(study: Study) -> list[Campaign]:
    """Return the campaigns whose labels a release would contain."""
    return list(Campaign.objects.filter(study=study).select_related("study"))


def _found_by_machines(study: Study) -> dict[str, int]:
    of_study = {"scorer__study": study, "image__retracted_at": None}
    return {
        "scorers": study.scorers.count(),
        "attribute_scores": AttributeScore.objects.filter(**of_study).count(),
        "captions": Caption.objects.filter(**of_study).count(),
    }


def _whole_report(study: Study) -> Report | None:
    """Return the latest report, if no choices left anything out."""
    report = reports.latest_report(study)
    chosen = report and (report.parameters["without_annotators"] or report.parameters["campaigns"])
    return None if chosen else report


def _labels(
    campaigns: list[Campaign], names: tuple[str, ...]
) -> tuple[dict[str, int] | None, datetime | None]:
    """Return the labels that count, and of when they are; None while those of a large campaign are counted first."""
    labels = dict.fromkeys(names, 0)
    moments = []
    for campaign in campaigns:
        counts = snapshots.read(campaign, "labels")
        if counts.pending:
            return None, None
        moments.append(counts.counted_at)
        for name, number in counts.value.items():
            labels[name] += number
    return labels, min(filter(None, moments), default=None)


@snapshots.register("labels")
def _count(campaign: Campaign, _: str) -> dict[str, int]:
    answers = Judgement.objects.filter(annotation__in=counted(campaign))
    if not kind_of(campaign).about_attributes:
        texts = answers.filter(text__isnull=False)
        coded = answers.filter(text__isnull=True)
        boxes, points = (places.objects.filter(judgement__in=coded).count() for places in (Box, Point))
        return {"answers": coded.count(), "places": boxes + points, "texts": texts.count()}
    if not kind_of(campaign).marks_attributes:
        return {"ratings": answers.count()}
    return {"judgements": answers.count(), "boxes": Box.objects.filter(judgement__in=answers).count()}


def check_of(study: Study, *, k: int, leave_out_people: bool = False) -> PrivacyCheck | None:
    """Return the privacy check of a release built now; None if there are too many profiles to check at once."""
    campaigns = _released(study)
    return _check(study, people_of(campaigns, using=DEFAULT_DB_ALIAS), k, leave_out_people)


def _check(study: Study, people: People, k: int, leave_out_people: bool) -> PrivacyCheck | None:
    releases = list(study.releases.defer("annotations", "images", "key"))
    if len(people.stated) > MOST_PROFILES:
        return None
    earlier = earlier_of(live(releases), using=DEFAULT_DB_ALIAS)
    return check(people, k=k, earlier=earlier, leave_out_people=leave_out_people)
