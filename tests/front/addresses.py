"""Every address of the site with the right that each of its methods requires, and the tables made from them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver, resolve

from accounts.rights import (
    BY_BREAK_GLASS,
    CAPABILITIES,
    OF_ADMINISTRATORS,
    OF_MEMBERS,
    WITHOUT_MEMBERSHIP,
    Capability,
    Role,
    rights_of,
)

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
# Methods that Django's own view class adds, or that change nothing.
_NO_VERBS = {"HEAD", "OPTIONS", "TRACE"}


@dataclass(frozen=True)
class Address:
    """A pattern of addresses: its path, its name with namespaces, its view and the view's rights."""

    path: str
    name: str
    view: Any
    rights: Mapping[str, Capability]
    parameters: tuple[str, ...]

    @property
    def served(self) -> set[str]:
        """Return the methods that a viewset maps or a view class defines; of a function, the methods with a right."""
        if actions := getattr(self.view, "actions", None):
            return {name.upper() for name in actions} - _NO_VERBS
        inner = getattr(self.view, "view_class", None) or getattr(self.view, "cls", None)
        if inner is None:
            return set(self.rights) - _NO_VERBS
        names = {name.upper() for name in inner.http_method_names if hasattr(inner, name)}
        return names - _NO_VERBS


def addresses(
    resolver: URLResolver | None = None, path: str = "", namespaces: tuple[str, ...] = ()
) -> Iterator[Address]:
    """Yield every address except those of the admin site, which Django makes."""
    for entry in (resolver or get_resolver()).url_patterns:
        here = path + str(entry.pattern)
        if isinstance(entry, URLResolver):
            inner = (*namespaces, entry.namespace) if entry.namespace else namespaces
            if entry.namespace != "admin":
                yield from addresses(entry, here, inner)
        else:
            yield _address(entry, here, namespaces)


def _address(entry: URLPattern, path: str, namespaces: tuple[str, ...]) -> Address:
    name = ":".join((*namespaces, entry.name)) if entry.name else ""
    parameters = tuple(dict.fromkeys(part.split(">")[0].split(":")[-1] for part in path.split("<")[1:]))
    return Address(path, name, entry.callback, rights_of(entry.callback, namespaces), parameters)


def opened_by(role: Role, paths: Iterable[str]) -> list[str]:
    """Return those of the given pages of a study that a member with the role may open."""
    views = {path: resolve(path.partition("?")[0]) for path in paths}
    return [
        path
        for path, view in views.items()
        if rights_of(view.func, view.namespaces)["GET"] in CAPABILITIES[role]
    ]


def role_table() -> str:
    """Return the table of the rights of each role in its study, and of administrators in other studies."""
    rows = [
        f"| In a study, may … | {' | '.join(role.words for role in Role)} | administrator | by break-glass |",
        f"|---|{'---|' * (len(Role) + 2)}",
    ]
    for capability in Capability:
        if capability in OF_MEMBERS | OF_ADMINISTRATORS:
            columns = [CAPABILITIES[role] for role in Role] + [WITHOUT_MEMBERSHIP, BY_BREAK_GLASS]
            marks = " | ".join("yes" if capability in column else "" for column in columns)
            rows.append(f"| {capability} | {marks} |")
    return "\n".join(rows)


def address_table() -> str:
    """Return the table of the right that each method of each address requires."""
    rows = ["| address | method | requires | in a study, allowed to |", "|---|---|---|---|"]
    shown: set[str] = set()
    for address in sorted(addresses(), key=lambda address: address.path):
        path = "/" + address.path.replace("^", "").replace("$", "").replace("\\", "")
        if path.rstrip("/") in shown:  # the API accepts addresses with and without the last slash
            continue
        shown.add(path.rstrip("/"))
        for method in METHODS:
            if capability := address.rights.get(method):
                roles = [role.words for role in Role if capability in CAPABILITIES[role]]
                roles += ["administrator"] * (capability in WITHOUT_MEMBERSHIP)
                rows.append(
                    f"| `{path.replace('|', '&#124;')}` | {method} | {capability} | {', '.join(roles)} |"
                )
    return "\n".join(rows)
