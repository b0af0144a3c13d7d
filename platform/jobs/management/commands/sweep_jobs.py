from typing import Any

from foundation.commands import DomainCommand
from jobs.run.recovery import sweep


class Command(DomainCommand):
    help = "Queue jobs of dead workers again. You can run this command at any time."
    example = "python manage.py sweep_jobs"

    def handle(self, *args: Any, **options: Any) -> None:
        swept = sweep()
        self.stdout.write(
            f"{len(swept.requeued)} queued again, {len(swept.redelivered)} announced again, "
            f"{len(swept.given_up)} given up."
        )
