"""The shipped nginx configuration before our server: slow connections block nobody, large bodies are refused early."""

import http.client
import os
import shutil
import socket
import string
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from tests.foundation.database.own_database import ROOT, own_server
from tests.services.annotators import wait_until, web_server

pytestmark = [pytest.mark.services]

NGINX = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
SLOW = 60  # connections; the server has 8 threads
PICTURE = """
import io
from PIL import Image as Picture
from generation.images.signed_urls import image_url
from generation.images.storage import store_image
from studies.models import StudyGroup
study = Study.objects.create(name="Isles", slug="isles", seed=1)
group = StudyGroup.objects.create(study=study, name="Velmari", display_name="Velmari")
file = io.BytesIO()
Picture.new("RGB", (40, 30), "red").save(file, "PNG")
answer = image_url(store_image(study=study, data=file.getvalue(), group=group, model_label="m").image, viewer="user:1")
"""


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def proxy_to(port: int, *, tls: str = "") -> Iterator[int]:
    """Run nginx with docker/nginx.conf.template before a port; yield its port. `tls`: as in compose.tls.yaml."""
    if NGINX is None:
        pytest.skip("nginx is not installed (apt-get install nginx-light)")
    # When started by root, it runs as another user, who cannot enter a test's own folder.
    folder = Path(tempfile.mkdtemp(prefix="stereoscope-proxy-"))
    folder.chmod(0o755)
    listen = free_port()
    template = string.Template((ROOT / "docker" / "nginx.conf.template").read_text(encoding="utf-8"))
    configuration = folder / "nginx.conf"
    configuration.write_text(
        template.safe_substitute(
            LISTEN=f"127.0.0.1:{listen}",
            UPSTREAM=f"127.0.0.1:{port}",
            SCHEME_SEEN="$scheme" if tls else "http",
            MAX_UPLOAD="50m",
            RUN=str(folder),
        ),
        encoding="utf-8",
    )
    if tls:
        (folder / "tls").mkdir()
        (folder / "tls" / "tls.conf").write_text(tls, encoding="utf-8")
    process = subprocess.Popen([NGINX, "-c", configuration, "-g", "daemon off;"])
    try:
        wait_until(lambda: status(listen, "/healthz") in {200, 301} or process.poll() is not None)
        assert process.poll() is None, "nginx did not start"
        yield listen
    finally:
        process.terminate()
        process.wait(timeout=20)
        shutil.rmtree(folder)


@pytest.fixture(scope="module")
def served(tmp_path_factory) -> Iterator[tuple[int, int, str]]:
    """Return the ports of the server and of the proxy before it, and the address of a picture."""
    folder = tmp_path_factory.mktemp("proxy")
    with ExitStack() as stack:
        server = stack.enter_context(own_server(folder, TRUSTED_PROXIES="127.0.0.0/8"))
        picture = server.ask(PICTURE)
        web = stack.enter_context(web_server(server, folder))
        yield web.port, stack.enter_context(proxy_to(web.port)), picture


def answer(port: int, method: str, path: str, *, body: bytes = b"", seconds: float = 20, **headers: str):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)
    try:
        connection.request(
            method, path, body or None, {name.replace("_", "-"): v for name, v in headers.items()}
        )
        response = connection.getresponse()
        return response.status, response.read(), dict(response.getheaders())
    finally:
        connection.close()


def status(port: int, path: str, *, seconds: float = 20) -> int:
    try:
        return answer(port, "GET", path, seconds=seconds)[0]
    except (OSError, http.client.HTTPException):
        return 0


@contextmanager
def slow_connections(port: int, beginning: bytes) -> Iterator[list[socket.socket]]:
    """Open connections that send the beginning of a request and nothing more."""
    with ExitStack() as stack:
        opened = []
        for _ in range(SLOW):
            connection = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=20))
            connection.sendall(beginning)
            opened.append(connection)
        yield opened


HEADER = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "
BODY = (
    b"POST /account/sign-in/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n"
    b"Content-Type: application/x-www-form-urlencoded\r\n\r\nusername="
)


