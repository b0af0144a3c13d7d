import pytest


@pytest.fixture
def study(study):
    """The study of two invented peoples as a simulated one: its pages offer drawings of invented figures."""
    study.simulated = True
    study.save(update_fields=["simulated"])
    return study
