"""Scorers of a study with their progress, and estimates of a scorer's work before it starts."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Count, F, QuerySet

from analysis.models import AssociationScore, AttributeScore, Caption, ScoredImage, Scorer, TextScore
from analysis.scoring.backends.choices import ASSOCIATIONS, ENDPOINT
from analysis.scoring.inputs.scope import ASKED, CONDITIONS, attributes_asked, images_of
from analysis.scoring.launch import JOB_KIND, is_under_way
from analysis.scoring.parameters import KINDS
from jobs.models import Job
from studies.models import Study

Kind = Scorer.Kind
CLASSIFIERS = (Kind.SENTIMENT, Kind.TOXICITY)
KINDS_ABOUT_IMAGES = tuple(kind for kind in KINDS if kind != Kind.JUDGE)
AttributesByGroup = Mapping[int, Mapping[int, str]]  # attributes by group
_LEAST_STEPS = 20  # fewer say little about the time of a step


@dataclass(frozen=True)
class ScorerLine:
    """A scorer in a list, with its progress, its results and its state."""

    scorer: Scorer
    done: int
    failed: int
    total: int
    written: int
    lacking: int = 0  # missing scores of asked attributes, including those of images that are done

    @property
    def under_way(self) -> bool:
        return self.scorer.job is not None and is_under_way(self.scorer.job)

    @property
    def state(self) -> str:
        """The job's state if it is queued, running or failed; otherwise "done" or "incomplete"."""
        job = self.scorer.job
        if job is not None and (self.under_way or job.state == Job.State.FAILED):
            return str(job.state)
        return "done" if self.done >= self.total and not self.lacking else "incomplete"

    @property
    def finds_out(self) -> str:
        """The scorer's kind in words."""
        if self.of_associations and self.scorer.kind in CLASSIFIERS:
            return f"{self.scorer.kind} of associations"
        return str(Kind(self.scorer.kind).label)

    @property
    def of_associations(self) -> bool:
        return bool(self.scorer.parameters.get("of") == ASSOCIATIONS)

    @property
    def unit(self) -> str:
        if self.of_associations:
            return "associations"
        return "captions" if self.scorer.kind in CLASSIFIERS else "images"

    @property
    def wrote(self) -> str:
        """The number and kind of results, in words."""
        nouns = {
            Kind.CLIP: "score",
            Kind.CAPTIONS: "caption",
            Kind.SENTIMENT: "score",
            Kind.TOXICITY: "score",
            Kind.JUDGE: "rating",
        }
        noun = nouns.get(Kind(self.scorer.kind), "")
        if not noun:
            return "vectors"
        words = f"{self.written:,} {noun}{'' if self.written == 1 else 's'}"
        # While images wait or have failed, scores are missing anyway.
        return f"{words}, {self.lacking:,} missing" if self.lacking and self.done >= self.total else words


@dataclass(frozen=True)
class ScoringEstimate:
    """The work of a new scorer: the number of images or captions, and the estimated time and requests."""

    total: int
    unit: str
    seconds: float | None  # None: no job of this kind has finished on this server yet
    requests: int | None  # to an endpoint, which may charge for each


def lines_of(study: Study) -> list[ScorerLine]:
    """Return a line for each scorer of the study, newest first, with a constant number of queries."""
    scorers = list(Scorer.objects.filter(study=study).select_related("job", "encoder", "created_by"))
    attributes = {
        which: attributes_asked(study, which) for which in {_which(scorer) for scorer in scorers} - {""}
    }
    images = _scored_images(scorers, attributes)
    totals = _totals(study)
    written = _written(scorers)
    captions_read = _read(scorers)
    captions = _captions(study)
    clip = _by_group(study)
    scores = _scores_asked(scorers, attributes)
    associations = _associations(scorers)
    lines = []
    for scorer in scorers:
        n_done, total, lacking = images[scorer.pk, "done"], totals.get(scorer.kind, 0), 0
        if scorer.parameters.get("of") == ASSOCIATIONS:
            n_done = total = associations.get(scorer.pk, 0)
        elif scorer.kind in CLASSIFIERS:
            n_done, total = captions_read.get(scorer.pk, 0), _captions_of(scorer, captions)
        elif scorer.kind == Kind.CLIP:
            groups = attributes[_which(scorer)]
            total = sum(number for group, number in clip.items() if groups.get(group))
            lacking = sum(number * len(groups.get(group, ())) for group, number in clip.items())
            lacking -= scores[scorer.pk]
        failed = images[scorer.pk, "failed"]
        lines.append(ScorerLine(scorer, n_done, failed, total, written.get(scorer.pk, 0), lacking))
    return lines


def line_of(scorer: Scorer) -> ScorerLine:
    """Return the line of one scorer."""
    return next(line for line in lines_of(scorer.study) if line.scorer.pk == scorer.pk)


