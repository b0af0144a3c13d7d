"""Helpers for tests by keyboard alone: Tab moves the focus, which must be visible everywhere."""

import pytest

FAR = 120  # presses of Tab after which the target counts as unreachable
SPARE = 6  # presses for the page itself, and for parts that are scrolled by keys
# The focused element looks different from others, and is in the window, not covered by sticky parts.
SEEN = """(element) => {
  if (element.matches("h1, main")) return true;
  if (!element.matches(":focus")) return true;  // the browser's own button in a field for a date, with its own ring
  const outlined = (one) => {
    const {outlineStyle, outlineWidth} = getComputedStyle(one);
    return outlineStyle !== "none" && parseFloat(outlineWidth) >= 2;
  };
  const holder = element.closest("label") ?? element;
  const {left, top, right, bottom} = element.getBoundingClientRect();
  const inFront = [0.1, 0.5, 0.9].some((x) => [0.1, 0.5, 0.9].some((y) => {
    const hit = document.elementFromPoint(left + x * (right - left), top + y * (bottom - top));
    return hit && (holder.contains(hit) || hit.contains(element));
  }));
  return inFront && (outlined(element) || outlined(holder));
}"""
# All elements that Tab reaches, with one radio button per name.
STOPS = """() => {
  const names = new Set();
  const stops = document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex]");
  window.stops = [...stops].filter((one) => {
    if (one.tabIndex < 0 || one.disabled || one.type === "hidden") return false;
    if (!one.checkVisibility({visibilityProperty: true})) return false;
    if (one.type !== "radio") return true;
    return !names.has(one.name) && names.add(one.name);
  });
  return window.stops.length;
}"""
# The index of the focus among these elements, and whether it is visible.
HERE = f"""() => {{
  const here = document.activeElement;
  const number = window.stops.findIndex((one) => one === here || (one.type === "radio" && one.name === here.name));
  return [number, here === document.body || ({SEEN})(here), here.outerHTML.slice(0, 200)];
}}"""


def has_focus(target) -> bool:
    return bool(target.evaluate("(element) => element === document.activeElement"))


def go(page, target, key: str = "Tab") -> None:
    """Press Tab until the target has the focus."""
    for _ in range(FAR):
        if has_focus(target):
            assert target.evaluate(SEEN), f"nothing shows that {target} has the focus"
            return
        page.keyboard.press(key)
    pytest.fail(f"{key} never comes to {target}")


def press(page, target, key: str = "Enter") -> None:
    go(page, target)
    page.keyboard.press(key)


def follow(page, target) -> None:
    """Activate an element that leads to another page."""
    go(page, target)
    with page.expect_navigation():
        page.keyboard.press("Enter")


def write(page, target, text: str) -> None:
    """Replace the content of a field."""
    go(page, target)
    page.keyboard.press("Control+a")
    page.keyboard.type(text)


def button(page, name: str):
    return page.locator("main").get_by_role("button", name=name, exact=True)


def main_link(page, name: str):
    return page.locator("main").get_by_role("link", name=name)


def skip_to_content(page) -> None:
    """From the top of a page, use its first stop: the link past its header."""
    page.keyboard.press("Tab")
    assert has_focus(page.locator(".skip-link")), "the first stop is not the link to the content"
    assert page.locator(".skip-link").evaluate(SEEN)
    page.keyboard.press("Enter")
    assert has_focus(page.locator("main"))
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('main') !== null")


def walk_through(page) -> None:
    """Press Tab through a whole page: each element is visible, none is skipped, and none traps the focus."""
    missing = set(range(page.evaluate(STOPS)))
    for _ in range(len(missing) + SPARE):
        page.keyboard.press("Tab")
        number, seen, element = page.evaluate(HERE)
        assert seen, f"{page.url}: not seen: {element}"
        missing.discard(number)
        if not missing:
            return
    names = page.evaluate("(all) => all.map((one) => window.stops[one].outerHTML.slice(0, 200))", [*missing])
    pytest.fail(f"{page.url}: Tab never comes to {names}")
