"""axe-core (WCAG 2.2 AA) on current pages: in light and dark, on a desktop and on a phone with touch."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.e2e.conftest import DESKTOP

AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text(encoding="utf-8")
PHONE = {"width": 390, "height": 844}
EVERYTHING = {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}
# Rules whose result can differ between light and dark.
COLOURS = ["color-contrast", "link-in-text-block"]
# Rules whose result can differ on a narrow screen, where some elements are hidden and others shown.
SIZES = [*COLOURS, "target-size", "scrollable-region-focusable", "aria-hidden-focus", "button-name", "image-alt",
         "label", "link-name", "nested-interactive", "select-name", "summary-name", "svg-img-alt"]  # fmt: skip
FIND = """async (rules) => {
  const found = await axe.run(document, {runOnly: rules, resultTypes: ["violations"]});
  const words = (id, node) => `${id}: ${node.target} ${node.html.slice(0, 160)} ${node.failureSummary}`;
  return found.violations.flatMap(({id, nodes}) => nodes.map((node) => words(id, node)));
}"""
# Elements that make a page scroll horizontally: those beyond the right edge, except in parts that scroll themselves.
TOO_WIDE = """(width) => {
  const scrolls = (one) => getComputedStyle(one).overflowX !== "visible";
  const held = (one) => one !== document.body && (scrolls(one) || held(one.parentElement));
  if (document.documentElement.scrollWidth <= width) return [];
  const wide = [...document.body.querySelectorAll("*")].filter((one) => one.getBoundingClientRect().right > width + 1);
  const standOut = wide.filter((one) => !held(one.parentElement)).map((one) => one.outerHTML.slice(0, 120));
  return [`${document.documentElement.scrollWidth} px wide`, ...standOut.slice(0, 3)];
}"""


def sign_in(page, client, user, live_server) -> None:
    client.force_login(user)
    cookie = client.cookies["stereoscope_session"].value
    page.context.add_cookies([{"name": "stereoscope_session", "value": cookie, "url": live_server.url}])


def open_parts(page) -> None:
    """Open everything that can be opened, so that all content is checked."""
    page.wait_for_load_state()  # A click returns when the next page begins to arrive.
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")


class Look(NamedTuple):
    """A check of a page: screen, colour scheme and rules."""

    size: dict[str, int]
    scheme: str
    rules: dict[str, object]


LOOKS = (
    Look(DESKTOP, "light", EVERYTHING),
    Look(DESKTOP, "dark", {"type": "rule", "values": COLOURS}),
    Look(PHONE, "light", {"type": "rule", "values": SIZES}),
)
# For pages similar to others that are checked in all looks.
ONE_LOOK = (Look(PHONE, "dark", EVERYTHING),)


@contextmanager
def screen_of(page, size) -> Iterator[None]:
    """Give the page a screen of this size; on a phone, touch instead of a mouse."""
    session = page.context.new_cdp_session(page)
    session.send("Emulation.setTouchEmulationEnabled", {"enabled": size == PHONE})
    page.set_viewport_size(size)
    assert size != PHONE or page.evaluate("matchMedia('(pointer: coarse) and (hover: none)').matches")
    yield
    session.detach()
    page.set_viewport_size(DESKTOP)


def violations(page, looks=LOOKS) -> list[str]:
    """Return axe's violations on the current page, in each look, and elements that make a phone scroll horizontally."""
    page.wait_for_load_state()
    page.evaluate(AXE)
    found: set[str] = set()
    for size, scheme, rules in looks:
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        with screen_of(page, size):
            # At the end of the page, the sticky row of buttons covers nothing.
            page.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)")
            faults = page.evaluate(FIND, rules)
            if size == PHONE:
                faults += [f"scrolls sideways: {one}" for one in page.evaluate(TOO_WIDE, size["width"])]
        found |= {f"{scheme} {size['width']} {one}" for one in faults}
    return sorted(found)


def visit(page, address, *, status: int = 200, looks=LOOKS) -> list[str]:
    assert page.goto(address).status == status, address
    open_parts(page)
    return [f"{address} {one}" for one in violations(page, looks)]


def wrong(page, addresses, looks=LOOKS) -> list[str]:
    return [one for address in addresses for one in visit(page, address, looks=looks)]
