"""Kinds of questions for tests, and their campaigns."""

import random

from annotation.kinds.declaration import Kind
from annotation.kinds.questions import (
    AskedAfter,
    ChoiceQuestion,
    CodedAnswer,
    CompareQuestion,
    RankQuestion,
    Region,
    ScalePoint,
    ScaleQuestion,
    SpanQuestion,
    TextQuestion,
)
from annotation.kinds.registry import frozen
from annotation.kinds.stimuli import Stimuli
from annotation.models import Campaign, Instrument, Task, TaskStimulus

BLIND = frozenset({"group", "prompt", "condition", "model"})


def texts(english):
    return {"en": english, "de": f"{english} (de)"}


def scale(name, codes=(1, 2, 3), **more):
    points = tuple(ScalePoint(code=code, label=texts(f"{name} {code}")) for code in codes)
    return ScaleQuestion(name=name, label=texts(f"How {name}?"), points=points, **more)


def choice(name, codes, **more):
    alone = more.pop("alone", None)
    answers = tuple(CodedAnswer(code=code, label=texts(code), alone=code == alone) for code in codes)
    return ChoiceQuestion(name=name, label=texts(f"Which {name}?"), answers=answers, **more)


def declared(key, stimuli, *questions, unit="image", **more):
    return Kind(
        key=key,
        name=key.title(),
        description="A kind to test with.",
        campaign_name=key.title(),
        work=texts("Looking at pictures"),
        public_name=f"public_{key}",
        public_help="answer questions",
        stimuli=stimuli,
        questions=questions,
        unit=unit,
        measures=("means",),
        guidelines="Look.",
        **more,
    )


# One image with its prompt: two scales, words of the prompt, kinds of fault with a box, a reason.
RUBRIC = declared(
    "rubric",
    Stimuli(medium="image", prompt_shown=True, blind=frozenset({"group", "condition", "model"})),
    scale("fitting", (1, 2, 3, 4, 5), region=Region(shape="box", required=False, after=(1, 2))),
    SpanQuestion(name="missing", label=texts("Which words?"), none=texts("None")),
    choice("faults", ("hands", "text", "none"), several=True, alone="none"),
    TextQuestion(
        name="why",
        label=texts("Why?"),
        required=False,
        longest=200,
        when=AskedAfter(question="fitting", answers=(1, 2)),
    ),
)
# Two images side by side, and for the better one a reason.
PAIRWISE = declared(
    "pairwise",
    Stimuli(medium="image", least=2, most=2, together=("prompt",), order="counterbalanced", blind=BLIND),
    CompareQuestion(name="better", label=texts("Which is better?"), tie=texts("Equally good")),
    choice("reason", ("colour", "shape"), when=AskedAfter(question="better", answers=(0, 1))),
    unit="pair",
)
# Three images: each rated, with a point on what is odd, and all ranked.
RANKING = declared(
    "ranking",
    Stimuli(medium="image", least=3, most=3, together=("prompt",), order="counterbalanced", blind=BLIND),
    scale("odd", each=True, region=Region(shape="point", after=(3,))),
    choice(
        "oddity", ("small", "large"), each=True, when=AskedAfter(question="odd", answers=(3,)), required=False
    ),
    RankQuestion(name="order", label=texts("In which order?"), ties=True),
    unit="set",
)
EXAMPLES = (RUBRIC, PAIRWISE, RANKING)


def question_campaign(study, kind, *, screens=3, annotators=2, lead=None, prompt="a kite over a drum"):
    """Return an open campaign of `kind` whose screens show images of the study and, if the kind shows it, a prompt."""
    images = list(study.images.order_by("pk"))
    campaign = Campaign.objects.create(
        study=study,
        slug=kind.key,
        name=f"Secrets of {kind.key}",
        kind=kind.key,
        declaration=frozen(kind),
        annotators_per_task=annotators,
        seed=5,
        state=Campaign.State.OPEN,
        opened_at=study.created_at,
        created_by=lead,
    )
    Instrument.objects.create(campaign=campaign, guidelines=kind.guidelines, statement=kind.statement)
    draw = random.Random(3)
    for _ in range(screens):
        add_screen(campaign, kind, draw.sample(images, kind.stimuli.most), prompt=prompt)
    return campaign


def add_screen(campaign, kind, shown, *, prompt="a kite over a drum"):
    """Return a task that shows these images (or texts)."""
    task = Task.objects.create(campaign=campaign, wanted=campaign.annotators_per_task)
    stimuli = [{"text": item} if isinstance(item, str) else {"image": item} for item in shown]
    if kind.stimuli.prompt_shown:
        stimuli.append({"text": prompt})
    for position, stimulus in enumerate(stimuli):
        TaskStimulus.objects.create(task=task, position=position, **stimulus)
    return task
