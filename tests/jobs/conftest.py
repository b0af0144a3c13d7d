import pytest

from jobs.run import registry
from jobs.run.execution import prepare


@pytest.fixture(scope="session", autouse=True)
def _kinds_of_jobs():
    """Register the jobs of `steps` in this process too."""
    import tests.jobs.steps.background  # noqa: F401

    assert {"steps", "refuse", "break"} <= set(registry._handlers)


@pytest.fixture
def make_job(lead, study, tmp_path):
    """Create a job of the study, as `lead`."""

    def make(kind="steps", *, by=lead, study_id=study.pk, **arguments):
        arguments = {"file": str(tmp_path / "done"), "steps": 3, **arguments}
        return prepare(kind=kind, title=f"A {kind} job", arguments=arguments, by=by, study_id=study_id)

    return make
