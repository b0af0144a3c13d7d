"""One connection to Prolific: limits of time and size for an answer, and retries."""

import json
import random
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from django.conf import settings

from annotation.recruitment.prolific import errors

if TYPE_CHECKING:
    import httpx

_LIMIT = 8 * 1024 * 1024
_TRIES = 5
_FIRST_PAUSE = 0.5
# If Prolific is busy, nothing was executed; if a gateway failed, the request may have been executed.
_BUSY = 429


@dataclass(frozen=True)
class Answer:
    """Prolific's answer: parsed JSON, None for an empty body."""

    body: Any
    headers: Mapping[str, str]

    def object(self) -> dict[str, Any]:
        if not isinstance(self.body, dict):
            raise errors.garbage()
        return self.body


@dataclass(frozen=True)
class Patience:
    """How long a request may take, and how long all pauses between its tries together."""

    seconds: float = 30.0
    pauses: float = 60.0
    tries: int = _TRIES


# If a person waits for a page.
SHORT = Patience(seconds=8.0, pauses=4.0, tries=3)


class ProlificConnection:
    """Sends requests to the one host that the operator allows. Close it, or use it in a `with` block.

    Requests do not use httpx's client, which logs their addresses, because these contain ids of people.
    """

    def __init__(self, base_url: str, token: str, patience: Patience) -> None:
        self._base = allowed_address(base_url)
        self._token = token
        self._patience = patience
        # Every process of the platform loads this module; few of them ask Prolific, and httpx is large.
        import httpx

        self._httpx = httpx
        self._transport = httpx.HTTPTransport(verify=_ssl_context(), trust_env=False, retries=0)

    def close(self) -> None:
        self._transport.close()

    def get(self, path: str, **query: str | int) -> Answer:
        return self._ask(self._request("GET", path, query=query), repeatable=True)

    def post(self, path: str, body: Mapping[str, Any], *, repeatable: bool) -> Answer:
        """Send JSON; `repeatable`: executing it twice has the same effect as once."""
        return self._ask(self._request("POST", path, body=body), repeatable=repeatable)

    def post_once(self, path: str, body: Mapping[str, Any]) -> Answer:
        """Send JSON a single time, whatever comes of it."""
        return self._send(self._request("POST", path, body=body))

    def delete(self, path: str) -> Answer:
        return self._ask(self._request("DELETE", path), repeatable=True)

    def _request(
        self, method: str, path: str, *, query: Mapping[str, Any] | None = None, body: Any = None
    ) -> "httpx.Request":
        headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
        if self._token:
            headers["Authorization"] = f"Token {self._token}"
        content = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            content = json.dumps(body).encode()
        seconds = self._patience.seconds
        timeouts = self._httpx.Timeout(seconds, connect=min(seconds, 10.0)).as_dict()
        return self._httpx.Request(
            method,
            f"{self._base}{path}",
            params=query or None,
            headers=headers,
            content=content,
            extensions={"timeout": timeouts},
        )

    def _ask(self, request: "httpx.Request", *, repeatable: bool) -> Answer:
        paused = 0.0
        for attempt in range(1, self._patience.tries + 1):
            try:
                return self._send(request)
            except errors.ProlificError as error:
                pause = error.retry_after
                if pause is None:
                    pause = _FIRST_PAUSE * 2 ** (attempt - 1) * random.uniform(0.75, 1.25)
                again = error.answered == _BUSY or (error.passing and (repeatable or error.done is False))
                if not again or attempt == self._patience.tries or paused + pause > self._patience.pauses:
                    raise
            time.sleep(pause)
            paused += pause
        raise AssertionError("unreachable: the last try returns or raises")

    def _send(self, request: "httpx.Request") -> Answer:
        ends = time.monotonic() + self._patience.seconds
        try:
            response = self._transport.handle_request(request)
            try:
                content = self._read(response, ends)
            finally:
                response.close()
        except (self._httpx.ConnectError, self._httpx.ConnectTimeout, self._httpx.PoolTimeout):
            raise errors.unreachable() from None
        except self._httpx.TimeoutException:
            raise errors.timeout(self._patience.seconds) from None
        except self._httpx.TransportError:
            raise errors.hung_up() from None
        return self._checked(response, content)

    def _read(self, response: "httpx.Response", ends: float) -> bytes:
        if response.headers.get("Content-Encoding", "identity") != "identity":
            raise errors.garbage()  # a small compressed answer could become huge
        chunks, size = [], 0
        assert isinstance(response.stream, self._httpx.SyncByteStream)
        for chunk in response.stream:
            size += len(chunk)
            if size > _LIMIT:
                raise errors.too_large(_LIMIT)
            if time.monotonic() > ends:
                raise errors.timeout(self._patience.seconds)
            chunks.append(chunk)
        return b"".join(chunks)

    def _checked(self, response: "httpx.Response", content: bytes) -> Answer:
        status = response.status_code
        try:
            body = json.loads(content) if content.strip() else None
        except ValueError:
            if status < 300:
                raise errors.garbage() from None
            body = None
        if status < 300:
            return Answer(body, response.headers)
        if status < 400:
            raise errors.garbage()  # it could lead anywhere, with the token
        error = errors.of_status(status, body, token=self._token)
        error.retry_after = _seconds(response.headers.get("Retry-After", ""))
        raise error


def allowed_address(url: str) -> str:
    """Return the address of Prolific's API; ValueError for any other than the operator's."""
    plain = url.rstrip("/")
    if plain != settings.PROLIFIC_URL or urlsplit(plain).scheme not in {"http", "https"}:
        raise ValueError(
            "Ask the operator of this server to correct the address of Prolific’s API (PROLIFIC_URL)."
        )
    return plain


def _seconds(header: str) -> float | None:
    """Return how long Prolific asks to wait; a date is answered with our own pauses."""
    try:
        seconds = float(header)
    except ValueError:
        return None
    return seconds if 0 <= seconds < 86_400 else None


@cache
def _ssl_context() -> ssl.SSLContext:
    """Return the default context, cached: reading the certificates takes 20 ms for each new connection."""
    import httpx

    return httpx.create_ssl_context(trust_env=False)
