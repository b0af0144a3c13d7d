"""Access to studies. The default is to deny: without a declared right and a membership, there is no access."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple, cast

from django.contrib.auth.models import AnonymousUser
from django.contrib.auth.views import redirect_to_login
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.urls import resolve
from django.utils import timezone
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from accounts.models import User
from accounts.rights import (
    BY_BREAK_GLASS,
    CAPABILITIES,
    OF_PERSONS,
    WITHOUT_MEMBERSHIP,
    Capability,
    Role,
    person_may,
    rights_of,
    roles_with,
)
from foundation.database.statements import rows
from foundation.database.values import moment_value
from foundation.errors import DomainError, Forbidden, NotFound
from studies.models import BreakGlass, Study, StudyMembership
from web.middleware import error_page

Person = User | AnonymousUser
AnyRequest = HttpRequest | Request
_METHODS_WITHOUT_RIGHT = {"OPTIONS", "TRACE"}  # the views themselves refuse these


def studies_where(user: Person, capability: Capability) -> QuerySet[Study]:
    """Return the studies in which `user` has a capability; administrators have WITHOUT_MEMBERSHIP in all."""
    if user.is_authenticated and user.is_active and user.is_superuser and capability in WITHOUT_MEMBERSHIP:
        return Study.objects.all()
    return _studies_opened_to(user, capability)


def _studies_opened_to(user: Person, capability: Capability) -> QuerySet[Study]:
    """Return the studies in which `user` has the capability by a role or by break-glass."""
    if not user.is_authenticated or not user.is_active:
        return Study.objects.none()
    roles = [role for role, capabilities in CAPABILITIES.items() if capability in capabilities]
    members = StudyMembership.objects.filter(user=user, role__in=roles)
    opened = Q(pk__in=members.values("study"))
    if user.is_superuser and capability in BY_BREAK_GLASS:
        opened |= Q(pk__in=BreakGlass.objects.in_force().filter(user=user).values("study"))
    return Study.objects.filter(opened)


def studies_visible_to(user: Person) -> QuerySet[Study]:
    """Return the studies of which `user` is a member; all studies for administrators."""
    return studies_where(user, Capability.SEE_STUDY)


def studies_with_readable_jobs(user: Person) -> QuerySet[Study]:
    """Return the studies in which `user` may read the results of jobs, and not only their progress."""
    return _studies_opened_to(user, Capability.SEE_JOBS)


def studies_with_visible_jobs(user: Person) -> QuerySet[Study]:
    return studies_where(user, Capability.SEE_JOBS)


def studies_with_jobs_to_steer(user: Person) -> QuerySet[Study]:
    return studies_where(user, Capability.STEER_JOBS)


def study_for(request: AnyRequest, slug: str) -> Study:
    """Return the study if the person has the capability that the address requires in it.

    Raises NotFound, not Forbidden, for a study that the person may not know of.
    """
    study = _find(request, slug)
    require(request, study)
    return study


def require(request: AnyRequest, study: Study) -> None:
    """Raise Forbidden or NotFound if the person lacks the right in `study` that the address requires."""
    capability = required(request)
    if not may(request, study, capability):
        if not capabilities_in(request, study):
            raise _not_found()
        raise Forbidden("not_in_role", f"Only {roles_with(capability)} of this study may do this.")


def may(request: AnyRequest, study: Study, capability: Capability) -> bool:
    """Return whether the requesting person has a capability in `study`."""
    return capability in capabilities_in(request, study)


def may_open(request: AnyRequest, study: Study, address: str) -> bool:
    """Return whether the person may open an address of `study`; pages show only such links."""
    return right_to_open(address.partition("?")[0]) in capabilities_in(request, study)


@lru_cache(maxsize=4096)
def right_to_open(path: str) -> Capability | None:
    """Return the capability that a GET of the path requires."""
    match = resolve(path)
    return rights_of(match.func, match.namespaces).get("GET")


def capabilities_in(request: AnyRequest, study: Study) -> frozenset[Capability]:
    """Return all capabilities of the person in `study`, cached for the request."""
    return _access_to(request, study).capabilities


def is_opened_by_break_glass(request: AnyRequest, study: Study) -> bool:
    """Return whether an administrator, perhaps another person, has opened `study` by break-glass at present."""
    return _access_to(request, study).is_opened_by_break_glass


def required(request: AnyRequest) -> Capability:
    """Return the capability that the address requires for the request's method."""
    capability = right_of(request, request.method or "")
    if capability is None:
        raise Forbidden("no_right_stated", "Nobody may do this.")
    return capability


def right_of(request: AnyRequest, method: str) -> Capability | None:
    """Return the capability that the address requires for a method, or None for methods not served."""
    match = request.resolver_match
    return rights_of(match.func, match.namespaces).get(method) if match else None


