"""A picture behind an address that an endpoint answered with: fetched only where that can do no harm.

The address is chosen by another machine, and this server may reach what the world may not: so it is either on the
endpoint's own host, or https on a public address; the name is looked up once and that very address is connected to,
redirects are not followed, and neither size nor time is the other side's to choose.
"""

import http.client
import ipaddress
import socket
import ssl
import threading
from contextlib import suppress
from urllib.parse import SplitResult, urlsplit

from foundation.errors import DomainError
from foundation.network import is_public

_CHUNK = 1 << 16
_PORTS = {"http": 80, "https": 443}


def fetch(url: str, *, endpoint: str, limit: int, seconds: float) -> bytes:
    """Return what is there, at most `limit` bytes within `seconds`."""
    parts = _split(url)
    endpoint_parts = _split(endpoint)
    trusted = _origin(parts) == _origin(endpoint_parts)
    if not trusted and parts.scheme != "https":
        raise _refusal("is neither https nor on the endpoint's own host")
    address = _address(parts, public_only=not trusted)
    connection = _Pinned(parts, address, seconds)
    # A limit for each read alone would let headers, or the picture, trickle in for ever.
    timer = threading.Timer(seconds, connection.hang_up)
    timer.daemon = True
    timer.start()
    try:
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.request("GET", path, headers={"Accept": "image/png, image/webp, image/jpeg"})
        answer = connection.getresponse()
        if answer.status != 200:
            raise _refusal(f"was answered with {answer.status}")
        data = _read(answer, limit)
    except (OSError, http.client.HTTPException, ValueError) as error:
        late = connection.hung_up or isinstance(error, TimeoutError)
        raise _refusal("takes too long" if late else f"cannot be fetched ({type(error).__name__})") from None
    finally:
        timer.cancel()
        connection.close()
    if connection.hung_up:
        raise _refusal("takes too long")  # what came until then looks like all there is
    return data


class _Pinned(http.client.HTTPConnection):
    """Connects to an address that was looked at, whatever its name says by then."""

    def __init__(self, parts: SplitResult, address: str, seconds: float) -> None:
        super().__init__(parts.hostname or "", _port(parts), timeout=seconds)
        self._address = address
        self._socket: socket.socket | None = None
        self.hung_up = False
        self._secure = parts.scheme == "https"
        if self._secure:
            self.default_port = _PORTS["https"]

    def connect(self) -> None:
        self.sock = socket.create_connection((self._address, self.port), self.timeout)
        if self._secure:
            self.sock = ssl.create_default_context().wrap_socket(self.sock, server_hostname=self.host)
        self._socket = self.sock
        if self.hung_up:
            raise TimeoutError

    def hang_up(self) -> None:
        self.hung_up = True
        if self._socket is not None:
            with suppress(OSError):
                # Of the plain socket, also below encryption: the thread that reads from it is told so at once.
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)


def _read(answer: http.client.HTTPResponse, limit: int) -> bytes:
    data = bytearray()
    while chunk := answer.read1(_CHUNK):
        data += chunk
        if len(data) > limit:
            raise _refusal(f"has more than {limit / 1024 / 1024:g} MiB")
    return bytes(data)


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise _refusal("is not an address") from None
    if parts.scheme not in _PORTS or not parts.hostname or parts.username or port == 0:
        raise _refusal("is not a web address")
    return parts


def _origin(parts: SplitResult) -> tuple[str, str | None, int]:
    return parts.scheme, parts.hostname, _port(parts)


def _port(parts: SplitResult) -> int:
    return parts.port or _PORTS[parts.scheme]


def _address(parts: SplitResult, *, public_only: bool) -> str:
    try:
        infos = socket.getaddrinfo(parts.hostname, _port(parts), type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise _refusal("names a host that cannot be found") from None
    addresses = [str(address[4][0]) for address in infos]
    if public_only and not all(
        is_public(ipaddress.ip_address(address.partition("%")[0])) for address in addresses
    ):
        raise _refusal("is not on a public host")
    return addresses[0]


def _refusal(why: str) -> DomainError:
    # The address itself may hold a signature; it is not repeated.
    return DomainError("picture_unfetchable", f"The picture’s address from the endpoint {why}.")
