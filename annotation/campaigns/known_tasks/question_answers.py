"""Known answers to declared questions: a screen of the campaign, and its right answers."""

from collections.abc import Mapping, Sequence

from annotation.answers.questions.conditions import is_asked
from annotation.answers.questions.known_answers import Part, accepted_of, parts_of
from annotation.answers.questions.stimuli import PROMPT, refs_of
from annotation.answers.questions.values import WrongValueError
from annotation.campaigns.known_tasks.refusals import explanation_of, refuse
from annotation.campaigns.planning.plan import PlannedStimulus
from annotation.kinds.declaration import Kind
from annotation.kinds.registry import kind_of
from annotation.models import Campaign, CopiedText, KnownAnswer, Task, TaskStimulus
from foundation.errors import Conflict
from generation.models import Image

NOTHING_KNOWABLE = (
    "This kind asks only for texts, which are never right or wrong. Campaigns of this kind have no "
    "checks and no practice."
)
_NEVER_ASKED = "This question is not asked after the answers that you chose as right."


def make_task(
    *,
    campaign: Campaign,
    purpose: str,
    stimuli: Sequence[PlannedStimulus],
    answers: Mapping[Part, object],
    explanations: Mapping[Part, str],
) -> tuple[Task, list[KnownAnswer]]:
    """Return a new task that shows these stimuli, and its known answers, not stored yet."""
    _check_stimuli(campaign, stimuli)
    _refuse_duplicate(campaign, purpose, stimuli)
    sensitive = kind_of(campaign).stimuli.sensitive
    task = Task.objects.create(campaign=campaign, purpose=purpose, wanted=0, sensitive=sensitive)
    for position, stimulus in enumerate(stimuli):
        row = TaskStimulus.objects.create(
            task=task, position=position, image_id=stimulus.image_id, text=stimulus.text
        )
        if stimulus.writer_id is not None:
            CopiedText.objects.create(stimulus=row, writer_id=stimulus.writer_id)
    return task, known_answers(task, answers, explanations)


def known_answers(
    task: Task, answers: Mapping[Part, object], explanations: Mapping[Part, str]
) -> list[KnownAnswer]:
    """Return unsaved known answers of the scored parts, in the order of the screen."""
    kind = kind_of(task.campaign)
    shown = list(task.stimuli.order_by("position"))
    by_ref = dict(zip(refs_of(kind, len(shown)), shown, strict=True))
    refs = [ref for ref in by_ref if ref != PROMPT]
    parts = parts_of(kind, refs)
    wrong = {
        f"answers.{part.name}": "This answer cannot be scored on this screen."
        for part in {*answers, *explanations} - set(parts)
    }
    right: dict[Part, list[int | str]] = {}
    explanation_texts: dict[Part, str] = {}
    for part in parts:
        raw = answers.get(part)
        explanation_texts[part] = explanation_of(
            explanations.get(part, ""), part.name, wrong, scored=raw is not None
        )
        if raw is not None:
            try:
                right[part] = accepted_of(kind.question(part.question), raw, refs, kind)
            except WrongValueError as error:
                wrong[f"answers.{part.name}"] = str(error)
    wrong |= {
        f"answers.{part.name}": _NEVER_ASKED for part in right if not _can_be_asked(kind, part, right, wrong)
    }
    if not right and not wrong:
        wrong["answers"] = "Choose the right answer to at least one question."
    refuse(wrong)
    return [
        KnownAnswer(
            question=part.question,
            stimulus=by_ref[part.ref] if part.ref else None,
            accepted=accepted,
            explanation=explanation_texts[part],
        )
        for part, accepted in right.items()
    ]


def screen_parts(kind: Kind, stimuli_count: int) -> list[Part]:
    """Return the parts that can be scored on a screen with this number of stimuli, including a prompt."""
    return parts_of(kind, [ref for ref in refs_of(kind, stimuli_count) if ref != PROMPT])


def _can_be_asked(
    kind: Kind, part: Part, right: Mapping[Part, Sequence[int | str]], wrong: Mapping[str, str]
) -> bool:
    """Return whether a question is asked after any right answer to the question on which it depends."""
    question = kind.question(part.question)
    if question.when is None:
        return True
    earlier = kind.question(question.when.question)
    before = Part(earlier.name, part.ref if earlier.each else "")
    if before not in right or f"answers.{before.name}" in wrong:
        return True
    several = [list(right[before])] if getattr(earlier, "several", False) else list(right[before])
    return any(
        is_asked(kind, question, {earlier.name: {part.ref: value} if earlier.each else value}, part.ref)
        for value in several
    )


def _check_stimuli(campaign: Campaign, stimuli: Sequence[PlannedStimulus]) -> None:
    shown = kind_of(campaign).stimuli
    images = [stimulus.image_id for stimulus in stimuli if stimulus.image_id is not None]
    texts = [stimulus.text for stimulus in stimuli if stimulus.image_id is None]
    pictured = shown.medium == "image"
    number = len(images) if pictured else len(texts)
    prompts = len(texts) if pictured else 0
    fits = shown.least <= number <= shown.most and prompts == (1 if shown.prompt_shown else 0)
    if not fits or not all(texts) or (images and not pictured):
        refuse({"stimuli": "The campaign has no such screen."})
    usable = Image.objects.filter(study=campaign.study_id, retracted_at=None, pk__in=images).exclude(file="")
    if usable.count() != len(set(images)) or len(set(images)) != len(images):
        refuse({"stimuli": "An image was retracted, or its file was never released."})


def _refuse_duplicate(campaign: Campaign, purpose: str, stimuli: Sequence[PlannedStimulus]) -> None:
    """Refuse a second task with the same content, such as a form sent twice."""
    wanted = [(stimulus.image_id, stimulus.text) for stimulus in stimuli]
    alike = campaign.tasks.filter(purpose=purpose, withdrawn=False).prefetch_related("stimuli")
    for task in alike:
        if [(row.image_id, row.text) for row in task.stimuli.all()] == wanted:
            raise Conflict(
                "known_already",
                "There is already a task for this screen. Change the known answers of that task instead.",
            )
