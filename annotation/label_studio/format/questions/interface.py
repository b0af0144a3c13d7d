"""Label Studio's labelling interface (XML) for the questions that a kind declares.

Questions about each stimulus are beside it; all other questions are below or, if there is one stimulus, also beside it.
A question that depends on an answer is in a separate View that is visible after this answer: Label Studio sends no
hidden answers.
"""

from collections.abc import Iterable, Iterator
from xml.sax.saxutils import quoteattr

from annotation.kinds.declaration import Kind
from annotation.kinds.questions import (
    AskedAfter,
    ChoiceQuestion,
    CompareQuestion,
    Question,
    RankQuestion,
    Region,
    SpanQuestion,
    TextQuestion,
)
from annotation.label_studio.format.questions.controls import (
    ALL,
    INDEX,
    LANGUAGE,
    TEXT,
    about_each,
    asked_of,
    control_name,
    has_heading,
    label_of,
    marked_text,
    noun_of,
    offered,
    repeats,
    shown_name,
    words_of,
)
from annotation.label_studio.format.questions.data import SHOWN

_STYLE = """
    .screen {display: flex; gap: 16px; align-items: flex-start}
    .beside {flex: 1 1 auto; min-width: 0}
    .answers {flex: 0 0 320px; order: 2}
    .stimuli {display: grid; grid-template-columns: repeat(auto-fit, minmax(260px, 1fr)); gap: 16px}
    .question {margin: 12px 0}
    .words {font-size: 18px; line-height: 1.6}
  """
# A single picture is at most as high as the window; several are as wide as their columns.
_FITS = ' defaultZoom="fit" height="calc(100vh - 150px)"'
_Index = int | str | None
_Lines = Iterator[str]


def questions_interface(kind: Kind) -> str:
    """Return the XML with which a project of Label Studio shows a kind's screens and their questions."""
    lines = _one(kind) if kind.stimuli.most == 1 else _several(kind)
    return "\n".join(["<View>", f"  <Style>{_STYLE}</Style>", *_indented(lines), "</View>", ""])


def _one(kind: Kind) -> _Lines:
    inner = [*_view("answers", _questions(kind, kind.questions, None))]
    inner += _view("beside", [*_prompt(kind), *_stimulus(kind, 0, _FITS)])
    yield from _view("screen", inner)


def _several(kind: Kind) -> _Lines:
    yield from _prompt(kind)
    if repeats(kind.stimuli):
        yield f'<Repeater on="${SHOWN}" indexFlag="{INDEX}" className="stimuli">'
        yield from _indented(_figure(kind, INDEX, f"${SHOWN}[{INDEX}].name"))
        yield "</Repeater>"
    else:
        noun = noun_of(kind.stimuli)
        yield from _view(
            "stimuli",
            (
                line
                for index in range(kind.stimuli.most)
                for line in _figure(kind, index, f"{noun} {index + 1}")
            ),
        )
    if has_heading(kind):
        yield from _view("words", [_text(kind, ALL, f"${ALL}")])
    of_screen = [question for question in kind.questions if not about_each(question)]
    yield from _questions(kind, of_screen, None)


def _figure(kind: Kind, index: int | str, name: str) -> _Lines:
    """Yield one of several stimuli with its questions."""
    asked = [question for question in kind.questions if about_each(question)]
    yield from _view(
        "stimulus",
        [
            f'<Header value="{name}" size="4"/>',
            *_stimulus(kind, index),
            *_questions(kind, asked, index),
        ],
    )


def _prompt(kind: Kind) -> _Lines:
    if kind.stimuli.prompt_shown:
        yield from _view("words", [_text(kind, TEXT, f"${TEXT}")])


def _stimulus(kind: Kind, index: int | str, size: str = "") -> _Lines:
    name = shown_name(index)
    if kind.stimuli.medium == "text":
        field = f"${SHOWN}[{index}].text" if repeats(kind.stimuli) else f"${name}"
        yield from _view("words", [_text(kind, name, field)])
        return
    field = f"${SHOWN}[{index}].image" if repeats(kind.stimuli) else f"${name}"
    yield (
        f'<Image name="{name}" value="{field}" zoom="true" zoomControl="true" rotateControl="false"{size}/>'
    )


