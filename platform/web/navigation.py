"""Links that apps register at start, so that lower apps need not know higher ones: navigation and next steps."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.urls import reverse


@dataclass(frozen=True)
class Link:
    """A link of the main navigation; `shown_to` decides whether a signed-in person sees it."""

    label: str
    url_name: str
    order: int
    shown_to: Callable[[Any], bool]

    @property
    def url(self) -> str:
        return reverse(self.url_name)


@dataclass(frozen=True)
class NextPage:
    """A link to what people usually do next."""

    label: str
    url: str


NextSteps = Callable[[Any], list[NextPage]]
_links: dict[str, Link] = {}
_next_steps: dict[str, list[NextSteps]] = {}
_account: dict[str, str] = {}


def everyone(_user: Any) -> bool:
    return True


def register_link(
    label: str, url_name: str, *, order: int, shown_to: Callable[[Any], bool] = everyone
) -> None:
    """Add a link to the main navigation; links are sorted by `order`."""
    _links[url_name] = Link(label, url_name, order, shown_to)


def register_account(*, sign_in: str, sign_out: str) -> None:
    """Set the URL names for signing in and out."""
    _account.update(sign_in=sign_in, sign_out=sign_out)


def links_for(user: Any) -> list[Link]:
    """Return the links that a person sees, in order."""
    return sorted((link for link in _links.values() if link.shown_to(user)), key=lambda link: link.order)


def register_next_steps(after: str, steps: NextSteps) -> None:
    """Offer the links of `steps` on the page that follows `after`, such as a kind of job."""
    _next_steps.setdefault(after, []).append(steps)


def next_steps(after: str, subject: Any) -> list[NextPage]:
    """Return the next steps that apps offer; `subject` is the object made, imported or finished."""
    return [step for steps in _next_steps.get(after, ()) for step in steps(subject)]


def sign_in_url() -> str:
    return reverse(_account["sign_in"])


def sign_out_url() -> str:
    return reverse(_account["sign_out"])
