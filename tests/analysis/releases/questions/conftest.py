"""A study whose three campaigns ask declared questions of every type."""

import pytest

from studies.models import Study
from tests.analysis.questions.every_kind import answer_every_kind


@pytest.fixture
def asked(study) -> Study:
    """Answers to every question, and texts of the annotators p001 and p003."""
    answer_every_kind(study)
    return study
