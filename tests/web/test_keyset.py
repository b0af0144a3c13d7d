"""Keyset pagination: every row once in either direction, and never an OFFSET."""

import pytest
from django.db import connection
from django.test import RequestFactory
from django.test.utils import CaptureQueriesContext

from catalog.models import Attribute
from web.keyset import key_page

pytestmark = pytest.mark.django_db


@pytest.fixture
def rows(db):
    return [one.pk for one in Attribute.objects.bulk_create(Attribute(text=f"kite {n}") for n in range(23))]


def page(address, *, order="pk"):
    return key_page(RequestFactory().get(f"/{address}"), Attribute.objects.all(), size=10, order=order)


def keys(found):
    return [one.pk for one in found]


@pytest.mark.parametrize("order", ["pk", "-pk"])
def test_forwards_and_backwards_every_row_comes_once(rows, order):
    ordered = rows if order == "pk" else rows[::-1]
    first = page("", order=order)
    second = page(first.next, order=order)
    third = page(second.next, order=order)
    assert keys(first) + keys(second) + keys(third) == ordered
    assert (first.previous, first.first, third.next, third.last) == ("", "", "", "")
    assert keys(page(third.previous, order=order)) == keys(second)
    assert keys(page(second.previous, order=order)) == keys(first)
    assert keys(page(second.first, order=order)) == keys(first)
    assert keys(page(first.last, order=order)) == ordered[-10:]


def test_other_query_parameters_are_kept(rows):
    assert page(f"?status=gold&page=7&after={rows[0]}").next == f"?status=gold&after={rows[10]}"


def test_rows_added_meanwhile_shift_nothing(rows):
    first = page("", order="-pk")
    Attribute.objects.create(text="a new kite")
    assert keys(page(first.next, order="-pk")) == rows[12:2:-1]


@pytest.mark.parametrize("address", ["?after=x", "?after=-1", "?before=", "?after=" + "9" * 30, "?page=3"])
def test_an_invalid_key_gives_the_first_page(rows, address):
    assert keys(page(address)) == rows[:10]


def test_beyond_the_end_leads_back(rows):
    beyond = page(f"?after={rows[-1]}")
    assert keys(beyond) == []
    assert keys(page(beyond.first)) == rows[:10]


def test_pages_use_neither_count_nor_offset(rows):
    with CaptureQueriesContext(connection) as captured:
        page(f"?after={rows[9]}")
    (statement,) = captured.captured_queries
    assert "OFFSET" not in statement["sql"]
    assert "COUNT" not in statement["sql"]
