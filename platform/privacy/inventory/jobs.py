"""Tables of jobs and their messages."""

from studies.personal_data import nothing

JOBS = (
    nothing(
        "jobs.Job",
        "kind queue team study_id created_by state step steps_done steps_total rate error_code attempts deaths "
        "fewest_left cancel_requested worker heartbeat_at lease_expires_at queued_at wait_until created_at started_at "
        "finished_at",
        mentions="title arguments message error result",
    ),
    nothing("jobs.JobLine", "job at", mentions="text"),
    nothing("jobs.Worker", "name host queues started_at heartbeat_at idle_since"),
    nothing(
        "django_tasks_database.DBTaskResult",
        "status enqueued_at started_at finished_at priority task_path worker_ids queue_name backend_name run_after "
        "exception_class_path",
        mentions="args_kwargs return_value traceback",
    ),
)
