"""The worker beside the server of a browser test."""

from django.core.management import call_command


def finish_jobs(page) -> None:
    """Do what is queued, as the worker of `make demo` does, and wait until the page shows that it is done.

    A page that shows progress loads itself again at the end; a test that went elsewhere just then would be thrown back.
    """
    call_command("db_worker", batch=True, startup_delay=False, interval=0.1, verbosity=0)
    progress = page.locator("[data-poll-reload]")
    while True:
        progress.first.wait_for(state="detached", timeout=90_000)
        page.wait_for_load_state()
        if progress.count() == 0:
            return
