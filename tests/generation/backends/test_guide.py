"""The example of docs/develop/adding-a-backend.md behaves as the page describes."""

import re
from pathlib import Path

import pytest

from foundation.errors import DomainError
from generation.backends import BACKENDS
from generation.models import Image
from generation.runs.execution import run
from generation.runs.planning import plan_run
from jobs.progress.reporter import Unwatched

PAGE = Path(__file__).resolve().parents[3] / "docs" / "develop" / "adding-a-backend.md"


@pytest.fixture
def press(monkeypatch):
    """Register the back-end as a reader of the page would write it."""
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    module: dict = {}
    exec(code, module)
    backend = module["PressBackend"]()
    monkeypatch.setitem(BACKENDS, backend.name, backend)
    return backend


@pytest.mark.django_db
def test_the_example_of_the_page_makes_the_images_of_a_study(press, study, lead, prompts):
    planned = plan_run(study=study, backend="press", by=lead, parameters={"edge": 16})
    assert run(run=planned, progress=Unwatched()).done == 12
    image = Image.objects.first()
    assert (image.width, image.height, image.provenance["press"]) == (16, 16, "Velmari 1")
    planned.refresh_from_db()
    assert planned.model_revision == "1"


def test_the_example_refuses_invalid_parameters(press):
    with pytest.raises(DomainError, match="edge must be a whole number from 8 to 4096, not 3"):
        press.clean({"edge": 3}, groups=[])
