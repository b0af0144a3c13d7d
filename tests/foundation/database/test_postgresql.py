"""Our PostgreSQL back-end: statements are planned once, and closed connections are noticed without a query."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from foundation.database.statements import changed, rows

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="about PostgreSQL"),
]


def test_a_statement_written_by_hand_is_planned_once_for_a_connection():
    for number in range(8):
        assert rows("SELECT %s::int * 2 AS planned_once", [number]) == [(2 * number,)]
    found = rows(
        "SELECT generic_plans + custom_plans FROM pg_prepared_statements WHERE statement LIKE %s",
        ["%planned_once"],
    )
    assert found == [(8,)]


def test_statements_written_by_hand_are_counted_as_others_are():
    with CaptureQueriesContext(connection) as statements:
        assert changed("UPDATE auth_group SET name = name", []) == 0
    assert [one["sql"] for one in statements] == ["UPDATE auth_group SET name = name"]


def test_a_live_connection_is_known_to_live_without_a_question():
    connection.ensure_connection()
    with CaptureQueriesContext(connection) as statements:
        assert connection.is_usable()
    assert not statements.captured_queries


def test_a_connection_that_the_server_ended_is_replaced_before_the_next_request():
    (pid,) = rows("SELECT pg_backend_pid()", [])[0]
    other = connection.copy()
    with other.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])
    other.close()
    assert not connection.is_usable()
    connection.health_check_enabled, connection.health_check_done = True, False
    assert rows("SELECT pg_backend_pid()", []) != [(pid,)]
