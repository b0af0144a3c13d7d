"""Rights: roles, capabilities, and the right that each address requires for each method.

A view states its rights with `requires`, once for each method; a method without a right is not served, and an
address without any is refused to everybody. A viewset states them on its actions; its class states only the rights of
the actions that it inherits from REST framework. `studies.access` checks them before the view runs.
`docs/operate/rights.md` is generated from them.
"""

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest

from accounts.models import User

if TYPE_CHECKING:
    from rest_framework.request import Request

V = TypeVar("V")


class Role(StrEnum):
    """A person's role in a study.

    The values are stored in ten characters: a wider column would break prepared statements of the previous
    version.
    """

    LEAD = "lead"
    COORDINATOR = "coord"
    STEWARD = "steward"
    ANALYST = "analyst"

    @property
    def words(self) -> str:
        """Return the role as pages name it."""
        return {Role.COORDINATOR: "coordinator", Role.STEWARD: "data steward"}.get(self, str(self))

    @property
    def purpose(self) -> str:
        """Return one line about what a person with the role does in a study."""
        return {
            Role.LEAD: "Runs the study, and may see and do everything in it.",
            Role.COORDINATOR: "Invites, recruits and pays annotators. Sees no labels, images or results.",
            Role.STEWARD: "Builds, withdraws and downloads releases. Sees no other results.",
            Role.ANALYST: "Reads and computes results. Does not see what annotators say about themselves.",
        }[self]


class Capability(StrEnum):
    """A capability that an address requires. The value completes the sentence "You may …"."""

    # of persons, whatever their studies
    ANYONE = "open public pages"
    BY_KEY = "use an address with its secret key"
    SIGNED_IN = "see your own account and work"
    ANNOTATE = "annotate in campaigns that you take part in"
    SEE_RESOURCES = "see resources"
    CREATE_STUDIES = "create studies and import resources"
    ADMINISTER = "administer the server"
    # of members, in their study
    SEE_STUDY = "see the study, its members and its consent text"
    SEE_HISTORY = "see the history of the study"
    MANAGE_MEMBERS = "add and remove members"
    MANAGE_STUDY = "manage consent, kinds of campaign and plans of the study"
    SEE_DEMOGRAPHICS = "read what annotators say about themselves"
    ERASE = "erase people who took part"
    SEE_IMAGES = "see images, and answers of models"
    RUN_MODELS = "generate and import images, ask models, and score images"
    SEE_CAMPAIGNS = "see campaigns and their progress"
    RUN_CAMPAIGNS = "create and run campaigns"
    SEE_QUALITY = "see who labelled what, and how well"
    SEE_LABELS = "see labels"
    SEE_INVITATIONS = "see invitations and pay"
    INVITE = "invite annotators"
    RECRUIT = "recruit and pay annotators"
    CONNECT = "connect other labelling tools"
    SEE_RESULTS = "see results"
    COMPUTE_RESULTS = "compute results"
    SEE_RELEASES = "see and download releases"
    RELEASE = "build and withdraw releases"
    SEE_JOBS = "see the jobs of the study"
    STEER_JOBS = "cancel and retry jobs of the study"
    # of administrators who are not members, in any study
    BREAK_GLASS = "read a study for a limited time by break-glass"


C = Capability
OF_PERSONS = frozenset(
    {C.ANYONE, C.BY_KEY, C.SIGNED_IN, C.ANNOTATE, C.SEE_RESOURCES, C.CREATE_STUDIES, C.ADMINISTER}
)
OF_ADMINISTRATORS = frozenset({C.BREAK_GLASS})
OF_MEMBERS = frozenset(C) - OF_PERSONS - OF_ADMINISTRATORS

_READING = frozenset(
    {
        *(C.SEE_STUDY, C.SEE_HISTORY, C.SEE_IMAGES, C.SEE_CAMPAIGNS, C.SEE_QUALITY, C.SEE_LABELS),
        *(C.SEE_INVITATIONS, C.SEE_RESULTS, C.SEE_RELEASES, C.SEE_JOBS),
    }
)
# The capabilities of each role in its study. Roles add up.
CAPABILITIES: Mapping[str, frozenset[Capability]] = {
    Role.LEAD: OF_MEMBERS,
    Role.COORDINATOR: frozenset(
        {C.SEE_STUDY, C.SEE_HISTORY, C.SEE_CAMPAIGNS, C.SEE_INVITATIONS, C.INVITE, C.RECRUIT}
    ),
    Role.STEWARD: frozenset(
        {C.SEE_STUDY, C.SEE_HISTORY, C.SEE_CAMPAIGNS, C.SEE_RELEASES, C.RELEASE, C.SEE_JOBS}
    ),
    Role.ANALYST: _READING | {C.COMPUTE_RESULTS},
}

