"""Models get pictures as people see them."""

import io

import numpy as np
import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from PIL import Image as Picture

from analysis.scoring.inputs.pictures import StoredFile, read_picture

pytestmark = pytest.mark.database_free


def read(picture: Picture.Image, **options) -> np.ndarray:
    file = io.BytesIO()
    picture.save(file, "PNG", **options)
    name = default_storage.save("pictures/one.png", ContentFile(file.getvalue()))
    try:
        found = read_picture(StoredFile("", name))
    finally:
        default_storage.delete(name)
    assert found.mode == "RGB"
    return np.asarray(found)


def test_transparent_pixels_become_white():
    clear = Picture.new("RGBA", (2, 1), (0, 0, 0, 0))
    clear.putpixel((1, 0), (200, 0, 0, 255))
    assert read(clear).tolist() == [[[255, 255, 255], [200, 0, 0]]]
    palette = Picture.new("P", (2, 1), 0)
    palette.putpalette([9, 9, 9, 20, 30, 40])
    palette.putpixel((1, 0), 1)
    assert read(palette, transparency=0).tolist() == [[[255, 255, 255], [20, 30, 40]]]


def test_sixteen_bits_keep_their_shades():
    shades = np.array([[0, 257, 257 * 128, 65535]], dtype=np.uint16)
    assert read(Picture.fromarray(shades))[0, :, 0].tolist() == [0, 1, 128, 255]
