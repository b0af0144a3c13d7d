"""Requests to an address that a lead entered: where they may go, how long they may take, how large a response may be.

Import this only where you call Label Studio: it needs httpx, which is installed with Label Studio's client.
"""

import http.cookiejar
import ipaddress
import math
import socket
import ssl
import time
from collections.abc import Generator, Iterator
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import httpx
from django.conf import settings

from annotation.label_studio.client import errors, responses
from foundation.network import Address, is_dangerous, is_public

_ENDS = "stereoscope.ends"  # of a request: the deadline for its answer


def addresses_of(host: str, port: int) -> list[str]:
    """Return the addresses of `host`; refuse a host with an address to which we may not connect."""
    try:
        address_infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise errors.name_unknown(host) from None
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in address_infos))
    if host.lower() not in {name.lower() for name in settings.LABEL_STUDIO_ALLOWED_HOSTS}:
        for address in addresses:
            if not _may_be_reached(ipaddress.ip_address(address.partition("%")[0])):
                raise errors.address_refused(host)
    return addresses


def _may_be_reached(address: Address) -> bool:
    if is_dangerous(address):
        return False
    return is_public(address) or bool(settings.LABEL_STUDIO_ALLOW_PRIVATE)


class CheckedTransport(httpx.HTTPTransport):
    """Connects to the address that was checked, because the name may resolve to another address later."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        host = request.url.host
        port = request.url.port or (443 if request.url.scheme == "https" else 80)
        addresses = addresses_of(host, port)
        # The certificate must be for the server's name, as in the header Host.
        request.extensions = {**request.extensions, "sni_hostname": host}
        original_url = request.url
        try:
            for address in addresses[:-1]:
                self._in_time(request)
                request.url = original_url.copy_with(host=address)
                try:
                    return super().handle_request(request)
                except (httpx.ConnectError, httpx.ConnectTimeout):
                    continue  # nothing was sent; another address of the host may answer
            self._in_time(request)
            request.url = original_url.copy_with(host=addresses[-1])
            return super().handle_request(request)
        finally:
            request.url = original_url

    def _in_time(self, request: httpx.Request) -> None:
        if time.monotonic() > request.extensions[_ENDS]:
            raise httpx.ConnectTimeout("resolving and connecting took all of the time", request=request)


class TokenAuth(httpx.Auth):
    """Signs requests with a legacy token, or with access tokens made from a personal one.

    An access token is renewed when it is refused, so different clocks do not matter.
    """

    requires_response_body = True

    def __init__(self, token: str, *, base: str) -> None:
        if not token or not token.isascii() or not token.isprintable() or " " in token:
            raise errors.token_malformed()
        self._personal = token.startswith("eyJ") and "." in token
        if self._personal and token.count(".") != 2:
            raise errors.token_malformed()  # as shown in Label Studio's list of tokens: without its signature
        self._token = token
        self._refresh_at = f"{base}/api/token/refresh/"
        self._place = base
        self._access = ""

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        if request.url.path.endswith("/api/version"):  # which needs no token
            request.headers.pop("Authorization", None)
            yield request
            return
        if not self._personal:
            request.headers["Authorization"] = f"Token {self._token}"
            yield request
            return
        fresh = not self._access
        if fresh:
            yield from self._renew()
        request.headers["Authorization"] = f"Bearer {self._access}"
        response = yield request
        if response.status_code == 401 and not fresh:
            yield from self._renew()
            request.headers["Authorization"] = f"Bearer {self._access}"
            yield request

    def _renew(self) -> Generator[httpx.Request, httpx.Response, None]:
        response = yield httpx.Request("POST", self._refresh_at, json={"refresh": self._token})
        if response.status_code in (400, 401, 403, 404):
            raise errors.token_revoked(self._place)
        responses.check(response, place=self._place, token=self._token)
        access = responses.content(response, place=self._place)
        if not isinstance(access, dict) or not isinstance(access.get("access"), str):
            raise errors.garbage(self._place)
        self._access = access["access"]


class GuardedClient(httpx.Client):
    """An HTTP client of one server. Every failure is a Trouble, and responses are checked."""

    def __init__(
        self, *, base: str, token: str, seconds: float, limit: int, within: float | None = None
    ) -> None:
        """`seconds` is the limit for each request, `within` for all requests together."""
        self._place = base
        self._token = token
        self._seconds = seconds = seconds if within is None else min(seconds, within)
        self._until = math.inf if within is None else time.monotonic() + within
        self._limit = limit
        super().__init__(
            auth=TokenAuth(token, base=base),
            transport=CheckedTransport(verify=_ssl_context()),
            timeout=httpx.Timeout(seconds, connect=min(seconds, 10)),
            follow_redirects=False,  # they could lead anywhere, with the token
            trust_env=False,  # a proxy could connect to addresses that are not allowed
            event_hooks={"request": [self._before], "response": [self._bounded]},
        )
        # Only the token signs in: Label Studio has other rules for session cookies.
        self.cookies.jar.set_policy(http.cookiejar.DefaultCookiePolicy(allowed_domains=[]))

    def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        """Send one request; repeat a GET once if the connection turned out to be closed."""
        try:
            return self._send(request, **options)
        except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError):
            if request.method != "GET":
                raise errors.cut_off(self._place) from None
        try:
            return self._send(request, **options)
        except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError):
            raise errors.cut_off(self._place) from None

    def _send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        try:
            response = super().send(request, **options)
        except httpx.ConnectError as error:
            if "CERTIFICATE_VERIFY_FAILED" in str(error):
                raise errors.not_trusted(self._place) from None
            raise errors.unreachable(self._place) from None
        except httpx.ConnectTimeout:
            raise errors.unreachable(self._place) from None
        except httpx.TimeoutException:
            raise errors.timeout(self._place, self._seconds) from None
        except (httpx.InvalidURL, httpx.UnsupportedProtocol, httpx.LocalProtocolError):
            raise errors.not_an_address() from None
        except httpx.DecodingError:
            raise errors.garbage(self._place) from None
        responses.check(response, place=self._place, token=self._token)
        return response

    def _before(self, request: httpx.Request) -> None:
        # A request for an access token has no limits of its own.
        now = time.monotonic()
        seconds_left = self._until - now
        if seconds_left <= 0:
            raise errors.timeout(self._place, self._seconds)
        waits = {
            name: min(seconds or seconds_left, seconds_left)
            for name, seconds in self.timeout.as_dict().items()
        }
        limits = {"timeout": waits, _ENDS: min(now + self._seconds, self._until)}
        request.extensions = {**request.extensions, **limits}
        request.headers["Accept-Encoding"] = "identity"

    def _bounded(self, response: httpx.Response) -> None:
        if response.headers.get("Content-Encoding", "identity") != "identity":
            raise errors.garbage(self._place)  # a small compressed answer could become huge
        response.stream = _Bounded(response.stream, self, response.request.extensions[_ENDS])

    def still(self, *, size: int, ends: float) -> None:
        """Refuse an answer that has become too large or takes too long."""
        if size > self._limit:
            raise errors.too_large(self._place, self._limit)
        if time.monotonic() > ends:
            raise errors.timeout(self._place, self._seconds)


class _Bounded(httpx.SyncByteStream):
    def __init__(self, stream: Any, client: GuardedClient, ends: float) -> None:
        self._stream = stream
        self._client = client
        self._ends = ends

    def __iter__(self) -> Iterator[bytes]:
        size = 0
        for chunk in self._stream:
            size += len(chunk)
            self._client.still(size=size, ends=self._ends)
            yield chunk

    def close(self) -> None:
        self._stream.close()


def plain_address(url: str) -> str:
    """Return the address in stored form: scheme, host and possibly a path, without a trailing slash."""
    try:
        parts = urlsplit(url.strip())
        secret = parts.username is not None or parts.password is not None
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and not secret
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        raise errors.not_an_address() from None
    if (
        not good
        or any(letter.isspace() for letter in url.strip())
        or parts.query
        or parts.fragment
        or not parts.hostname
    ):
        raise errors.not_an_address()
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}{port}{parts.path.rstrip('/')}"


@cache
def _ssl_context() -> ssl.SSLContext:
    """Return the default context, cached: reading the certificates takes 20 ms for each new client."""
    return httpx.create_ssl_context()