def _text(kind: Kind, name: str, field: str) -> str:
    marked = kind.asks("span") and name == marked_text(kind)
    how = 'granularity="word"' if marked else 'selectionEnabled="false"'
    return f'<Text name="{name}" value="{field}" {how}/>'


def _questions(kind: Kind, questions: Iterable[Question], index: _Index) -> _Lines:
    for question in questions:
        yield from _view("question", _asked(kind, question, index), _visible(kind, question.when, index))


def _asked(kind: Kind, question: Question, index: _Index) -> _Lines:
    yield f'<Header value={quoteattr(label_of(question))} size="5"/>'
    name = control_name(kind, question, index)
    shows = asked_of(kind, question, index)
    match question:
        case TextQuestion():
            yield (
                f'<TextArea name="{name}" toName="{shows}" rows="3" maxSubmissions="1" editable="true"'
                f"{_required(question, 'Write an answer.')}/>"
            )
        case SpanQuestion():
            yield from _span(kind, question, name, shows)
        case _:
            yield from _choices(kind, question, name, shows)
    if question.region is not None:
        where = control_name(kind, question, index, "where")
        yield from _where(kind, question, question.region, name, where, shows)


def _choices(kind: Kind, question: Question, name: str, shows: str) -> _Lines:
    several = isinstance(question, ChoiceQuestion) and question.several
    inline = ' showInline="true"' if isinstance(question, CompareQuestion | RankQuestion) else ""
    # An optional answer can be unchosen, which a radio button cannot.
    choice = "multiple" if several else "single-radio" if question.required else "single"
    yield (
        f'<Choices name="{name}" toName="{shows}" choice="{choice}"{inline}'
        f"{_required(question, 'Choose an answer.')}>"
    )
    for answer in offered(kind, question):
        yield f'  <Choice value={quoteattr(answer.words)} alias="{answer.alias}"/>'
    yield "</Choices>"


def _span(kind: Kind, question: SpanQuestion, name: str, shows: str) -> _Lines:
    yield f'<Labels name="{name}" toName="{shows}">'
    yield f"  <Label value={quoteattr(label_of(question))}/>"
    yield "</Labels>"
    if question.none is not None:
        none = control_name(kind, question, None, "none")
        yield f'<Choices name="{none}" toName="{shows}" choice="multiple">'
        # Label Studio refuses a single Choice unless it is in a View.
        yield f'  <View><Choice value={quoteattr(words_of(question.none[LANGUAGE]))} alias="{none}"/></View>'
        yield "</Choices>"


def _where(kind: Kind, question: Question, region: Region, name: str, where: str, shows: str) -> _Lines:
    tag, more, how = (
        ("RectangleLabels", ' canRotate="false"', "Draw a box around what shows it:")
        if region.shape == "box"
        else ("KeyPointLabels", "", "Mark the place with a point:")
    )
    condition = ""
    if region.after:
        condition = _after(kind, question, name, region.after)
    elif offered(kind, question):
        condition = f' visibleWhen="choice-selected" whenTagName="{name}"'
    inner = [
        f'<Header value="{how}" size="6"/>',
        f'<{tag} name="{where}" toName="{shows}" strokeWidth="3" opacity="0.1"{more}>',
        f"  <Label value={quoteattr(label_of(question))}/>",
        f"</{tag}>",
    ]
    yield from _view("where", inner, condition)


def _visible(kind: Kind, when: AskedAfter | None, index: _Index) -> str:
    if when is None:
        return ""
    earlier = kind.question(when.question)
    name = control_name(kind, earlier, index if earlier.each else None)
    return _after(kind, earlier, name, when.answers)


def _after(kind: Kind, question: Question, name: str, answers: tuple[int | str, ...]) -> str:
    aliases = ",".join(answer.alias for answer in offered(kind, question) if answer.code in answers)
    return f' visibleWhen="choice-selected" whenTagName="{name}" whenChoiceValue="{aliases}"'


def _required(question: Question, message: str) -> str:
    return f' required="true" requiredMessage="{message}"' if question.required else ""


def _view(name: str, lines: Iterable[str], condition: str = "") -> _Lines:
    yield f'<View className="{name}"{condition}>'
    yield from _indented(lines)
    yield "</View>"


def _indented(lines: Iterable[str]) -> _Lines:
    return (f"  {line}" for line in lines)
