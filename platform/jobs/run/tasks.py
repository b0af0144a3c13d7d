"""What the queue engine carries: the key of a job."""

from django_tasks import task


@task()
def run_job(job_id: int) -> None:
    """Do the job of this key."""
    from jobs.run.execution import execute

    execute(job_id)
