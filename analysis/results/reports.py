"""Computing and storing a study's results: pages read the latest results."""

import json
from typing import Any

from django.db import DEFAULT_DB_ALIAS, transaction
from django.db.models import Max, Q

from accounts.models import User
from analysis.models import Report, ReportTable, ScoredImage
from analysis.results.parameters import Parameters, parameters_of
from analysis.scoring.freshness import last_score
from annotation.answers.questions.answer_review import collect
from annotation.models import Annotation, Campaign, Judgement
from generation.models import Answer
from jobs.models import Job
from jobs.progress.reporter import Progress, Unwatched
from jobs.run.execution import enqueue
from studies import audit
from studies.models import AuditEntry, Study

JOB_KIND = "compute_report"
# With more judgements, a worker computes the results, because a page must answer quickly.
INLINE_JUDGEMENTS = 20_000
INLINE_SCORED = 1_000  # images that machines scored
INLINE_ANSWERS = 10_000  # of models to probes
KEPT = 5
STOPPED = (Job.State.FAILED, Job.State.CANCELLED)
# Pages do not count further: they show that there are at least this many.
MOST_COUNTED = 500_000
# Actions after which submitted labels stop counting, or count again.
_TAKEN_BACK = (
    Q(action__in=["consent.withdrawn", "consent.renewed"])
    | Q(action__startswith="enrolment.")
    | Q(action__in=["annotation.excluded", "annotation.readmitted", "image.retracted", "image.restored"])
)

_ANSWERED = ("answers.coded", "answer.overridden", "answers.imported")


def compute_report(
    *, study: Study, parameters: Parameters, by: User | None, progress: Progress | None = None
) -> Report:
    """Compute all results and store them; all but the last reports of the study are dropped."""
    # Numerical libraries load here and not when the server starts.
    from analysis.results.compute import compute
    from analysis.results.data.labels import load
    from analysis.results.data.machine_scores import load_scores
    from analysis.results.schema import records

    progress = progress or Unwatched()
    collect(study=study)
    last_audit_entry = AuditEntry.objects.filter(study=study).aggregate(last=Max("pk"))["last"] or 0
    data = load(study=study, parameters=parameters, progress=progress)
    scores = load_scores(study)
    results = compute(data=data, parameters=parameters, progress=progress, scores=scores)
    summary = json.loads(json.dumps(results.summary, allow_nan=False, default=lambda number: number.item()))
    with transaction.atomic():
        report = Report.objects.create(
            study=study,
            parameters=parameters.as_json(),
            inputs_digest=summary["inputs_digest"],
            summary=summary,
            last_annotation=data.last_annotation,
            last_audit_entry=last_audit_entry,
            last_score=scores.latest,
            computed_by=by,
        )
        for name, frame in results.tables.items():
            columns = [str(column) for column in frame.columns]
            values = [[row[column] for column in columns] for row in records(frame)]
            ReportTable.objects.create(
                report=report, name=name, columns=columns, content=ReportTable.packed(values)
            )
        audit.record(
            by=by, action="report.computed", subject=report, study=study, digest=report.inputs_digest
        )
        older = Report.objects.filter(study=study).order_by("-pk").values_list("pk", flat=True)[KEPT:]
        Report.objects.filter(pk__in=list(older)).delete()
    report.refresh_from_db()
    return report


def request_report(*, study: Study, parameters: Parameters, by: User) -> Report | Job:
    """Compute now when there is little to compute, else queue a job; return which of the two.

    A computation under way is not doubled: its job is returned.
    """
    under_way = running_job(study)
    if under_way is not None:
        return under_way
    counts = (
        (judgements_of, INLINE_JUDGEMENTS),
        (scored_images_of, INLINE_SCORED),
        (model_answers_of, INLINE_ANSWERS),
    )
    if all(count(study, most=limit + 1) <= limit for count, limit in counts):
        return compute_report(study=study, parameters=parameters, by=by)
    return enqueue(
        kind=JOB_KIND,
        title=f"Compute the results of {study.name}",
        arguments={"study": study.pk, "parameters": parameters.as_json()},
        by=by,
        study_id=study.pk,
    )


def compute_after_close(campaign: Campaign, by: User | None) -> None:
    """Queue the results of a campaign's study when it closes, unless nothing changed since they were computed.

    A computation that is queued already will read the new labels, so no second one is queued.
    """
    study = campaign.study
    if not judgements_of(study, most=1):
        return
    report = latest_report(study)
    waiting = Job.objects.filter(study_id=study.pk, kind=JOB_KIND, state=Job.State.QUEUED)
    if waiting.exists() or (report is not None and is_current(report)):
        return
    parameters = parameters_of(study).as_json() if report is None else report.parameters
    enqueue(
        kind=JOB_KIND,
        title=f"Compute the results of {study.name}",
        arguments={"study": study.pk, "parameters": parameters, "only_if_changed": True},
        by=by,
        study_id=study.pk,
    )


