"""The task that the engine delivers; its argument is the key of a job."""

from django_tasks import task


@task()
def run_job(job_id: int) -> None:
    """Run the job with this key."""
    from jobs.run.execution import execute

    execute(job_id)
