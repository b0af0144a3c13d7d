"""Downloading a picture from an address that an endpoint returned, without request forgery.

The endpoint chooses the address, and this server may reach hosts that the public cannot. Therefore, the address
must be on the endpoint's own origin, or https on a public host. The name is resolved once, the connection goes to
the checked IP address, redirects are not followed, and size and time are limited.
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
    """Return the file at `url`, at most `limit` bytes within `seconds`; raise DomainError otherwise."""
    parts = _split(url)
    endpoint_parts = _split(endpoint)
    trusted = _origin(parts) == _origin(endpoint_parts)
    if not trusted and parts.scheme != "https":
        raise _refusal("is neither https nor on the endpoint's own host")
    address = _address(parts, public_only=not trusted)
    connection = _Pinned(parts, address, seconds)
    # With a limit only for each read, headers or picture could arrive slowly for ever.
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
        raise _refusal("takes too long")  # the data read so far looks complete
    return data


class _Pinned(http.client.HTTPConnection):
    """A connection to a checked IP address, whatever its name resolves to later."""

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
                # Shut down the plain socket, also under TLS: this ends a read in another thread at once.
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
    # Leave out the address, which may contain a signature.
    return DomainError("picture_unfetchable", f"The picture’s address from the endpoint {why}.")
