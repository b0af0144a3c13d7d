"""Keyset pagination: pages are found by the key of the adjacent row, without counting rows.

The query names the row before the page (`after`) or after it (`before`), or requests the last page (`last`). The
thousandth page therefore costs as much as the first, and new rows do not shift pages.
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
    """The rows of a page, and the addresses of other pages, or ""."""

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
    """Return the requested page; `order` is `pk` or `-pk`. Invalid keys give the first page."""
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
    """Return the key in a query parameter, or None if it is missing or invalid."""
    text = query.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def beyond(columns: Sequence[str], values: Sequence[Any], *, backwards: bool) -> Q:
    """Return the condition for rows after the row with these values or, if `backwards`, before it."""
    condition, equal = Q(), Q()
    for column, value in zip(columns, values, strict=True):
        condition |= equal & Q(**{f"{column}__{'lt' if backwards else 'gt'}": value})
        equal &= Q(**{column: value})
    return condition


def page_between(query: QueryDict, rows: Sequence[M], *, earlier: bool, later: bool) -> KeyPage[M]:
    """Return a page of these rows; the addresses of other pages keep all other query parameters."""

    def address(**beside: Any) -> str:
        parameters = query.copy()
        for name in (*EDGES, LAST, "page"):
            parameters.pop(name, None)
        parameters.update({name: str(value) for name, value in beside.items()})
        return f"?{parameters.urlencode()}"

    if not rows:  # beyond either end: link back to the first page
        return KeyPage([], first=address(), previous=address()) if earlier or later else KeyPage([])
    return KeyPage(
        list(rows),
        first=address() if earlier else "",
        previous=address(before=rows[0].pk) if earlier else "",
        next=address(after=rows[-1].pk) if later else "",
        last=address(last=1) if later else "",
    )