def parameters_from(study: Study, stored: dict[str, Any]) -> Parameters:
    """Return parameters as a job or a report stored them."""
    return parameters_of(study, **stored)


def latest_report(study: Study) -> Report | None:
    """The report the pages show."""
    return Report.objects.filter(study=study, format=Report.FORMAT).order_by("-pk").first()


def current_report(study: Study, *, using: str) -> Report | None:
    """Return the latest results if they include all present labels and scores."""
    report = Report.objects.using(using).filter(study=study, format=Report.FORMAT).order_by("-pk").first()
    if report is None or report.parameters["without_annotators"] or report.parameters["campaigns"]:
        return None
    return report if is_current(report, using=using) else None


def report_to_show(*, study: Study, by: User) -> tuple[Report | None, Job | None]:
    """The report that may be shown, and the running computation.

    Withdrawn, excluded or retracted labels must not be in results: a report with such labels is not shown again but
    recomputed with its own parameters, immediately or, for large studies, by a worker. If such a computation has
    failed, it is returned instead: only a person starts another one (`request_report`).
    """
    report = latest_report(study)
    if report is None:
        return report, running_job(study)
    taken_back = _taken_back_since(report)
    if taken_back is None:
        return report, running_job(study)
    job = running_job(study) or _stopped_since(study, taken_back)
    if job is not None:
        return None, job
    fresh = request_report(study=study, parameters=parameters_from(study, report.parameters), by=by)
    return (fresh, None) if isinstance(fresh, Report) else (None, fresh)


def _taken_back_since(report: Report) -> AuditEntry | None:
    """The last entry by which labels stopped counting, or count again, after the report was computed."""
    later = AuditEntry.objects.filter(study=report.study_id, pk__gt=report.last_audit_entry)
    return later.filter(_TAKEN_BACK).order_by("-pk").first()


def _stopped_since(study: Study, taken_back: AuditEntry) -> Job | None:
    """The last computation, if it failed or was cancelled and was requested after labels stopped counting."""
    latest_job = Job.objects.filter(study_id=study.pk, kind=JOB_KIND).order_by("-pk").first()
    stopped = (
        latest_job is not None and latest_job.state in STOPPED and latest_job.created_at >= taken_back.at
    )
    return latest_job if stopped else None


def running_job(study: Study) -> Job | None:
    """The running computation, if there is one."""
    active = (Job.State.QUEUED, Job.State.RUNNING)
    return Job.objects.filter(study_id=study.pk, kind=JOB_KIND, state__in=active).order_by("-pk").first()


def judgements_of(study: Study, *, most: int) -> int:
    """The number of judgements, counted or not, up to `most`.

    Answers to checks are not included.
    """
    labels = Judgement.objects.filter(annotation__status__in=Annotation.LABELS)
    return labels.filter(annotation__campaign__study=study)[:most].count()


def scored_images_of(study: Study, *, most: int) -> int:
    """The number of images that scorers have finished, up to `most`."""
    return ScoredImage.objects.filter(scorer__study=study)[:most].count()


def model_answers_of(study: Study, *, most: int) -> int:
    """The number of questions to models in probes, including refused and failed ones, up to `most`."""
    asked = Answer.objects.filter(run__study=study).exclude(outcome=Answer.Outcome.PENDING)
    return asked[:most].count()


def scored_since(report: Report) -> bool:
    """Whether automatic scores of the study changed after the report was computed."""
    return last_score(report.study_id) != report.last_score


def answered_since(report: Report, *, using: str | None = None) -> bool:
    """Whether models answered, or answers were imported or coded, after the report was begun.

    A probe codes its answers when it ends, which writes an audit entry.
    """
    later = AuditEntry.objects.using(using).filter(study=report.study_id, pk__gt=report.last_audit_entry)
    return later.filter(action__in=_ANSWERED).exists()


def is_current(report: Report, *, using: str = DEFAULT_DB_ALIAS) -> bool:
    """Whether a report includes all labels and scores in this view of the database."""
    newer = Annotation.objects.using(using).filter(
        status__in=Annotation.LABELS, campaign__study=report.study_id, pk__gt=report.last_annotation
    )
    taken_back = AuditEntry.objects.using(using).filter(
        _TAKEN_BACK, study=report.study_id, pk__gt=report.last_audit_entry
    )
    scores = last_score(report.study_id, using=using)
    return (
        scores == report.last_score
        and not newer.exists()
        and not taken_back.exists()
        and not answered_since(report, using=using)
    )


def judgements_since(report: Report) -> int:
    """How many judgements were submitted after the report was computed."""
    labels = Annotation.objects.filter(status__in=Annotation.LABELS)
    later = labels.filter(campaign__study=report.study_id, pk__gt=report.last_annotation)
    return Judgement.objects.filter(annotation__in=later)[:MOST_COUNTED].count()
