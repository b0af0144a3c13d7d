"""Celery as an engine; it delivers only keys of jobs to workers."""

from typing import Any

from celery import Celery
from django.conf import settings
from django.db import close_old_connections
from django.utils.module_loading import import_string
from django_tasks.base import Task
from kombu.entity import Queue

from jobs.engine.queues import DEFAULT, QUEUES


def queue_named(name: str) -> str:
    """Return the name of a queue at the broker."""
    return f"{settings.CELERY_QUEUE_PREFIX}.{name}"


_queue: Any = Queue  # Kombu has no type annotations
app = Celery("stereoscope", broker=settings.CELERY_BROKER_URL, set_as_current=False)
app.conf.update(
    task_queues=[_queue(queue_named(name), routing_key=queue_named(name)) for name in QUEUES],
    task_default_queue=queue_named(DEFAULT),
    task_serializer="json",
    accept_content=["json"],
    task_ignore_result=True,
    # Workers acknowledge a message after its job and prefetch none, so none waits behind a long job.
    # A message delivered twice is harmless, because a job can be claimed only once.
    task_acks_late=True,
    worker_prefetch_multiplier=1,
    worker_cancel_long_running_tasks_on_connection_loss=False,
    worker_hijack_root_logger=False,
    worker_enable_remote_control=False,
    worker_send_task_events=False,
    broker_connection_retry_on_startup=True,
    broker_connection_max_retries=None,
    broker_connection_timeout=3,
    # Do not retry while a person waits for a page; the sweeper sends the message later.
    task_publish_retry=False,
    broker_transport_options={"socket_connect_timeout": 3, "socket_timeout": 10},
)


def _run_task(path: str, args: list[Any], kwargs: dict[str, Any]) -> None:
    """Run the task of the django-tasks API at an import path."""
    task = import_string(path)
    if not isinstance(task, Task):
        raise TypeError(f"{path} is not a task.")
    close_old_connections()
    try:
        task.call(*args, **kwargs)
    finally:
        close_old_connections()


run_task: Any = app.task(name="jobs.run_task")(_run_task)
