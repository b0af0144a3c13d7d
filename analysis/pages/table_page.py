"""Long tables of results: found by a word, put in an order that the address names, some rows at a time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page, Paginator
from django.http import HttpRequest

Row = dict[str, Any]
ROWS_A_PAGE = 200


@dataclass(frozen=True)
class Order:
    """One way to order rows: in words, by which column; `largest`: the largest first. Nulls come last."""

    words: str
    column: str
    largest: bool = True


@dataclass(frozen=True)
class TablePage:
    """The rows shown, and what the form above them says."""

    rows: Page[Row]
    q: str
    order: str
    orders: Mapping[str, Order]
    total: int

    @property
    def match_count(self) -> int:
        """The number of rows that contain the search word."""
        return int(self.rows.paginator.count)

    @property
    def whole(self) -> bool:
        """Whether all rows are on one page: then they may be sorted there, too."""
        return self.rows.paginator.num_pages == 1


def table_page(
    request: HttpRequest,
    rows: Sequence[Row],
    orders: Mapping[str, Order],
    *,
    name: str,
    size: int = ROWS_A_PAGE,
) -> TablePage:
    """Rows whose `name` holds `q` of the address, in its `order`, else in the first of `orders`."""
    words = request.GET.get("q", "").strip()
    order = request.GET.get("order", "")
    order = order if order in orders else next(iter(orders))
    matching = [row for row in rows if words.lower() in str(row[name]).lower()]
    pages = Paginator(in_order(matching, orders[order], name), size)
    return TablePage(pages.get_page(request.GET.get("page")), words, order, orders, len(rows))


def in_order(rows: Sequence[Row], order: Order, name: str) -> list[Row]:
    """Rows by a column, those without a value last, equal ones by name."""
    by_name = sorted(rows, key=lambda row: str(row[name]))
    with_value = [row for row in by_name if row[order.column] is not None]
    # Python's sort leaves equal rows in their order, turned round or not.
    with_value.sort(key=lambda row: row[order.column], reverse=order.largest)
    return with_value + [row for row in by_name if row[order.column] is None]