# Capabilities of administrators in studies of which they are not members, which running the server needs.
WITHOUT_MEMBERSHIP = frozenset(
    {C.SEE_STUDY, C.SEE_HISTORY, C.MANAGE_MEMBERS, C.SEE_JOBS, C.STEER_JOBS, C.ERASE, C.BREAK_GLASS}
)
# Additional capabilities while they have opened the study by break-glass.
BY_BREAK_GLASS = _READING | {C.SEE_DEMOGRAPHICS}

# Views of packages, which state no rights themselves: by the beginning of their names, or the namespace of their
# addresses.
_OF_PACKAGES: Mapping[str, Mapping[str, Capability]] = {
    "django.views.i18n.set_language": {"POST": C.ANYONE},
    "allauth.mfa.": {"GET": C.SIGNED_IN, "POST": C.SIGNED_IN},
    "allauth.": {"GET": C.ANYONE, "POST": C.ANYONE},  # its views redirect to the sign-in page themselves
}
_OF_NAMESPACES: Mapping[str, Mapping[str, Capability]] = {
    "admin": {"GET": C.ADMINISTER, "HEAD": C.ADMINISTER, "POST": C.ADMINISTER},
}


def requires(
    *,
    get: Capability | None = None,
    post: Capability | None = None,
    put: Capability | None = None,
    patch: Capability | None = None,
    delete: Capability | None = None,
    head: bool = True,
) -> Callable[[V], V]:
    """State the capability that each method of a view or action requires; methods that are left out are not served.

    HEAD goes with GET, unless a GET changes something: then `head=False` refuses previews of the link.
    """
    stated = {
        "GET": get,
        "HEAD": get if head else None,
        "POST": post,
        "PUT": put,
        "PATCH": patch,
        "DELETE": delete,
    }
    rights = {method: capability for method, capability in stated.items() if capability is not None}

    def state(view: V) -> V:
        view.rights = rights  # type: ignore[attr-defined]
        return view

    return state


def rights_of(view: Any, namespaces: Iterable[str] = ()) -> Mapping[str, Capability]:
    """Return the capability that each method of a view requires; empty if none is stated."""
    if hasattr(view, "actions"):
        return _rights_of_actions(view)
    inner = getattr(view, "view_class", None) or getattr(view, "cls", None) or view
    for holder in (view, inner):
        stated: Mapping[str, Capability] | None = getattr(holder, "rights", None)
        if stated is not None:
            return stated
    name = f"{inner.__module__}.{getattr(inner, '__qualname__', '')}"
    for package, rights in _OF_PACKAGES.items():
        if name.startswith(package):
            return rights
    return next((_OF_NAMESPACES[name] for name in namespaces if name in _OF_NAMESPACES), {})


@cache  # called several times for each request; the number of views is fixed
def _rights_of_actions(view: Any) -> Mapping[str, Capability]:
    """Return the capability of each method that an address maps to an action of a viewset."""
    rights: dict[str, Capability] = {}
    for method, name in view.actions.items():
        action = getattr(view.cls, name)
        holder = view.cls if action.__module__ == "rest_framework.mixins" else action
        stated: Mapping[str, Capability] = getattr(holder, "rights", {})
        verbs = ("GET", "HEAD") if method == "get" else (method.upper(),)
        rights |= {verb: stated[verb] for verb in verbs if verb in stated}
    return rights


def signed_in_user(request: "HttpRequest | Request") -> User:
    """Return the account behind a request that `RightsMiddleware` or a token's scope let in."""
    assert isinstance(request.user, User)
    return request.user


def person_may(user: User | AnonymousUser, capability: Capability) -> bool:
    """Return whether a person has a capability that does not come from a study."""
    if capability in {C.ANYONE, C.BY_KEY}:
        return True
    if not isinstance(user, User) or not user.is_active:
        return False
    if capability == C.SEE_RESOURCES:
        return user.is_lead or user.is_analyst or user.is_superuser
    if capability == C.CREATE_STUDIES:
        return user.leads
    if capability == C.ADMINISTER:
        return user.is_staff
    return capability in {C.SIGNED_IN, C.ANNOTATE}


def roles_with(capability: Capability) -> str:
    """Return the roles that have a capability as words: "a lead or an analyst"."""
    names = [role.words for role in Role if capability in CAPABILITIES[role]] or ["administrator"]
    words = [f"{'an' if name[0] in 'aeiou' else 'a'} {name}" for name in names]
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def powers_of(role: Role) -> str:
    """Return the powers of a role in its study, as a sentence for people who assign it."""
    article = "An" if role[0] in "aeiou" else "A"
    if CAPABILITIES[role] == OF_MEMBERS:
        return f"{article} {role.words} may see and do everything in the study."
    powers = [str(capability) for capability in Capability if capability in CAPABILITIES[role]]
    return f"{article} {role.words} may {'; '.join(powers[:-1])}; and {powers[-1]}."
