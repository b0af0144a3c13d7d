"""Why a task with known answers is refused."""

from collections.abc import Mapping

from foundation.errors import DomainError

MAX_EXPLANATION = 500


def refuse(wrong: Mapping[str, str]) -> None:
    """Raise DomainError `known_task_invalid` if there is a problem."""
    if wrong:
        raise DomainError("known_task_invalid", " ".join(dict.fromkeys(wrong.values())), fields=wrong)


def explanation_of(text: str, name: str, wrong: dict[str, str], *, scored: bool) -> str:
    """Return an explanation without superfluous spaces; `wrong` gets why it cannot be kept."""
    explanation = " ".join(text.split())
    if len(explanation) > MAX_EXPLANATION:
        wrong[f"explanations.{name}"] = f"Write at most {MAX_EXPLANATION} characters."
    if explanation and not scored:
        wrong[f"explanations.{name}"] = "Only an answer that is scored can have an explanation."
    return explanation
