import socket
from typing import Any

from foundation.commands import DomainCommand
from foundation.errors import NotFound
from jobs.engine.workers import alive


class Command(DomainCommand):
    help = (
        "Check whether a worker on this machine (by host name) has reported within a lease. The command "
        "exits with 1 if no worker has reported."
    )
    example = "python manage.py check_worker"

    def handle(self, *args: Any, **options: Any) -> None:
        host = socket.gethostname()[:80]
        names = list(alive().filter(host=host).values_list("name", flat=True))
        if not names:
            raise NotFound("no_worker", f"No worker on {host} has reported within a lease.")
        self.stdout.write("\n".join(names))
