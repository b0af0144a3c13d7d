"""Running of queued jobs during browser tests."""

from django.core.management import call_command


def finish_jobs(page) -> None:
    """Run queued jobs, as the worker of `make demo` does, and wait until the page shows that they are done.

    A page with progress reloads at the end, which would interrupt a test that opened another page just then.
    """
    call_command("db_worker", batch=True, startup_delay=False, interval=0.1, verbosity=0)
    progress = page.locator("[data-poll-reload]")
    while True:
        progress.first.wait_for(state="detached", timeout=90_000)
        page.wait_for_load_state()
        if progress.count() == 0:
            return
