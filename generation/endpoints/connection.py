"""A connection to one endpoint: waiting, retrying, and tracking which requests may have been paid."""

import json
import random
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeVar

from django.conf import settings

from foundation.errors import DomainError

if TYPE_CHECKING:
    import httpx2

_TRIES = 5
_FIRST_PAUSE = 1.0
_LONGEST_WAIT = 120.0
# Temporarily busy; such a request was not executed and is not charged.
_BUSY = frozenset({409, 429, 503, 529})
# The endpoint's filter declines this request, but may accept others.
DECLINED = frozenset(
    {
        "content_policy_violation",
        "moderation_blocked",
        "content_filter",
        "image_content_policy_violation",
        "ResponsibleAIPolicyViolation",
    }
)
_NO_MONEY = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
Result = TypeVar("Result")


class EndpointUnusable(DomainError):
    """No request can be executed now: this one was not executed, is not charged, and may be sent later."""

    def __init__(self, code: str, message: str, *, answered: int | None = None, detail: str = "") -> None:
        super().__init__(code, message)
        self.answered = answered  # the HTTP status of its answer
        self.detail = detail  # the endpoint's message, without our own words


@dataclass(frozen=True)
class Failure:
    """Why one request has no answer. `charged`: whether it may have been executed and charged."""

    reason: str
    charged: bool
    declined: bool = False  # by the endpoint's filter
    status: int | None = None  # None: it did not answer
    code: str = ""
    detail: str = ""


@dataclass(frozen=True)
class EndpointAddress:
    """The address of an endpoint and its key. `key_setting` is named in the message if the key is not accepted."""

    url: str
    key: str
    key_setting: str


@dataclass(frozen=True)
class _Again:
    """The reason why a request may be sent again, and the pause that the endpoint requests."""

    failure: Failure
    wait: float | None = None


def allowed_endpoint(url: str) -> str:
    """Return one of the endpoints that the operator allows, by default the first.

    No lead can make this server connect to another host. Raises ValueError with a sentence.
    """
    allowed = [address.rstrip("/") for address in settings.OPENAI_BASE_URLS]
    if not allowed:
        raise ValueError("No endpoint is allowed. Ask the operator of this server to set OPENAI_BASE_URLS.")
    chosen = url.rstrip("/") or allowed[0]
    if chosen not in allowed:
        raise ValueError(f"The endpoint “{url}” is not allowed here. Allowed: {', '.join(allowed)}.")
    return chosen


def address_of(url: str) -> EndpointAddress:
    """Return an allowed endpoint with its key. The key belongs to the first endpoint and is sent to no other."""
    is_first = url == settings.OPENAI_BASE_URLS[0].rstrip("/")
    return EndpointAddress(url, settings.OPENAI_API_KEY if is_first else "", "OPENAI_API_KEY")


