"""All tasks are read, a few pages at a time; a server that ignores the request is detected."""

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.label_studio.client import pagination
from annotation.label_studio.client.errors import Trouble
from annotation.label_studio.client.rest import Client
from tests.annotation.label_studio.client.stub_servers import says, serving

pytestmark = pytest.mark.database_free


def shelf(numbers, *, size, asked=None):
    """Answer like a server that has tasks with these numbers."""

    def ask(span):
        if asked is not None:
            asked.append(span)
        held = [{"id": number} for number in sorted(numbers) if span.holds(number)]
        return held[:size], len(held)

    return ask


NUMBERS = st.sets(st.integers(1, 60), max_size=30)


@given(held=NUMBERS, wanted=NUMBERS, size=st.integers(1, 7))
def test_existing_wanted_tasks_are_read_once_and_in_order(held, wanted, size):
    ask = shelf(held, size=size)
    every = [task["id"] for page in pagination.pages(ask, pagination.Span(1)) for task in page]
    assert every == sorted(held)
    read = list(pagination.pages_of(ask, wanted, size=size))
    found = [task["id"] for page in read for task in page]
    assert found == sorted(set(found))
    assert wanted & held <= set(found) <= held
    assert all(len(page) <= size for page in read)


def test_only_a_few_pages_are_requested_ahead():
    asked: list[pagination.Span] = []
    pages = pagination.pages_of(shelf(range(1, 101), size=10, asked=asked), range(1, 101), size=10)
    next(pages)
    assert len(asked) <= 3
    pages.close()
    assert len(asked) <= 3
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("label-studio")]


def test_errors_reach_the_reader():
    def ask(span):
        if span.start > 20:
            raise Trouble("timeout", "It did not answer.")
        return shelf(range(1, 101), size=10)(span)

    pages = pagination.pages_of(ask, range(1, 101), size=10)
    assert [page[0]["id"] for page in (next(pages), next(pages))] == [1, 11]
    with pytest.raises(Trouble):
        next(pages)


@given(held=NUMBERS, bad=NUMBERS, size=st.integers(1, 7))
def test_only_tasks_at_which_the_server_fails_are_skipped(held, bad, size):
    def ask(span):
        page, total = shelf(held, size=size)(span)
        if any(task["id"] in bad for task in page):
            raise Trouble("server_error", "It failed.")
        return page, total

    told = []
    pages = list(pagination.pages_of(ask, held, size=size, failing=lambda number, _: told.append(number)))
    assert [task["id"] for page in pages for task in page] == sorted(held - bad)
    assert told == sorted(held & bad)


@pytest.mark.parametrize(
    "said",
    [
        {"tasks": [{"id": 5, "annotations": []}], "total": 2},  # the same page again and again
        {"tasks": [{"id": 2, "annotations": []}, {"id": 1, "annotations": []}], "total": 2},
        {"tasks": [{"id": 1, "annotations": []}, {"id": 1, "annotations": []}], "total": 2},
        {"tasks": [], "total": 50},  # held back: they are not missing
        {"tasks": [{"id": 1, "annotations": []}], "total": None},
        {"tasks": [{"id": True, "annotations": []}], "total": 1},
        {"tasks": [{"id": 1}], "total": 1},
        {"tasks": [{"id": 1, "annotations": [{"id": 7}]}], "total": 1},  # its response was left out
    ],
)
def test_a_server_that_ignores_the_request_is_detected(settings, said):
    settings.LABEL_STUDIO_ALLOWED_HOSTS = ["127.0.0.1"]
    with (
        serving(says(said)) as served,
        Client(served.url, "a" * 40) as client,
        pytest.raises(Trouble) as told,
    ):
        list(client.tasks_with_annotations(1))
    assert told.value.code == "garbage"
