"""A preview of an erasure: the answers that it will delete and keep in each study."""

from collections.abc import Sequence
from dataclasses import dataclass

from accounts.models import Annotator, Consent
from annotation.models import Annotation
from privacy.erasure import answers, consents
from studies import consent
from studies.models import Study


@dataclass(frozen=True)
class StudyPreview:
    """The effect of an erasure in one study, with the consents that decide it."""

    study: Study
    consents: Sequence[Consent]
    withdrew: bool
    answers_deleted: int
    answers_kept: int

    @property
    def in_tool(self) -> bool:
        """Whether answers are deleted, despite the consent, because a labelling tool knows their author."""
        promises = {agreed.text.labels_when_erased for agreed in self.consents}
        return bool(self.answers_deleted) and not self.withdrew and promises == {answers.Labels.SEVER.value}


def preview_of(annotator: Annotator) -> list[StudyPreview]:
    """Return the effect of an erasure in each study in which the annotator is enrolled, answered or withdrew."""
    return [_preview(annotator, study) for study in answers.studies_of(annotator)]


def _preview(annotator: Annotator, study: Study) -> StudyPreview:
    own_answers = Annotation.objects.filter(annotator=annotator, campaign__study=study)
    kept_count = 0
    if answers.promise_of(annotator, study) is answers.Labels.SEVER:
        kept_count = own_answers.filter(campaign__labelled_in="").count()
    return StudyPreview(
        study=study,
        consents=list(consents.binding(annotator, study).select_related("text").order_by("text__version")),
        withdrew=consent.withdrawal_of(annotator, study) is not None,
        answers_deleted=own_answers.count() - kept_count,
        answers_kept=kept_count,
    )
