"""A simulated Label Studio front end: reads an interface (XML) and a task's data, and returns the results it sends.

As in Label Studio's front end, a View that is not visible cannot be used, and earlier answers in it are not
sent; an answer comes back by its alias; spans of a text are counted in UTF-16 code units, as in browsers.
"""

import copy
import re
from typing import Any
from xml.etree import ElementTree

_ASKS = {"Choices", "TextArea", "Labels", "RectangleLabels", "KeyPointLabels"}


class Screen:
    """One task, open in a browser."""

    def __init__(self, xml: str, data: dict[str, Any]) -> None:
        self.root = ElementTree.fromstring(xml)
        self.data = data
        _repeat(self.root, data)
        self._parents = {child: parent for parent in self.root.iter() for child in parent}
        self._controls = {tag.get("name"): tag for tag in self.root.iter() if tag.tag in _ASKS}
        objects = {tag.get("name") for tag in self.root.iter() if tag.tag in ("Image", "Text")}
        assert {tag.get("toName") for tag in self._controls.values()} <= objects, "asked of nothing"
        self._said: dict[str, list[dict[str, Any]]] = {}

    def shown(self, picture: int | None = None) -> str:
        """Return the address or the text at a position, from 1."""
        names = {tag.get("name"): tag for tag in self.root.iter() if tag.tag in ("Image", "Text")}
        tag = names["text" if picture is None else f"s{picture - 1}"]
        return _value(tag.get("value", ""), self.data)

    def choose(self, question: str, *answers: str, picture: int | None = None) -> None:
        """Click answers to a question, by their labels."""
        tag = self._asked(question, "Choices", picture)
        aliases = {choice.get("value"): choice.get("alias") for choice in tag.iter("Choice")}
        self._say(tag, "choices", {"choices": [aliases[answer] for answer in answers]})

    def write(self, question: str, text: str, picture: int | None = None) -> None:
        self._say(self._asked(question, "TextArea", picture), "textarea", {"text": [text]})

    def mark(self, question: str, *words: int) -> None:
        """Mark words of the text, by their positions from 0."""
        tag = self._asked(question, "Labels")
        text = self.shown(None if tag.get("toName") == "text" else 1)
        stretches = list(re.finditer(r"\S+", text))
        self._said.pop(tag.get("name"), None)
        for place in words:
            begin, end = stretches[place].span()
            value = {
                "start": _halves(text[:begin]),
                "end": _halves(text[:end]),
                "text": text[begin:end],
                "labels": [tag.find("Label").get("value")],
            }
            self._say(tag, "labels", value, more=True)

    def draw(self, question: str, *sides: float, picture: int | None = None) -> None:
        """Draw a box (four fractions) or put a point (two)."""
        tag = self._asked(question, "RectangleLabels" if len(sides) == 4 else "KeyPointLabels", picture)
        kind = tag.tag.lower()
        names = ("x", "y", "width", "height")
        value: dict[str, Any] = {name: 100 * side for name, side in zip(names, sides, strict=False)}
        value |= {"rotation": 0} if len(sides) == 4 else {"width": 0.4}
        value[kind] = [tag.find("Label").get("value")]
        sizes = {"original_width": 512, "original_height": 512, "image_rotation": 0}
        self._say(tag, kind, value, more=True, **sizes)

    def results(self) -> list[dict[str, Any]]:
        """Return the results to send."""
        return [
            copy.deepcopy(result)
            for name, results in self._said.items()
            if self._visible(self._controls[name])
            for result in results
        ]

    def missing(self) -> list[str]:
        """Return the required controls that are not answered."""
        return [
            name
            for name, tag in self._controls.items()
            if tag.get("required") == "true" and self._visible(tag) and not self._said.get(name)
        ]

    def _say(
        self, tag: ElementTree.Element, kind: str, value: dict[str, Any], *, more: bool = False, **others: Any
    ) -> None:
        name = tag.get("name")
        assert self._visible(tag), f"{name} is hidden"
        results = self._said.setdefault(name, [])
        if not more:
            results.clear()
        result = {"id": f"{name}-{len(results)}", "from_name": name, "to_name": tag.get("toName")}
        results.append(result | {"type": kind, "value": value, "origin": "manual"} | others)

    def _asked(self, question: str, kind: str, picture: int | None = None) -> ElementTree.Element:
        """Return the control of this kind under the header with this question."""
        for view in self._within(picture).iter("View"):
            children = list(view)
            if children and children[0].tag == "Header" and children[0].get("value") == question:
                return next(tag for tag in view.iter() if tag.tag == kind)
        raise AssertionError(f"“{question}” is not asked of {picture or 'the screen'}")

    def _within(self, picture: int | None) -> ElementTree.Element:
        if picture is None:
            return self.root
        title = re.compile(f"(Picture|Text) {picture}")
        for view in self.root.iter("View"):
            header = next(iter(view), view)
            if header.tag == "Header" and title.fullmatch(_value(header.get("value", ""), self.data)):
                return view
        raise AssertionError(f"there is no picture {picture}")

    def _visible(self, tag: ElementTree.Element) -> bool:
        while (tag := self._parents.get(tag)) is not None:
            if tag.get("visibleWhen") == "choice-selected" and not self._selected(tag):
                return False
        return True

    def _selected(self, view: ElementTree.Element) -> bool:
        name = view.get("whenTagName")
        if not self._visible(self._controls[name]):
            return False
        chosen = {alias for result in self._said.get(name, []) for alias in result["value"]["choices"]}
        wanted = view.get("whenChoiceValue")
        return bool(chosen if wanted is None else chosen & set(wanted.split(",")))


def _repeat(root: ElementTree.Element, data: dict[str, Any]) -> None:
    for parent in list(root.iter()):
        for place, child in enumerate(list(parent)):
            if child.tag != "Repeater":
                continue
            view = ElementTree.Element("View", {"className": child.get("className", "")})
            for index, _ in enumerate(data[child.get("on", "")[1:]]):
                for one in copy.deepcopy(list(child)):
                    for tag in one.iter():
                        for name, value in tag.attrib.items():
                            tag.set(name, value.replace(child.get("indexFlag", ""), str(index)))
                    view.append(one)
            parent[place] = view


def _value(text: str, data: dict[str, Any]) -> str:
    """Return a value as Label Studio reads it: `$name` stands for a field of the task's data."""

    def field(match: re.Match[str]) -> str:
        found: Any = data
        for step in re.findall(r"\w+", match.group()[1:]):
            found = found[int(step)] if isinstance(found, list) else found.get(step, "")
        return str(found)

    return re.sub(r"\$[\w\[\].]+", field, text)


def _halves(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2
