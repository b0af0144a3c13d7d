"""Tiny models once a session, and a study with pictures that need no model to be made."""

import io
from pathlib import Path

import pytest
from PIL import Image as Picture

from catalog.models import Attribute
from generation.images.storage import store_image
from generation.models import Image
from tests.analysis.scoring import tiny_models


@pytest.fixture(scope="session")
def models(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="session")
def clip(models) -> dict[str, str]:
    """What a lead would name: a JSON configuration and a file of weights."""
    config, weights = tiny_models.save_clip(models / "clip")
    return {"model_id": str(config), "pretrained": str(weights)}


@pytest.fixture(scope="session")
def bart(models) -> str:
    return str(tiny_models.save_bart(models / "bart"))


@pytest.fixture(scope="session")
def blip(models) -> str:
    return str(tiny_models.save_blip(models / "blip"))


@pytest.fixture(scope="session")
def distilbert(models) -> str:
    return str(tiny_models.save_distilbert(models / "distilbert"))


@pytest.fixture(scope="session")
def roberta(models) -> str:
    return str(tiny_models.save_roberta(models / "roberta"))


def picture(seed: int, *, size: tuple[int, int] = (48, 40)) -> bytes:
    """A PNG of coloured bands that no other seed gives."""
    image = Picture.new("RGB", size)
    for row in range(size[1]):
        colour = tuple((seed * 97 + row * step * 13) % 256 for step in (1, 2, 3))
        image.paste(colour, (0, row, size[0], row + 1))
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def add_images(
    study, number: int, *, first: int = 0, condition: str = "default", attribute: str = ""
) -> list[Image]:
    """Store `number` pictures for each group of the study."""
    made = []
    for group in study.groups.order_by("name"):
        for index in range(number):
            seed = first + 1000 * group.pk + index + 17 * len(condition) + 31 * len(attribute)
            stored = store_image(
                study=study,
                data=picture(seed),
                group=group,
                model_label="painter",
                condition=condition,
                attribute=Attribute.objects.get(text=attribute) if attribute else None,
            )
            made.append(stored.image)
    return made
