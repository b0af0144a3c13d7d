"""The tabs of a study, which apps register at start, so that this app need not know them."""

from collections.abc import Callable
from dataclasses import dataclass

from django.urls import reverse


@dataclass(frozen=True)
class Tab:
    """A page of each study, whose URL takes only the study's slug."""

    label: str
    url_name: str
    order: int
    protocol: str  # protocol of the studies with the tab; "" for all


_tabs: dict[str, Tab] = {}


def register_tab(label: str, url_name: str, *, order: int, protocol: str = "") -> None:
    """Add a tab to the pages of all studies, or of the studies of a protocol; tabs are sorted by `order`."""
    _tabs[url_name] = Tab(label, url_name, order, protocol)


def tabs_of(study_slug: str, *, opens: Callable[[str], bool], protocol: str = "") -> list[tuple[str, str]]:
    """Return (label, address) of the study's tabs that a person may open, in order."""
    tabs = [
        tab for tab in sorted(_tabs.values(), key=lambda tab: tab.order) if tab.protocol in ("", protocol)
    ]
    addresses = [(tab.label, reverse(tab.url_name, args=[study_slug])) for tab in tabs]
    return [(label, address) for label, address in addresses if opens(address)]
