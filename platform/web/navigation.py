"""The main navigation: apps register their links when they start, so that this app names none above it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.urls import reverse


@dataclass(frozen=True)
class Link:
    """A link of the main navigation; `shown_to` says of a person who is signed in whether they see it."""

    label: str
    url_name: str
    order: int
    shown_to: Callable[[Any], bool]

    @property
    def url(self) -> str:
        return reverse(self.url_name)


_links: dict[str, Link] = {}
_account: dict[str, str] = {}


def everyone(_user: Any) -> bool:
    return True


def register_link(
    label: str, url_name: str, *, order: int, shown_to: Callable[[Any], bool] = everyone
) -> None:
    """Add a link to the main navigation; links stand in the order of their numbers."""
    _links[url_name] = Link(label, url_name, order, shown_to)


def register_account(*, sign_in: str, sign_out: str) -> None:
    """Say by which addresses, given by their names, people sign in and out."""
    _account.update(sign_in=sign_in, sign_out=sign_out)


def links_for(user: Any) -> list[Link]:
    """Return the links that this person sees, in the order of the page."""
    return sorted((link for link in _links.values() if link.shown_to(user)), key=lambda link: link.order)


def sign_in_url() -> str:
    return reverse(_account["sign_in"])


def sign_out_url() -> str:
    return reverse(_account["sign_out"])
