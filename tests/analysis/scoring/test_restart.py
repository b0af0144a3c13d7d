"""Killed and resumed scoring leaves no image without a vector and a score, and none with two."""

import time

import pytest

from tests.foundation.database.own_database import own_server

pytestmark = [pytest.mark.slow, pytest.mark.models]

MAKE = """
import io
from PIL import Image as Picture
from catalog.models import Attribute
from generation.images.storage import store_image
from studies.models import StudyAssociation
from django.utils import timezone
study = Study.objects.create(name='Isles', slug='isles', seed=7, frozen_at=timezone.now())
group = StudyGroup.objects.create(study=study, name='Velmari', display_name='Velmari')
for text in ('tall hat', 'kite'):
    attribute = Attribute.objects.create(text=text)
    StudyAssociation.objects.create(study=study, group=group, attribute=attribute)
for number in range(100):
    file = io.BytesIO()
    Picture.new('RGB', (600, 600), (number, 2 * number % 256, 9)).save(file, 'PNG', compress_level=1)
    store_image(study=study, data=file.getvalue(), group=group, model_label='painter')
answer = study.images.count()
"""


def test_scoring_resumes_after_a_kill(tmp_path, clip):
    with own_server(tmp_path, JOB_LEASE_SECONDS="1", OMP_NUM_THREADS="1") as server:
        assert server.ask(MAKE) == 100
        chosen = ("--model", clip["model_id"], "--pretrained", clip["pretrained"], "--batch-size", "1")
        score = ("score", "--study", "isles", "--scorer", "clip", *chosen)
        vectors = "SELECT id FROM analysis_imageembedding"
        with server.start(*score) as scoring:
            end = time.monotonic() + 120
            while len(server.rows(vectors)) < 10:
                assert time.monotonic() < end, "no image is embedded"
                time.sleep(0.01)
            scoring.kill()
        before = {key for (key,) in server.rows(vectors)}
        assert 10 <= len(before) < 100
        time.sleep(1.2)
        assert "100 images scored." in server.run(*score).stdout
        # Existing rows are unchanged; the rest was added once.
        assert before < {key for (key,) in server.rows(vectors)}
        counted = "SELECT count(*), count(DISTINCT sha256) FROM analysis_imageembedding"
        assert server.rows(counted) == [(100, 100)]
        assert server.rows("SELECT count(*) FROM analysis_attributescore") == [(200,)]
        assert server.rows("SELECT outcome, count(*) FROM analysis_scoredimage GROUP BY outcome") == [
            ("done", 100)
        ]
