"""Opening a draft in the browser."""


def open_with_waivers(page) -> None:
    """From the page of a draft: read its checklist, waive missing points, and open it."""
    page.get_by_role("link", name="Open campaign").click()
    page.get_by_role("heading", name="Checklist").wait_for()
    for box in page.get_by_role("checkbox").all():
        box.check()
    page.get_by_label("Reason").fill("A test in a browser.")
    page.get_by_role("button", name="Waive").click()
    page.get_by_role("button", name="Open campaign").click()


def open_simulated(page) -> None:
    """From the page of a draft in a simulated study, which has no checklist: open it."""
    page.get_by_role("link", name="Open campaign").click()
    page.get_by_text("Nothing is checked in a simulated study").wait_for()
    page.get_by_role("button", name="Open campaign").click()
