"""A connection to a server's API, kept open while an annotator works."""

import http.client
import json
from typing import Any
from urllib.parse import urlsplit

from foundation.errors import DomainError


class ApiConnection:
    """Sends requests with an annotator's API key."""

    def __init__(self, address: str, key: str) -> None:
        parts = urlsplit(address)
        if parts.scheme not in {"http", "https"} or not parts.netloc:
            raise DomainError(
                "base_url_invalid", f"{address} is not an http address.", fields={"base_url": "invalid"}
            )
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._connection = kind(parts.netloc, timeout=60)
        self._prefix = f"{parts.path.rstrip('/')}/api/v1/"
        # A server behind a proxy that terminates TLS would redirect plain requests.
        self._headers = {
            "Authorization": f"Bearer {key}",
            "Content-Type": "application/json",
            "X-Forwarded-Proto": "https",
        }

    def __enter__(self) -> "ApiConnection":
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def status(self, path: str) -> int:
        """Return the HTTP status of a GET request."""
        self._connection.request("GET", self._prefix + path, headers=self._headers)
        response = self._connection.getresponse()
        response.read()
        return response.status

    def post(self, path: str, body: dict[str, Any] | None = None) -> dict[str, Any] | None:
        """Return the JSON response, or None without content.

        Raises DomainError `server_refused` for an error status, `server_unreachable` without a response.
        """
        data = json.dumps(body).encode() if body is not None else b""
        try:
            self._connection.request("POST", self._prefix + path, body=data, headers=self._headers)
            response = self._connection.getresponse()
            content = response.read()
        except (OSError, http.client.HTTPException) as error:
            raise DomainError("server_unreachable", f"The server does not answer: {error}.") from error
        if response.status == 204:
            return None
        try:
            answered: dict[str, Any] = json.loads(content)
        except ValueError:
            answered = {}
        if response.status != 200:
            message = answered.get("error", {}).get("message", response.reason)
            raise DomainError("server_refused", f"The server answered {response.status}: {message}")
        return answered
