"""The tabs of a study: the apps above register them when they start, so that this app names none of them."""

from collections.abc import Callable
from dataclasses import dataclass

from django.urls import reverse


@dataclass(frozen=True)
class Tab:
    """A page of each study, at an address that takes the study's slug alone."""

    label: str
    url_name: str
    order: int
    protocol: str  # of the studies that have it; "" for all


_tabs: dict[str, Tab] = {}


def register_tab(label: str, url_name: str, *, order: int, protocol: str = "") -> None:
    """Add a tab to the pages of every study, or of the studies of a protocol. Tabs are ordered by their numbers."""
    _tabs[url_name] = Tab(label, url_name, order, protocol)


def tabs_of(study_slug: str, *, opens: Callable[[str], bool], protocol: str = "") -> list[tuple[str, str]]:
    """Return label and address of the study's tabs that a person may open, in the order of the page."""
    tabs = [
        tab for tab in sorted(_tabs.values(), key=lambda tab: tab.order) if tab.protocol in ("", protocol)
    ]
    addresses = [(tab.label, reverse(tab.url_name, args=[study_slug])) for tab in tabs]
    return [(label, address) for label, address in addresses if opens(address)]