def estimate(study: Study, kind: str, parameters: Mapping[str, object]) -> ScoringEstimate:
    """Estimate the work of a new scorer; the time is based on this server's last finished job of the kind."""
    if kind in CLASSIFIERS:
        total, unit = sum(_captions(study).values()), "captions"
    else:
        total, unit = images_of(study, kind).count(), "images"
        if kind == Kind.CLIP:
            attributes = attributes_asked(study, str(parameters.get("attributes") or ASKED))
            total = sum(number for group, number in _by_group(study).items() if attributes.get(group))
    seconds = _seconds_a_step(kind)
    requests = None
    if parameters.get("captioner") == ENDPOINT:
        requests = total * int(str(parameters.get("captions") or 1))
    return ScoringEstimate(total, unit, None if seconds is None else seconds * total, requests)


def failed_images(scorer: Scorer) -> QuerySet[ScoredImage]:
    """Return the images that could not be scored, with their reasons."""
    failed = ScoredImage.objects.filter(scorer=scorer, outcome=ScoredImage.Outcome.FAILED)
    return failed.select_related("image__group").order_by("pk")


def _totals(study: Study) -> dict[str, int]:
    return {str(kind): images_of(study, kind).count() for kind in CONDITIONS}


def _which(scorer: Scorer) -> str:
    """Return the scorer's choice of attributes, or "" for a scorer that looks for none."""
    return str(scorer.parameters.get("attributes") or ASKED) if scorer.kind == Kind.CLIP else ""


def _by_group(study: Study) -> dict[int, int]:
    """Return the number of each group's images that CLIP scorers use."""
    images = images_of(study, Kind.CLIP).order_by()
    return dict(images.values_list("group").annotate(number=Count("pk")))


def _scored_images(
    scorers: list[Scorer], attributes: Mapping[str, AttributesByGroup]
) -> dict[tuple[int, str], int]:
    """Count images by scorer and outcome; for CLIP scorers, only images of groups that have attributes."""
    of = {scorer_row.pk: attributes.get(_which(scorer_row)) for scorer_row in scorers}
    numbers: dict[tuple[int, str], int] = defaultdict(int)
    rows = ScoredImage.objects.filter(scorer__in=scorers, image__retracted_at=None)
    counted = rows.values_list("scorer", "outcome", "image__group").annotate(number=Count("pk"))
    for scorer, outcome, group, number in counted:
        groups = of[scorer]
        if groups is None or groups.get(group):
            numbers[scorer, outcome] += number
    return numbers


def _scores_asked(scorers: list[Scorer], attributes: Mapping[str, AttributesByGroup]) -> dict[int, int]:
    """Count the scores of each CLIP scorer for attributes that are asked of the image's group."""
    of = {scorer_row.pk: attributes[_which(scorer_row)] for scorer_row in scorers if _which(scorer_row)}
    numbers: dict[int, int] = defaultdict(int)
    rows = AttributeScore.objects.filter(
        scorer__in=list(of), image__retracted_at=None, image__condition__in=CONDITIONS[Kind.CLIP]
    )
    counted = rows.values_list("scorer", "image__group", "attribute").annotate(number=Count("pk"))
    for scorer, group, attribute, number in counted:
        if attribute in of[scorer].get(group, ()):
            numbers[scorer] += number
    return numbers


def _written(scorers: list[Scorer]) -> dict[int, int]:
    numbers: dict[int, int] = defaultdict(int)
    for table in (AttributeScore, Caption, TextScore, AssociationScore):
        rows = table._default_manager.filter(scorer__in=scorers, **_not_retracted(table))
        for scorer, number in rows.values_list("scorer").annotate(number=Count("pk")):
            numbers[scorer] += number
    return numbers


def _not_retracted(table: type) -> dict[str, None]:
    if table is AssociationScore:
        return {}
    return {"caption__image__retracted_at" if table is TextScore else "image__retracted_at": None}


def _read(scorers: list[Scorer]) -> dict[int, int]:
    rows = TextScore.objects.filter(scorer__in=scorers, caption__image__retracted_at=None)
    return dict(rows.values_list("scorer").annotate(number=Count("caption", distinct=True)))


def _associations(scorers: list[Scorer]) -> dict[int, int]:
    rows = AssociationScore.objects.filter(scorer__in=scorers)
    return dict(rows.values_list("scorer").annotate(number=Count("key", distinct=True)))


def _captions(study: Study) -> dict[str, int]:
    rows = Caption.objects.filter(scorer__study=study, image__retracted_at=None).order_by()
    return dict(rows.values_list("scorer__model_label").annotate(number=Count("pk")))


def _captions_of(scorer: Scorer, captions: Mapping[str, int]) -> int:
    label = scorer.parameters.get("captions_of")
    return captions.get(label, 0) if label else sum(captions.values())


def _seconds_a_step(kind: str) -> float | None:
    """Return the seconds per step of the last finished job of this kind, in any study."""
    latest = (
        Scorer.objects.filter(
            kind=kind, job__kind=JOB_KIND, job__state=Job.State.SUCCEEDED, job__steps_done__gte=_LEAST_STEPS
        )
        .annotate(took=F("job__finished_at") - F("job__started_at"))
        .order_by("-job__pk")
        .values_list("took", "job__steps_done")
        .first()
    )
    return latest[0].total_seconds() / latest[1] if latest else None