def test_slow_headers_stop_the_server_itself(served):
    """The reason for the proxy: if this fails, the server now waits for headers without blocking."""
    server, _, _ = served
    with slow_connections(server, HEADER):
        assert status(server, "/healthz", seconds=2) == 0
    wait_until(lambda: status(server, "/healthz") == 200)


@pytest.mark.parametrize("beginning", [HEADER, BODY], ids=["header", "body"])
def test_slow_connections_stop_nobody_behind_the_proxy(served, beginning):
    _, proxy, _ = served
    with slow_connections(proxy, beginning):
        for _ in range(5):
            assert status(proxy, "/healthz", seconds=5) == 200


def test_who_sends_no_header_in_time_is_hung_up_on(served):
    _, proxy, _ = served
    with socket.create_connection(("127.0.0.1", proxy), timeout=15) as connection:
        connection.sendall(HEADER)
        with suppress(ConnectionResetError):
            assert connection.recv(100) == b""


def test_pages_static_files_and_signed_pictures_pass(served):
    _, proxy, picture = served
    assert status(proxy, "/account/sign-in/") == 200
    code, content, headers = answer(proxy, "GET", "/static/web/css/base.css")
    assert (code, bool(content)) == (200, True)
    code, content, headers = answer(proxy, "GET", picture)
    assert (code, headers["Content-Type"], content[8:12]) == (200, "image/webp", b"WEBP")
    assert headers["Cache-Control"].startswith("private, max-age=")
    assert "nginx/" not in headers["Server"]


def test_a_body_that_is_too_large_is_refused_before_it_is_sent(served):
    _, proxy, _ = served
    for path, size, expected in (
        ("/account/sign-in/", 26 * 1024**2, 413),
        ("/studies/isles/images/import/", 51 * 1024**2, 413),
    ):
        with socket.create_connection(("127.0.0.1", proxy), timeout=20) as connection:
            head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {size}\r\n\r\n"
            connection.sendall(head.encode())
            assert connection.recv(100).startswith(f"HTTP/1.1 {expected} ".encode())
    # A form that is refused unread: if the server then closed the connection, the proxy would answer 502.
    part = b'--part\r\nContent-Disposition: form-data; name="source"; filename="a.zip"\r\n\r\n'
    body = part + b"x" * (26 * 1024**2) + b"\r\n--part--\r\n"
    form = {"Content_Type": "multipart/form-data; boundary=part"}
    assert (
        answer(proxy, "POST", "/studies/isles/images/import/", body=body, **form)[0] == 403
    )  # no CSRF token


def test_what_a_visitor_says_of_their_address_is_overwritten(served):
    """Ten wrong passwords lock a name for the visitor's own address, whatever addresses they claim."""
    server, _, _ = served
    with proxy_to(server) as proxy:  # separate: the shared one counts other tests' attempts
        codes, last = tried_passwords(proxy)
    assert codes[0] == 200
    assert codes[-1] == 429
    assert "Stereoscope" in last  # our page, not the proxy's


def tried_passwords(proxy: int) -> tuple[list[int], str]:
    """Try eleven wrong passwords for one name, each with another forged address."""
    _, content, headers = answer(proxy, "GET", "/account/sign-in/")
    cookie = headers["Set-Cookie"].partition(";")[0]
    token = content.decode().partition('name="csrfmiddlewaretoken" value="')[2].partition('"')[0]
    codes, page = [], b""
    for number in range(11):
        body = f"csrfmiddlewaretoken={token}&username=nobody&password=wrong".encode()
        made_up = {"X_Forwarded_For": f"203.0.113.{number}", "Forwarded": f"for=203.0.113.{number}"}
        form = {"Cookie": cookie, "Content_Type": "application/x-www-form-urlencoded"}
        code, page, _ = answer(proxy, "POST", "/account/sign-in/", body=body, **form, **made_up)
        codes.append(code)
    return codes, page.decode()


def test_passwords_cannot_be_tried_fast(served):
    _, proxy, _ = served
    codes = [answer(proxy, "POST", "/account/sign-in/", body=b"a=b")[0] for _ in range(140)]
    assert codes[-1] == 429
    assert status(proxy, "/account/sign-in/") == 200
