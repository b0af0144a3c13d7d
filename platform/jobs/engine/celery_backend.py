"""The django-tasks API over Celery, which sends enqueued tasks to a broker (Redis, RabbitMQ)."""

from typing import Any

from django.conf import settings
from django.core import checks
from django.utils import timezone
from django_tasks.backends.base import BaseTaskBackend
from django_tasks.base import Task, TaskResult, TaskResultStatus
from django_tasks.signals import task_enqueued

from jobs.engine.queues import QueueUnreachable


class CeleryBackend(BaseTaskBackend):
    """Sends tasks without storing results, because the row of a job has its state and result."""

    def enqueue(self, task: Task[Any, Any], args: Any, kwargs: Any) -> TaskResult[Any]:
        """Send the task to its queue; raise QueueUnreachable if the broker does not answer."""
        # Imported here so that only servers with a broker load Celery.
        from kombu.exceptions import OperationalError

        from jobs.engine.celery_app import queue_named, run_task

        self.validate_task(task)
        try:
            sent = run_task.apply_async(
                args=[task.module_path, list(args), dict(kwargs)], queue=queue_named(task.queue_name)
            )
        except (OperationalError, OSError) as error:
            # Only the type, because the text may contain the broker's address with its password.
            raise QueueUnreachable(type(error).__name__) from error
        result: TaskResult[Any] = TaskResult(
            task=task,
            id=sent.id,
            status=TaskResultStatus.READY,
            enqueued_at=timezone.now(),
            started_at=None,
            last_attempted_at=None,
            finished_at=None,
            args=list(args),
            kwargs=dict(kwargs),
            backend=self.alias,
            errors=[],
            worker_ids=[],
        )
        task_enqueued.send(type(self), task_result=result)
        return result

    def check(self, **kwargs: Any) -> list[checks.CheckMessage]:  # noqa: ARG002
        """Refuse to start without a broker, because jobs would wait for ever."""
        if settings.CELERY_BROKER_URL:
            return []
        return [
            checks.Error(
                "Jobs are sent by Celery, but CELERY_BROKER_URL names no broker.",
                hint="Set CELERY_BROKER_URL, or unset TASKS_BACKEND to use the database.",
                id="stereoscope.E003",
            )
        ]
