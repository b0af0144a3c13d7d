"""A study's Label Studio servers: connecting, checking, changing the token, disconnecting, and their problems."""

import re
from dataclasses import dataclass

from django.db import IntegrityError, transaction
from django.db.models import RestrictedError
from django.utils import timezone

from accounts.models import User
from annotation.label_studio.client import errors
from annotation.label_studio.client.encryption import seal
from annotation.label_studio.client.errors import Trouble
from annotation.label_studio.client.rest import Client
from annotation.label_studio.client.sanitize import storable
from annotation.label_studio.models import LabelStudioBridge, LabelStudioServer
from foundation.errors import Conflict, DomainError
from studies import audit
from studies.models import Study

# The first version with personal access tokens; this code was tested with 1.23.
OLDEST = (1, 16)
_LONGEST_URL = 300
# A person waits for the page, and a slower server is unusable.
_SECONDS = 8.0
_LONGEST_PROBLEM = 500
# Problems of one project or request, not of the whole server.
_NOT_OF_THE_SERVER = frozenset({"gone", "refused"})


@dataclass(frozen=True)
class CheckResult:
    """The result of checking a server; `code` and `sentence` are empty if there is no problem."""

    ok: bool
    code: str
    sentence: str
    version: str


def connect(*, study: Study, url: str, token: str, by: User | None) -> LabelStudioServer:
    """Store a server in which campaigns of a study can be labelled, after checking its address and token."""
    address, version = _look(url, token)
    if len(address) > _LONGEST_URL:
        raise DomainError("url_too_long", f"An address has at most {_LONGEST_URL} characters.")
    try:
        with transaction.atomic():
            server = LabelStudioServer.objects.create(
                study=study,
                url=address,
                token=seal(token.strip()),
                version=version,
                checked_at=timezone.now(),
                created_by=by,
            )
            audit.record(by=by, action="label_studio.connected", subject=server, study=study, url=address)
    except IntegrityError:
        raise Conflict(
            "label_studio_connected",
            f"{address} is already connected to this study. You can change the token of this connection.",
        ) from None
    return server


def check(*, server: LabelStudioServer) -> CheckResult:
    """Check whether a server answers and accepts its token, and store the result."""
    version = server.version
    try:
        with Client.of(server, within=_SECONDS) as client:
            version = _asked(client)
    except DomainError as trouble:
        note_trouble(server=server, trouble=trouble)
        return CheckResult(ok=False, code=trouble.code, sentence=trouble.message, version=version)
    server.version = version
    LabelStudioServer.objects.filter(pk=server.pk).update(version=version)
    clear_trouble(server=server)
    return CheckResult(ok=True, code="", sentence="", version=version)


def change_token(*, server: LabelStudioServer, token: str, by: User | None) -> LabelStudioServer:
    """Replace the stored token, after checking that the new one works."""
    _, version = _look(server.url, token)
    with transaction.atomic():
        server.token, server.version = seal(token.strip()), version
        server.save(update_fields=["token", "version"])
        clear_trouble(server=server)
        audit.record(
            by=by, action="label_studio.token_changed", subject=server, study=server.study, url=server.url
        )
    return server


def disconnect(*, server: LabelStudioServer, by: User | None) -> None:
    """Delete a server's record and its token; nothing changes on the server."""
    with transaction.atomic():
        audit.record(
            by=by, action="label_studio.disconnected", subject=server, study=server.study, url=server.url
        )
        try:
            server.delete()
        except RestrictedError:
            raise Conflict(
                "label_studio_in_use",
                "A campaign is labelled in this Label Studio. End the labelling of that campaign first.",
            ) from None


def note_trouble(
    *,
    trouble: DomainError,
    bridge: LabelStudioBridge | None = None,
    server: LabelStudioServer | None = None,
) -> None:
    """Store a problem for the pages: of a campaign's bridge, and of the server if the server caused it."""
    text = storable(trouble.message, longest=_LONGEST_PROBLEM)
    now = timezone.now()
    if bridge is not None:
        bridge.problem, bridge.problem_text, bridge.problem_at = trouble.code, text, now
        LabelStudioBridge.objects.filter(pk=bridge.pk).update(
            problem=trouble.code, problem_text=text, problem_at=now
        )
        if isinstance(trouble, Trouble) and trouble.code not in _NOT_OF_THE_SERVER:
            server = bridge.server
    if server is not None:
        server.problem, server.problem_text, server.checked_at = trouble.code, text, now
        LabelStudioServer.objects.filter(pk=server.pk).update(
            problem=trouble.code, problem_text=text, checked_at=now
        )


def clear_trouble(
    *, bridge: LabelStudioBridge | None = None, server: LabelStudioServer | None = None
) -> None:
    """Delete a stored problem: the bridge's job succeeded, or the server answered correctly."""
    if bridge is not None:
        bridge.problem, bridge.problem_text, bridge.problem_at = "", "", None
        LabelStudioBridge.objects.filter(pk=bridge.pk).exclude(problem="").update(
            problem="", problem_text="", problem_at=None
        )
        server = bridge.server
    if server is not None:
        server.problem, server.problem_text, server.checked_at = "", "", timezone.now()
        LabelStudioServer.objects.filter(pk=server.pk).update(
            problem="", problem_text="", checked_at=server.checked_at
        )


def _look(url: str, token: str) -> tuple[str, str]:
    with Client(url, token.strip(), within=_SECONDS) as client:
        return client.url, _asked(client)


def _asked(client: Client) -> str:
    """Return the server's version, after checking that it is a Label Studio that accepts our token."""
    try:
        version = client.version()
    except Trouble as trouble:
        if trouble.code in ("garbage", "gone", "refused", "forbidden", "token_wrong"):
            # Label Studio tells everybody its version: a server that answers this way is not a Label Studio.
            raise errors.no_label_studio(client.url) from None
        raise
    numbers = re.match(r"v?(\d+)\.(\d+)", version)
    if numbers is None:
        raise errors.no_label_studio(client.url)
    if (int(numbers[1]), int(numbers[2])) < OLDEST:
        raise errors.too_old(storable(version, longest=40), ".".join(map(str, OLDEST)))
    client.whoami()
    return storable(version, longest=40)
