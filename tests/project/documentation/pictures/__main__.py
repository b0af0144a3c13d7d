"""Take all pictures again: `make pictures`. Files that would look the same stay unchanged."""

import shutil
import sys

from playwright.sync_api import sync_playwright

from tests.project.documentation.pictures.server import serving
from tests.project.documentation.pictures.tutorial import take_overview, take_tutorial


def main() -> None:
    chromium = shutil.which("chromium")
    if chromium is None:
        sys.exit("Chromium is not installed.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        with serving(demo=False) as server:
            changed = take_tutorial(browser, server)
        with serving(demo=True) as server:
            changed += take_overview(browser, server)
        browser.close()
    print("\n".join(f"docs/images/{name}.png" for name in changed) or "All pictures look as before.")


if __name__ == "__main__":
    main()
