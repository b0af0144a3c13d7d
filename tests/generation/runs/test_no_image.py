"""Images with non-finite values or a single colour are failures, whatever the model."""

import numpy as np
import pytest
from PIL import Image as Picture

from foundation.errors import DomainError
from generation.backends import BACKENDS
from generation.backends.base import Drawn, ImageRequest
from generation.backends.diffusers.backend import DiffusersBackend
from generation.backends.sketch.backend import SketchBackend
from generation.images.storage import BlankImage, keep_drawn
from generation.models import GenerationRequest, Image
from generation.runs.execution import run
from generation.runs.planning import plan_run
from jobs.progress.reporter import Unwatched
from tests.generation.backends.images_endpoint import image, images_endpoint
from tests.generation.backends.tiny_pipeline import save_tiny_pipeline
from tests.generation.backends.tiny_pipelines import save_tiny_if

QUICK = {"num_inference_steps": 2, "width": 32, "height": 32, "device": "cpu"}
tiny_models = [
    pytest.mark.models,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]


def marked(test):
    for mark in tiny_models:
        test = mark(test)
    return test


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    pytest.importorskip("diffusers", reason="the full requirements are not installed")
    return save_tiny_pipeline(tmp_path_factory.mktemp("models") / "tiny")


def load(folder, **parameters):
    backend = DiffusersBackend()
    return backend.load(model_id=str(folder), parameters=backend.clean({**QUICK, **parameters}, groups=[]))


def broken(folder, to, number=float("nan")):
    """The pipeline with a single non-finite weight."""
    from diffusers import StableDiffusionPipeline

    pipeline = StableDiffusionPipeline.from_pretrained(folder)
    pipeline.vae.decoder.conv_out.bias.data[0] = number
    pipeline.save_pretrained(to)
    return to


@marked
@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_picture_with_a_non_finite_value_fails(folder, tmp_path, number):
    answer = load(broken(folder, tmp_path / "broken", number)).draw(ImageRequest("a person", 1))
    assert (answer.outcome, answer.picture) == ("failed", None)
    assert answer.reason == "The model computed numbers that are not finite (NaN) in float32."
    half = load(tmp_path / "broken", dtype="bfloat16").draw(ImageRequest("a person", 1))
    assert half.remedy == "The model computes in bfloat16: choose dtype float32."


@marked
def test_in_a_batch_only_images_with_non_finite_values_fail(folder):
    import torch

    model = load(folder, batch_size=3)
    decode = model._pipeline.vae.decode

    def with_a_hole(*args, **options):
        decoded = decode(*args, **options)
        decoded[0][1] = torch.nan
        return decoded

    model._pipeline.vae.decode = with_a_hole
    answers = model.draw_together([ImageRequest("a person", seed) for seed in (1, 2, 3)])
    assert [answer.outcome for answer in answers] == ["done", "failed", "done"]
    # The next call begins afresh.
    model._pipeline.vae.decode = decode
    assert model.draw(ImageRequest("a person", 1)).outcome == "done"


@marked
def test_a_pipeline_without_an_image_processor_is_checked_too(tmp_path):
    import torch

    model = load(save_tiny_if(tmp_path / "if"))
    assert model.draw(ImageRequest("a person", 1)).outcome == "done"
    model._pipeline.unet.conv_out.bias.data[:] = torch.nan
    assert model.draw(ImageRequest("a person", 1)).outcome == "failed"


@marked
def test_the_check_for_finite_values_changes_no_byte_of_a_picture(folder):
    import torch
    from diffusers import StableDiffusionPipeline

    pipeline = StableDiffusionPipeline.from_pretrained(folder, safety_checker=None)
    size = {name: QUICK[name] for name in ("num_inference_steps", "width", "height")}
    bare = pipeline("a person", generator=torch.Generator("cpu").manual_seed(5), **size).images[0]
    drawn = load(folder).draw(ImageRequest("a person", 5)).picture
    assert drawn.tobytes() == bare.tobytes()


