"""The versions of an answer as leads see them: their contents and senders, and which of them counts."""

from dataclasses import dataclass

from annotation.answers.questions.sentences import given_answers
from annotation.answers.validation import Answer
from annotation.label_studio.labels import versions
from annotation.label_studio.labels.convert import Question, Unreadable, read_answer
from annotation.label_studio.labels.versions import Edit, Version, is_own
from annotation.label_studio.models import LabelStudioAnnotation, LabelStudioUser
from annotation.label_studio.overview.queries import name_of
from annotation.models import Campaign

State = LabelStudioAnnotation.State


@dataclass(frozen=True)
class VersionLine:
    """One version. `number` orders the versions by Label Studio's clock."""

    number: int
    version: Version
    says: str
    sender: str
    own: bool  # its author sent it
    current: bool  # it is the current version in Label Studio
    counts: bool  # apart from places and quotas


@dataclass(frozen=True)
class Versions:
    """All stored versions of an answer, the earliest first."""

    answer: LabelStudioAnnotation
    lines: list[VersionLine]

    @property
    def undecided(self) -> bool:
        """Return whether a lead must decide about the current version."""
        answer = self.answer
        return answer.deleted_at is None and (answer.edit == Edit.OPEN or answer.state == State.FLAGGED)

    @property
    def maker_sent_one(self) -> bool:
        return any(line.own for line in self.lines)

    @property
    def decided(self) -> str:
        """Return the decision about the current version, in words; "" if there is none."""
        return Edit(self.answer.edit).label if self.answer.edit not in ("", Edit.OPEN) else ""


def versions_of(answer: LabelStudioAnnotation, campaign: Campaign) -> Versions:
    """Return the stored versions of an answer."""
    current = Version.of(answer)
    earlier = [
        version for version in versions.history_of([answer.pk])[answer.pk] if version.digest != current.digest
    ]
    counting = versions.counting(answer, earlier, answer.user).version
    ordered = sorted([*earlier, current], key=lambda version: (version.changed_at, version.digest))
    senders = _senders(answer, ordered)
    question = _question(answer, campaign)
    lines = [
        VersionLine(
            number=number,
            version=version,
            says=_says(version, question),
            sender=senders.get(
                version.updated_by or 0, f"User {version.updated_by}" if version.updated_by else "not said"
            ),
            own=is_own(version, answer.user),
            current=version.digest == current.digest,
            counts=counting is not None and version.digest == counting.digest,
        )
        for number, version in enumerate(ordered, start=1)
    ]
    return Versions(answer, lines)


def of_annotation(assignment: int | None) -> LabelStudioAnnotation | None:
    """Return the answer in Label Studio from which our answer, or a revision of it, was made."""
    if assignment is None:
        return None
    rows = LabelStudioAnnotation.objects.filter(annotation__assignment=assignment)
    return rows.select_related("project__bridge__server", "user__annotator").first()


def _senders(answer: LabelStudioAnnotation, ordered: list[Version]) -> dict[int, str]:
    numbers = {version.updated_by for version in ordered if version.updated_by is not None}
    users = LabelStudioUser.objects.filter(server=answer.project.bridge.server_id, external_id__in=numbers)
    return {user.external_id: name_of(user).partition(" (")[0] for user in users}


def _question(answer: LabelStudioAnnotation, campaign: Campaign) -> Question | None:
    if answer.task is None:
        return None
    attributes = answer.task.task_attributes.order_by("position")
    stimuli = answer.task.stimuli.order_by("position")
    return Question.of(
        campaign,
        {text: pk for pk, text in attributes.values_list("attribute", "attribute__text")},
        list(stimuli.values_list("pk", "text")),
    )


def _says(version: Version, question: Question | None) -> str:
    if version.cancelled:
        return "Skipped."
    if question is None:
        return "An answer to a screen that Stereoscope did not send."
    try:
        return _in_words(read_answer(version.result, question), question)
    except Unreadable as error:
        return f"Cannot be read: {error}"


def _in_words(answer: Answer, question: Question) -> str:
    if answer.questions is not None and question.screen is not None:
        screen = question.screen
        given = given_answers(answer.questions, screen.questions, screen.text)
        return " ".join(f"{one.label} {one.answer}." for one in given)
    if answer.rating is not None:
        return f"Rated {answer.rating}." + (f" “{answer.justification}”" if answer.justification else "")
    if not answer.ticked:
        return "None of the above."
    words = []
    for text, pk in question.attributes.items():
        if pk in answer.ticked:
            boxes = sum(box.attribute_id == pk for box in answer.boxes)
            words.append(f"{text} ({boxes} box{'' if boxes == 1 else 'es'})" if boxes else text)
    return f"Ticked: {', '.join(words)}."
