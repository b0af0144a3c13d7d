"""An open marking campaign with pictures, and somebody at a task of it."""

from tests.annotation.annotator.conftest import join
from tests.annotation.conftest import marking

__all__ = ["join", "marking"]
