import io

import pytest
from PIL import Image as Picture

from generation.prompts.creation import set_prompts


@pytest.fixture
def prompts(study, lead):
    """Two prompts with three images each: twelve images for the study's two groups."""
    return set_prompts(
        study=study,
        templates=["a photo of {a_an} {id} person", "{A_an} {id} person"],
        images_per_prompt=3,
        by=lead,
    )


@pytest.fixture
def picture():
    """Return the bytes of a small picture; pictures differ by `colour`."""

    def make(colour=(10, 120, 200), *, size=(40, 30), kind="PNG", **options):
        file = io.BytesIO()
        Picture.new("RGB", size, colour).save(file, kind, **options)
        return file.getvalue()

    return make
