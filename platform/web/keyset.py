"""Lists of any length, page by page: a page is reached by the key of the row beside it, never by counting rows.

The address names the row that a page follows (`after`) or ends before (`before`), or asks for the last page (`last`).
So the thousandth page costs what the first does, and rows that are added meanwhile shift nothing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest, QueryDict

M = TypeVar("M", bound=Model)
EDGES, LAST = ("after", "before"), "last"


@dataclass
class KeyPage(Generic[M]):
    """Rows of one page, and the addresses of those beside it; "" where there is none."""

    object_list: list[M]
    first: str = ""
    previous: str = ""
    next: str = ""
    last: str = ""

    def __iter__(self) -> Iterator[M]:
        return iter(self.object_list)

    def __len__(self) -> int:
        return len(self.object_list)

    @property
    def is_first(self) -> bool:
        return not self.previous

    @property
    def has_other_pages(self) -> bool:
        return bool(self.previous or self.next)


def key_page(request: HttpRequest, rows: QuerySet[M], *, size: int, order: str = "-pk") -> KeyPage[M]:
    """Return the page the address asks for; `order` is `pk` or `-pk`. What is no key asks for the first page."""
    after, before = (read_key(request.GET, name) for name in EDGES)
    rows = rows.order_by(order)
    newest_first = order == "-pk"
    if after is None and (before is not None or LAST in request.GET):
        nearer = rows.reverse()
        if before is not None:
            nearer = nearer.filter(beyond(("pk",), (before,), backwards=not newest_first))
        fetched = list(nearer[: size + 1])
        return page_between(
            request.GET, fetched[:size][::-1], earlier=len(fetched) > size, later=before is not None
        )
    if after is not None:
        rows = rows.filter(beyond(("pk",), (after,), backwards=newest_first))
    fetched = list(rows[: size + 1])
    return page_between(request.GET, fetched[:size], earlier=after is not None, later=len(fetched) > size)


def read_key(query: QueryDict, name: str) -> int | None:
    """Return the key that an address names, None where it is none."""
    text = query.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def beyond(columns: Sequence[str], values: Sequence[Any], *, backwards: bool) -> Q:
    """Return the condition on rows that come after the one with these values, or `backwards` before it."""
    condition, equal = Q(), Q()
    for column, value in zip(columns, values, strict=True):
        condition |= equal & Q(**{f"{column}__{'lt' if backwards else 'gt'}": value})
        equal &= Q(**{column: value})
    return condition


def page_between(query: QueryDict, rows: Sequence[M], *, earlier: bool, later: bool) -> KeyPage[M]:
    """Return a page of these rows; whatever else is in the address stays in those of the pages beside it."""

    def address(**beside: Any) -> str:
        parameters = query.copy()
        for name in (*EDGES, LAST, "page"):
            parameters.pop(name, None)
        parameters.update({name: str(value) for name, value in beside.items()})
        return f"?{parameters.urlencode()}"

    if not rows:  # beyond an end: the way back is to the beginning
        return KeyPage([], first=address(), previous=address()) if earlier or later else KeyPage([])
    return KeyPage(
        list(rows),
        first=address() if earlier else "",
        previous=address(before=rows[0].pk) if earlier else "",
        next=address(after=rows[-1].pk) if later else "",
        last=address(last=1) if later else "",
    )
