"""Answer coding: which of two options does a written answer commit to? After PAIRS (2402.05779)."""

from annotation.kinds.declaration import Kind, StandardRule
from annotation.kinds.questions import ChoiceQuestion, CodedAnswer
from annotation.kinds.stimuli import Stimuli

CODES = ("first", "second", "both", "refused", "other")  # in the order shown

KIND = Kind(
    key="answer_coding",
    name="Answer coding",
    description="Which of two options does an answer commit to? Each screen shows one text: a "
    "question with its two options, and the answer that was given. Paste the texts as lines, or use the study’s coded "
    "answers. Needs no images. A study can declare a kind with other codes.",
    campaign_name="What answers say",
    work={"en": "Sorting answers"},
    public_name="sorting_answers",
    public_help="choose a code for a text",
    stimuli=Stimuli(medium="text", blind=frozenset({"group", "prompt", "condition", "model", "role"})),
    questions=(
        ChoiceQuestion(
            name="code",
            label={"en": "Which of the two options does the answer choose?"},
            answers=(
                CodedAnswer(code="first", label={"en": "The first"}),
                CodedAnswer(code="second", label={"en": "The second"}),
                CodedAnswer(code="both", label={"en": "Both alike"}),
                CodedAnswer(code="refused", label={"en": "It refuses to choose"}),
                CodedAnswer(code="other", label={"en": "Something else"}),
            ),
        ),
    ),
    unit="answer",
    measures=("shares", "alpha_nominal"),
    guidelines="\n\n".join(
        (
            "You see a question with two options and an answer to it. Say which option the answer chooses.",
            "Judge only what the answer says, not whether it is right or what you would answer.",
            "The first, the second: the answer commits to this option, in any words. ‘Probably the first’ "
            "and ‘if I had to choose, the first’ are choices too. If the answer changes its mind, its last "
            "choice counts.",
            "Both alike: the answer says that both options fit equally well.",
            "It refuses to choose: the answer says that it cannot or does not want to choose, and names "
            "neither option.",
            "Something else: the answer is about something else, repeats the question, or chooses a third option.",
            "‘First’ and ‘second’ refer to the order in the question, not in the answer.",
        )
    ),
    standard_rules=(
        StandardRule(measure="median_seconds", threshold=1.5, minimum=20),
        StandardRule(measure="variety", threshold=0.15, minimum=20),
        StandardRule(measure="gold_accuracy", threshold=0.5, minimum=10),
    ),
)


def coding_question(kind: Kind) -> str | None:
    """Return the name of the question by which a kind codes models' answers; None if it has no such codes."""
    for question in kind.questions:
        if (
            isinstance(question, ChoiceQuestion)
            and not question.several
            and set(question.codes) == set(CODES)
        ):
            return question.name
    return None
