"""A small writer of SVG: elements with escaped text and attributes, positions rounded to a tenth."""

from html import escape
from typing import Any


class Svg:
    """Collects elements; `text()` returns the whole drawing."""

    def __init__(self, width: float, *, title: str) -> None:
        self.width = width
        self.height = 0.0
        self._title = title
        self._parts: list[str] = []

    def add(self, name: str, content: str | None = None, **attributes: Any) -> None:
        """Add an element with text `content`. `class_` is its class; `_` in other names becomes a hyphen."""
        written = "".join(
            f' {_name(key)}="{_value(value)}"' for key, value in attributes.items() if value is not None
        )
        self._parts.append(f"<{name}{written}>{escape(content or '')}</{name}>")

    def line(self, x1: float, y1: float, x2: float, y2: float, class_: str) -> None:
        self.add("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)

    def words(self, x: float, y: float, content: str, class_: str = "", anchor: str = "start") -> None:
        self.add(
            "text",
            content,
            x=x,
            y=y,
            class_=class_ or None,
            text_anchor=None if anchor == "start" else anchor,
        )

    def text(self) -> str:
        size = f"{_value(self.width)} {_value(self.height)}"
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" width="{_value(self.width)}" '
            f'height="{_value(self.height)}" role="img"><title>{escape(self._title)}</title>'
            f"{''.join(self._parts)}</svg>"
        )


def _name(key: str) -> str:
    return "class" if key == "class_" else key.replace("_", "-")


def _value(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.1f}".removesuffix(".0")
    return escape(str(value))


def shortened(text: str, most: int) -> str:
    """Return `text`, cut to at most `most` characters (at least one and an ellipsis)."""
    return text if len(text) <= most else text[: max(most - 1, 1)] + "…"
