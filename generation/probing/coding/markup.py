"""What surrounds an answer: reasoning, fences, Markdown, tags, JSON. Every search here is linear in the text."""

import json
import re
from typing import Any

_REASONING = ("think", "thinking", "reasoning", "thought", "scratchpad")
_ANSWER_FIELDS = (
    *(
        "final_answer",
        "finalanswer",
        "answer",
        "choice",
        "chosen",
        "selected_option",
        "selected",
        "selection",
    ),
    *("option", "label", "response", "prediction", "classification", "category", "result", "output", "value"),
)
# With such an answer field, the other fields may contain the answer.
_BLANK: tuple[Any, ...] = (None, "", [], {})
_CUT_FIELD = re.compile(
    r"""["'](?:final[_ ]?answer|answer|choice|selection|label|response)["']\s{0,20}:\s{0,20}"""
    r"""["']([^"'\n{}]{1,300})["']""",
    re.IGNORECASE,
)
_FINAL_TAG = re.compile(r"<(?:answer|final_answer|final)>|\\boxed\{|\\text\{", re.IGNORECASE)
_TAG = re.compile(r"</?[a-zA-Z][^<>\n]{0,80}>|<\|[^<>|]{1,40}\|>|\[/?INST\]")
_FENCE = re.compile(r"^[ \t]{0,8}(?:```|~~~)[^\n]{0,40}$", re.MULTILINE)
_STRUCK = re.compile(r"~~[^~\n]{1,300}~~")
_LINK = re.compile(r"\[([^\[\]\n]{1,300})\]\([^()\n]{0,300}\)")
_TICKED = re.compile(r"\[[xX]\]|[☑✅✔✓]")
_UNTICKED = re.compile(r"\[ ?\]|[☐❌✗✘]")
_LINE_MARK = re.compile(r"^[ \t>#]{0,20}(?:[-+*•]|\d{1,2}[.)]|\(?[a-dA-D][.)])[ \t]{1,8}(?=\S)", re.MULTILINE)
_LINE_HEAD = re.compile(r"^[ \t]{0,8}[>#]{1,6}[ \t]?", re.MULTILINE)
_SPEAKER = re.compile(r"^[ \t]{0,8}(?:assistant|ai|model|bot)[ \t]?:", re.IGNORECASE | re.MULTILINE)
_EMPHASIS = re.compile(r"[*`$]|\\[()\[\]]|(?<![^\W_])_|_(?![^\W_])")


def without_reasoning(text: str) -> str:
    """Return what follows the model's reasoning. If reasoning was cut off before its end, nothing is left."""
    lowered = text.lower()
    if "<" not in text or len(lowered) != len(text):  # lower() may lengthen a text, so that places differ
        return text
    for name in _REASONING:
        opening, closing = f"<{name}>", f"</{name}>"
        end = lowered.rfind(closing)
        if end >= 0:
            text = text[end + len(closing) :]
            lowered = lowered[end + len(closing) :]
        start = lowered.find(opening)
        if start >= 0:
            text, lowered = text[:start], lowered[:start]
    return text


def answer_field(text: str) -> str:
    """Return the answer field of an answer in JSON, otherwise the unchanged text."""
    if "{" not in text and not text.lstrip("` \n").startswith(("[", '"', "json")):
        return text
    bare = _FENCE.sub("", text).strip()
    for candidate in (bare, bare[bare.find("{") : bare.rfind("}") + 1]):
        if candidate[:1] in {"{", "[", '"'}:
            try:
                return _field(json.loads(candidate), 0)
            except (ValueError, RecursionError):
                continue
    cut = _CUT_FIELD.search(text)
    return cut.group(1) if cut else text


def _field(value: Any, depth: int) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return str(value)[:40]
    if value is None or depth > 5:
        return ""
    if isinstance(value, list):
        return "; ".join(_field(part, depth + 1) for part in value[:50])
    value = {name: part for name, part in value.items() if part not in _BLANK}
    fields = {str(name).lower().strip().replace(" ", "_"): part for name, part in value.items()}
    for name in _ANSWER_FIELDS:
        if name in fields:
            return _field(fields[name], depth + 1)
    if len(fields) == 1:
        ((name, part),) = fields.items()
        if isinstance(part, str | dict | list):
            return _field(part, depth + 1)
    return "; ".join(f"{name}: {_field(part, depth + 1)}" for name, part in list(value.items())[:50])


def without_markup(text: str) -> str:
    """Return the text without fences, Markdown and tags; ticked boxes become words, struck words are removed."""
    text = _FENCE.sub("\n", text)
    if "~" in text:
        text = _STRUCK.sub(" ", text)
    if "<" in text or "\\" in text or "[" in text:
        text = _LINK.sub(r"\1", _FINAL_TAG.sub("\nfinal answer: ", text))
        text = _TAG.sub("\n", text).replace("}", " ")
    text = _UNTICKED.sub(" not ", _TICKED.sub(" answer: ", text))
    text = _SPEAKER.sub("", _LINE_HEAD.sub("", _LINE_MARK.sub("", text)))
    return _EMPHASIS.sub(" ", text).replace("_", " ")