class Connection:
    """A client of one endpoint, for any number of threads.

    `limit`: the maximum size of an answer in bytes. `purpose` completes the sentence about a missing model.
    `keep_alive`: whether threads keep their connections for further `post` calls, until `close`. `seconds`: the time
    limit of a call, by default the operator's setting.
    """

    def __init__(
        self,
        address: EndpointAddress,
        *,
        limit: int,
        purpose: str,
        tries: int = _TRIES,
        keep_alive: bool = False,
        seconds: int | None = None,
    ) -> None:
        if find_spec("openai") is None:
            raise DomainError(
                "openai_not_installed", "The package openai is not installed; install requirements.txt."
            )
        import httpx2
        import openai

        from generation.endpoints.caller import Caller

        self._openai, self._httpx2 = openai, httpx2
        self._stopping = threading.Event()
        self._seconds = seconds or settings.OPENAI_TIMEOUT_SECONDS
        self._caller = Caller(seconds=self._seconds, limit=limit, keep_alive=keep_alive)
        self._tries = tries
        self._key, self._key_setting, self._purpose = address.key, address.key_setting, purpose
        self.url = address.url
        self.client = openai.OpenAI(
            base_url=address.url,
            api_key=address.key or "none",
            max_retries=0,  # this class decides about retries and pauses
            timeout=self._seconds,
            http_client=self._caller.client(),
        )
        self._headers = {
            name: value for name, value in self.client.default_headers.items() if isinstance(value, str)
        } | {"Authorization": f"Bearer {address.key or 'none'}"}
        self._addresses: dict[str, httpx2.URL] = {}
        self._timeout = httpx2.Timeout(self._seconds).as_dict()

    def stop(self) -> None:
        """End all pauses between tries, now and later, with EndpointUnusable."""
        self._stopping.set()

    def close(self) -> None:
        """Close kept connections; no call may be running."""
        self._caller.close()

    def post(self, path: str, body: Mapping[str, Any]) -> "httpx2.Response":
        """Send JSON, with the exceptions of the `openai` client, whose own `post` takes twice the processor time."""
        request = self._httpx2.Request(
            "POST",
            self._address_of(path),
            headers=self._headers,
            content=json.dumps(body).encode(),
            extensions={"timeout": self._timeout},
        )
        try:
            response = self._caller.own_client().send(request)
        except self._httpx2.TimeoutException as error:
            raise self._openai.APITimeoutError(request=request) from error
        except self._httpx2.RequestError as error:
            raise self._openai.APIConnectionError(request=request) from error
        if not response.is_success:
            raise self._status_error(response)
        return response

    @contextmanager
    def hanging_up(self) -> Iterator[None]:
        """Raise the `openai` client's exception if a connection breaks while an answer is being read."""
        try:
            yield
        except self._httpx2.RequestError as error:
            raise self._openai.APIConnectionError(request=error.request) from error

    def _address_of(self, path: str) -> "httpx2.URL":
        if path not in self._addresses:
            self._addresses[path] = self._httpx2.URL(self.url + path)
        return self._addresses[path]

    def _status_error(self, response: "httpx2.Response") -> Exception:
        try:
            body = response.json()
        except ValueError:
            body = response.text
        if isinstance(body, dict):
            body = body.get("error", body)
        error: Exception = self._openai.APIStatusError(
            f"Error {response.status_code}", response=response, body=body
        )
        return error

    def ask(self, send: Callable[[], Result], *, paid: bool) -> Result | Failure:
        """Return the result of `send`; retry if nothing was executed, or if repeating costs nothing.

        A DomainError raised by `send` is a failure to read an answer, which is charged.
        """
        attempt = 1
        while isinstance(answer := self._try(send, paid=paid), _Again):
            failure = answer.failure
            if attempt == self._tries:
                times = f" The request was sent {self._tries} times." if self._tries > 1 else ""
                return Failure(
                    f"{failure.reason.rstrip('.')}.{times}",
                    charged=False,
                    status=failure.status,
                    detail=failure.detail,
                )
            if self._stopping.wait(_pause(attempt, answer.wait)):
                raise EndpointUnusable("stopped", "The run stopped while the endpoint was busy.")
            attempt += 1
        return answer

    def _try(self, send: Callable[[], Result], *, paid: bool) -> Result | Failure | _Again:
        with self._caller.call() as call:
            try:
                return send()
            except DomainError as error:
                return Failure(error.message, charged=True)
            except self._openai.APIStatusError as error:
                judged = self._judged(error, paid=paid)
                busy = Failure(
                    self._words(error), charged=False, status=error.status_code, detail=self._detail(error)
                )
                return judged or _Again(busy, self._retry_after(error))
            except self._openai.APIConnectionError as error:
                if not call.sent:
                    return _Again(Failure("The endpoint cannot be reached.", charged=False))
                if call.timed_out or isinstance(error, self._openai.APITimeoutError):
                    return Failure(
                        f"The endpoint did not answer within {self._seconds} seconds.", charged=True
                    )
                problem = Failure("The endpoint closed the connection before it answered.", charged=True)
                # It may have been executed and charged: the person who pays decides whether to ask again.
                return problem if paid else _Again(problem)

    def _judged(self, error: Any, *, paid: bool) -> Failure | None:
        """Return the failure for a permanent error, or None for a request that may be sent again."""
        code, status = str(error.code or ""), error.status_code
        detail = self._detail(error)
        if code in DECLINED or (status == 400 and "safety system" in str(error.message)):
            return Failure(
                self._words(error), charged=False, declined=True, status=status, code=code, detail=detail
            )
        self._refuse_unusable(error, code, detail)
        # A proxy did not wait, or a server failed: the request may have been executed and charged.
        broken = status == 408 or status >= 500
        if status in _BUSY or (broken and not paid):
            return None
        return Failure(self._words(error), charged=broken, status=status, code=code, detail=detail)

    def _refuse_unusable(self, error: Any, code: str, detail: str) -> None:
        status = error.status_code
        problem, sentence = "", ""
        if status == 401:
            problem = "endpoint_forbidden"
            sentence = (
                f"The endpoint does not accept the key; see {self._key_setting} in docs/operate/settings.md. "
                f"{self._words(error)}"
            )
        elif status == 403:
            # The cause may be the key, the region, a model that needs permission, or a proxy: only the endpoint knows.
            problem = "endpoint_forbidden"
            sentence = f"The endpoint refused the request (403). {self._words(error)}"
        elif status == 404:
            problem, sentence = "model_missing", f"The endpoint has no model {self._purpose}."
        elif code in _NO_MONEY or status == 402:
            problem, sentence = "endpoint_unpaid", "The account at the endpoint has no credit left."
        if problem:
            raise EndpointUnusable(problem, sentence, answered=status, detail=detail)

    def _retry_after(self, error: Any) -> float | None:
        """Return the pause that the endpoint requests; raises EndpointUnusable if it exceeds our limit."""
        header = error.response.headers.get("retry-after", "")
        try:
            seconds = float(header)
        except ValueError:
            return None  # a date, or nothing: use our own pauses
        if not seconds <= _LONGEST_WAIT:
            raise EndpointUnusable(
                "endpoint_busy",
                f"The endpoint asks you to wait {seconds:,.0f} seconds. Then try again.",
                answered=error.status_code,
                detail=self._detail(error),
            )
        return max(0.0, seconds)

    def _words(self, error: Any) -> str:
        message = self._message(error)
        return self.clear(
            f"The endpoint: {message}" if message else f"The endpoint answered with {error.status_code}"
        )

    def _detail(self, error: Any) -> str:
        return self.clear(str(self._message(error)))

    @staticmethod
    def _message(error: Any) -> Any:
        body = error.body if isinstance(error.body, dict) else {"message": error.body}
        return body.get("message") or body.get("detail") or ""

    def clear(self, text: str) -> str:
        """Return another machine's text as one line, without our key if it contains it."""
        if self._key:
            text = text.replace(self._key, "…")
        return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:290]


def _pause(attempt: int, retry_after: float | None) -> float:
    """Return the seconds to wait: the requested time, or double the time at each attempt, with random variation."""
    if retry_after is not None:
        return retry_after
    return _FIRST_PAUSE * 2.0 ** (attempt - 1) * random.uniform(0.75, 1.25)