def _find(request: AnyRequest, slug: str) -> Study:
    """Return a study with its resource, whoever asks; raise NotFound if there is none."""
    studies: dict[str, Study] = _store(request).setdefault("studies", {})
    if slug not in studies:
        if "\x00" in slug:  # PostgreSQL does not accept NUL in text
            raise _not_found()
        study = Study.objects.select_related("resource").filter(slug=slug).order_by().first()
        if study is None:
            raise _not_found()
        studies[slug] = study
    return studies[slug]


def _not_found() -> NotFound:
    return NotFound("study_not_found", "This study does not exist, or you are not a member of it.")


# Written by hand, because Django needs longer to build these queries (0.8 ms) than a database to answer this one
# (0.02 ms), and each page of a study asks.
_ROLES_AND_GLASSES = """
SELECT role, NULL FROM studies_studymembership WHERE study_id = %(study)s AND user_id = %(user)s
UNION ALL
SELECT NULL, user_id FROM studies_breakglass WHERE study_id = %(study)s AND ended_at IS NULL AND ends_at > %(now)s
"""


class Access(NamedTuple):
    """What a person may do in a study, and whether any administrator has opened it by break-glass."""

    capabilities: frozenset[Capability]
    is_opened_by_break_glass: bool


def _access_to(request: AnyRequest, study: Study) -> Access:
    known: dict[int, Access] = _store(request).setdefault(request.user.pk, {})
    if study.pk not in known:
        known[study.pk] = _load_access(request.user, study)
    return known[study.pk]


def _load_access(user: Person, study: Study) -> Access:
    if not user.is_authenticated or not user.is_active:
        return Access(frozenset(), is_opened_by_break_glass=False)
    now = moment_value(timezone.now())
    lines = rows(_ROLES_AND_GLASSES, {"study": study.pk, "user": user.pk, "now": now})
    roles = {role for role, _ in lines if role is not None}
    opened_by = {opener for _, opener in lines if opener is not None}
    capabilities = frozenset().union(*(CAPABILITIES.get(role, frozenset()) for role in roles))
    if user.is_superuser:
        if roles:  # a member must ask for another role instead of break-glass
            capabilities |= WITHOUT_MEMBERSHIP - {Capability.BREAK_GLASS}
        else:
            capabilities = WITHOUT_MEMBERSHIP | (BY_BREAK_GLASS if user.pk in opened_by else frozenset())
    return Access(capabilities, is_opened_by_break_glass=bool(opened_by))


def _store(request: AnyRequest) -> dict[Any, Any]:
    """Return the cache of this request, shared by Django and REST framework."""
    plain = request._request if isinstance(request, Request) else request
    return cast("dict[Any, Any]", plain.__dict__.setdefault("_study_access", {}))


class RightsMiddleware:
    """Refuse a page, before its view runs, to people who lack the required right.

    The API authenticates later, so `HasRight` checks its requests.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Callable[..., Any], _places: Any, kwargs: dict[str, Any]
    ) -> HttpResponse | None:
        if hasattr(view, "cls"):  # a view of REST framework
            return None
        match = request.resolver_match
        rights = rights_of(view, match.namespaces if match else ())
        if rights and request.method not in rights:
            return HttpResponseNotAllowed(list(rights))
        try:
            capability = required(request)
            if capability not in {Capability.ANYONE, Capability.BY_KEY} and not request.user.is_authenticated:
                if prepare := getattr(getattr(view, "view_class", None), "before_sign_in", None):
                    prepare(request)
                return redirect_to_login(request.get_full_path())
            check(request, kwargs)
        except DomainError as error:
            return error_page(request, error)
        return None


class HasRight(BasePermission):
    """Refuse an address of the API to people who lack the required right."""

    def has_permission(self, request: Request, view: Any) -> bool:
        if request.method in _METHODS_WITHOUT_RIGHT or not hasattr(view, (request.method or "").lower()):
            return True  # answered with 405
        check(request, view.kwargs)
        return True


def check(request: AnyRequest, kwargs: dict[str, Any]) -> None:
    """Raise Forbidden or NotFound if the person lacks the right that the address requires.

    If the address names a study, its membership is checked here. If it names another object (a campaign, a job), the
    function that finds the object calls `require` with its study.
    """
    capability = required(request)
    if capability in OF_PERSONS:
        if not person_may(request.user, capability):
            raise Forbidden("not_allowed", f"You may not {capability}.")
    elif slug := kwargs.get("study") or kwargs.get("slug"):
        study_for(request, slug)


def groups_of(user: User) -> set[str]:
    """Return the groups to which `user` belongs through studies: "leads", and "analysts" for all other members.

    Second factors can be required of these groups; coordinators and data stewards count as analysts.
    """
    roles = StudyMembership.objects.filter(user=user).values_list("role", flat=True).distinct()
    return {"leads" if role == Role.LEAD else "analysts" for role in roles}