@marked
@pytest.mark.django_db
def test_five_in_a_row_stop_the_run_name_the_type_and_store_nothing(folder, tmp_path, study, lead, prompts):
    planned = plan_run(
        study=study,
        backend="diffusers",
        model_id=str(broken(folder, tmp_path / "broken")),
        by=lead,
        parameters={**QUICK, "dtype": "bfloat16"},
    )
    with pytest.raises(DomainError) as stopped:
        run(run=planned, progress=Unwatched())
    assert stopped.value.message == (
        "Stopped after 5 results in a row that are not images: The model computed numbers that are not finite (NaN) "
        "in bfloat16. The model computes in bfloat16: choose dtype float32."
    )
    assert planned.requests.filter(outcome="failed").count() == 5
    assert planned.requests.filter(outcome="pending").count() == 7
    assert not Image.objects.exists()


@marked
def test_images_blanked_by_the_safety_checker_stay_blanked(tmp_path):
    model = load(save_tiny_pipeline(tmp_path / "checked", safety_checker=True))
    assert model.draw(ImageRequest("a person", 1)).outcome == "blanked"


@pytest.mark.parametrize("mode", ["L", "RGB", "RGBA"])
def test_an_image_of_a_single_colour_is_rejected(mode):
    blank = Picture.new(mode, (16, 16), 0)
    with pytest.raises(BlankImage, match="blank: a single colour throughout"):
        keep_drawn(Drawn(picture=blank), subject="What the model made")
    blank.putpixel((3, 3), 1)
    assert keep_drawn(Drawn(picture=blank), subject="It").width == 16


class BlankSketch(SketchBackend):
    """Draws as sketch does, but a black square for some seeds."""

    name = "sometimes_blank"
    blanks: frozenset[int] = frozenset()

    def load(self, **options):
        model, black = super().load(**options), Picture.fromarray(np.zeros((16, 16, 3), np.uint8))
        draw, numbers = model.draw, iter(range(1000))
        model.draw = lambda request: Drawn(picture=black) if next(numbers) in self.blanks else draw(request)
        return model


def planned_with(blanks, study, lead, monkeypatch):
    backend = BlankSketch()
    backend.blanks = frozenset(blanks)
    monkeypatch.setitem(BACKENDS, backend.name, backend)
    return plan_run(study=study, backend=backend.name, by=lead)


@pytest.mark.django_db
def test_a_blank_picture_fails_its_request_alone(study, lead, prompts, monkeypatch):
    planned = planned_with({1, 2, 3, 4, 6}, study, lead, monkeypatch)
    result = run(run=planned, progress=Unwatched())
    assert (result.done, result.failed) == (7, 5)
    reasons = GenerationRequest.objects.filter(outcome="failed").values_list("reason", flat=True)
    assert set(reasons) == {"What the model made is blank: a single colour throughout."}
    assert Image.objects.count() == 7


@pytest.mark.django_db
def test_five_blank_pictures_in_a_row_stop_the_run(study, lead, prompts, monkeypatch):
    planned = planned_with({1, 2, 3, 4, 5}, study, lead, monkeypatch)
    with pytest.raises(DomainError, match="Stopped after 5 results in a row that are not images"):
        run(run=planned, progress=Unwatched())
    assert planned.requests.filter(outcome="pending").count() == 6


@pytest.mark.django_db
def test_a_blank_image_from_an_endpoint_fails_and_stays_charged(study, lead, prompts, settings, picture):
    with images_endpoint() as endpoint:
        settings.OPENAI_BASE_URLS, settings.OPENAI_API_KEY = [endpoint.url], ""
        settings.OPENAI_IMAGES_AT_ONCE = 1
        endpoint.script = [image(picture((0, 0, 0)))]
        planned = plan_run(study=study, backend="openai", model_id="painter", by=lead, price=1)
        result = run(run=planned, progress=Unwatched())
    assert (result.done, result.failed) == (11, 1)
    assert planned.requests.get(outcome="failed").cost == 1
