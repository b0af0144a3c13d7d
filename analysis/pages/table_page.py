"""Long tables of results, with search, order and pages in the address."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page, Paginator
from django.http import HttpRequest

Row = dict[str, Any]
ROWS_A_PAGE = 200


@dataclass(frozen=True)
class Order:
    """An order of rows by a column, with its name in words; `largest`: largest first. Nulls come last."""

    words: str
    column: str
    largest: bool = True


@dataclass(frozen=True)
class TablePage:
    """The rows of one page, and the state of the form above them."""

    rows: Page[Row]
    q: str
    order: str
    orders: Mapping[str, Order]
    total: int

    @property
    def match_count(self) -> int:
        """The number of rows that match the search."""
        return int(self.rows.paginator.count)

    @property
    def whole(self) -> bool:
        """Whether all rows are on one page, so that they can be sorted there too."""
        return self.rows.paginator.num_pages == 1


def table_page(
    request: HttpRequest,
    rows: Sequence[Row],
    orders: Mapping[str, Order],
    *,
    name: str,
    size: int = ROWS_A_PAGE,
) -> TablePage:
    """Return a page of the rows whose `name` contains `q`, in the order `order`, or the first of `orders`."""
    words = request.GET.get("q", "").strip()
    order = request.GET.get("order", "")
    order = order if order in orders else next(iter(orders))
    matching = [row for row in rows if words.lower() in str(row[name]).lower()]
    pages = Paginator(in_order(matching, orders[order], name), size)
    return TablePage(pages.get_page(request.GET.get("page")), words, order, orders, len(rows))


def in_order(rows: Sequence[Row], order: Order, name: str) -> list[Row]:
    """Return rows sorted by a column, then by name; rows without a value come last."""
    by_name = sorted(rows, key=lambda row: str(row[name]))
    with_value = [row for row in by_name if row[order.column] is not None]
    # Python's sort is stable, also in reverse.
    with_value.sort(key=lambda row: row[order.column], reverse=order.largest)
    return with_value + [row for row in by_name if row[order.column] is None]
