"""Background writing keeps the order, and loses no errors."""

import threading

import pytest

from analysis.releases.formats.background_writer import BackgroundWriter

pytestmark = pytest.mark.database_free


def test_work_is_done_in_order_in_one_other_thread():
    done, threads = [], set()

    def note(number):
        done.append(number)
        threads.add(threading.get_ident())

    with BackgroundWriter() as behind:
        for number in range(50):
            behind.submit(lambda number=number: note(number))
    assert done == list(range(50))
    assert len(threads) == 1
    assert threading.get_ident() not in threads


def test_errors_are_raised_at_the_end_at_the_latest():
    def fail():
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"), BackgroundWriter() as behind:
        behind.submit(fail)


def test_nothing_is_written_after_a_failure():
    done = []
    gate = threading.Event()

    def run():
        with BackgroundWriter() as behind:
            behind.submit(gate.wait)
            behind.submit(lambda: done.append(1))
            gate.set()
            raise ValueError("the reader failed")

    with pytest.raises(ValueError, match="the reader"):
        run()
    assert len(done) <= 1
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("writing a release")]
