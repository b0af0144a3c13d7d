"""`serve`: web server and worker in one process, which one signal stops."""

import re
import signal
import socket
import sys
import time
import urllib.error
import urllib.request
from contextlib import suppress

import psutil
import pytest

from operations.server import Address
from tests.foundation.database.own_database import own_server, platform_on

pytestmark = pytest.mark.database_free
PATIENCE_SECONDS = 120


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def wait_until(condition):
    end = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.1)


def child(process, command):
    """Return the child process that runs a command, if there is one."""
    for candidate in psutil.Process(process.pid).children():
        with suppress(psutil.Error):  # it has just ended
            if command in candidate.cmdline():
                return candidate
    return None


def welcome(process):
    """Return the output until the server is ready."""
    said = ""
    while "There is no administrator" not in said:
        line = process.stdout.readline()
        assert line, said
        said += line
    return said


def answers(port):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=30) as answer:
            return answer.status == 200
    except (urllib.error.URLError, OSError):
        return False


def length_without_body(port):
    """Return the length that a response to HEAD states."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}/healthz", method="HEAD")
    with urllib.request.urlopen(request, timeout=30) as answer:
        return int(answer.headers["Content-Length"])


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with own_server(tmp_path_factory.mktemp("serve")) as server:
        yield server


@pytest.mark.slow
@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_one_signal_ends_web_server_and_worker(server, signum):
    port = free_port()
    with server.start("serve", PORT=str(port)) as process:
        said = welcome(process)
        assert answers(port)
        assert length_without_body(port) == len("ok\n")
        wait_until(lambda: child(process, "worker"))
        # gunicorn with its two workers, and our worker
        wait_until(lambda: len(psutil.Process(process.pid).children(recursive=True)) >= 4)
        started = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signum)
        ended, _ = process.communicate(timeout=PATIENCE_SECONDS)
        assert process.returncode == 0, ended
        assert "no-body response" not in ended  # gunicorn's warning about the body of a response to HEAD
    assert f"Stereoscope is at http://127.0.0.1:{port}." in said
    assert "run “python manage.py createsuperuser”" in said
    assert not any(each.is_running() for each in started)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process that its parent is gone")
def test_nothing_goes_on_when_it_is_killed(server):
    with server.start("serve", PORT=str(free_port())) as process:
        welcome(process)
        wait_until(lambda: child(process, "worker"))
        started = psutil.Process(process.pid).children(recursive=True)
        process.kill()
        psutil.wait_procs(started, timeout=PATIENCE_SECONDS)
        assert not any(each.is_running() for each in started)


@pytest.mark.slow
def test_a_worker_that_dies_is_replaced_and_without_a_web_server_it_ends(server):
    port = free_port()
    with server.start("serve", "--port", str(port)) as process:
        welcome(process)
        wait_until(lambda: child(process, "worker"))
        first = child(process, "worker")
        first.kill()
        wait_until(lambda: (now := child(process, "worker")) and now.pid != first.pid)
        wait_until(lambda: answers(port))
        second = child(process, "worker")
        child(process, "gunicorn").kill()
        said, _ = process.communicate(timeout=PATIENCE_SECONDS)
        assert process.returncode == 1
        assert not second.is_running()
    assert re.findall("The (?:worker|web server) ended with status -9", said) == [
        *("The worker ended with status -9", "The web server ended with status -9")
    ]


@pytest.mark.slow
def test_a_worker_that_cannot_work_is_given_up(server, tmp_path):
    # Celery's worker cannot start with an unknown type of broker, but the web server can.
    port = free_port()
    done = server.run("serve", check=False, PORT=str(port), CELERY_BROKER_URL="nothing://127.0.0.1:1/")
    assert done.returncode == 1
    assert done.stderr.count("A new worker starts.") == 4
    assert "The worker ended 5 times in a row" in done.stderr
    assert not answers(port)


def test_a_database_without_tables_is_refused_in_one_sentence(tmp_path):
    done = platform_on(f"sqlite:///{tmp_path / 'empty.sqlite3'}", tmp_path).run("serve", check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert re.fullmatch(
        r"The database lacks \d+ migrations; run “python manage.py migrate” first.\n", done.stderr
    )


@pytest.mark.parametrize(
    ("arguments", "env", "says"),
    [
        (["--port", "70000"], {}, "--port 70000 is not a port"),
        ([], {"PORT": "web"}, "PORT=web is not a port"),
    ],
)
def test_a_port_that_is_none_is_wrong_usage(server, arguments, env, says):
    done = server.run("serve", *arguments, check=False, **env)
    assert done.returncode == 2
    assert says in done.stderr


def test_a_taken_port_is_named_with_another_to_try(server):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = server.run("serve", "--port", str(port), check=False)
    assert done.returncode == 1
    assert re.search(rf"Port {port} of 127\.0\.0\.1 cannot be used .*PORT={port + 1}", done.stderr)


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:80"),
        ("0.0.0.0", "http://127.0.0.1:80"),
        ("::1", "http://[::1]:80"),
        ("10.0.0.7", "http://10.0.0.7:80"),
    ],
)
def test_the_address_that_is_printed_can_be_opened_on_this_machine(host, url):
    assert Address(host=host, port=80).url == url
