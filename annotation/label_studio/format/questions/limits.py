"""The parts of a kind's declaration that Label Studio cannot ask."""

from annotation.kinds.declaration import Kind
from annotation.kinds.questions import Question

_MEDIA = frozenset({"image", "text"})
_SHAPES = frozenset({"box", "point"})
_TYPES = frozenset({"scale", "choice", "compare", "rank", "text", "span"})


def unsupported(kind: Kind) -> str:
    """Return why a kind cannot be sent to Label Studio, in one sentence; "" if it can."""
    if kind.about_attributes:
        return ""  # it has its own interface
    medium: str = kind.stimuli.medium
    if medium not in _MEDIA:
        return f"its screens show {medium}, and Stereoscope has no control for such screens in Label Studio."
    return next(filter(None, map(_missing, kind.questions)), "")


def _missing(question: Question) -> str:
    type_: str = question.type
    if type_ not in _TYPES:
        return (
            f"“{question.name}” is a question of type {type_}, for which Stereoscope has no control in "
            f"Label Studio."
        )
    if question.region is not None and question.region.shape not in _SHAPES:
        return (
            f"“{question.name}” asks for a place as a {question.region.shape}, "
            "for which Stereoscope has no control in Label Studio."
        )
    return ""
