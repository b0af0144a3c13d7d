"""Images of a scenario made from its first image, by a tiny real pipeline with random weights."""

import numpy as np
import pytest

from foundation.errors import DomainError
from generation.backends.base import ImageRequest
from generation.backends.diffusers.backend import DiffusersBackend
from generation.models import Image
from generation.prompts.sets import prompt_set
from generation.runs.execution import run
from generation.runs.planning import plan_run
from jobs.progress.reporter import Unwatched
from tests.generation.backends.tiny_pipeline import save_tiny_pipeline

FIRST, SECOND = "a tall orsani on a bridge", "a short orsani on a bridge"
SIZES = {"num_inference_steps": 4, "width": 32, "height": 32, "device": "cpu"}
pytestmark = [
    pytest.mark.models,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    pytest.importorskip("diffusers", reason="the full requirements are not installed")
    return save_tiny_pipeline(tmp_path_factory.mktemp("models") / "tiny")


def load(folder, **parameters):
    backend = DiffusersBackend()
    return backend.load(model_id=str(folder), parameters=backend.clean({**SIZES, **parameters}, groups=[]))


def distance(one, other) -> float:
    return float(np.abs(np.asarray(one.picture, dtype=float) - np.asarray(other.picture, dtype=float)).mean())


def test_an_image_is_made_from_the_first_and_differs_less_with_less_strength(folder):
    request = ImageRequest(SECOND, seed=5, first_prompt=FIRST)
    first = load(folder).draw(ImageRequest(FIRST, seed=5, first_prompt=FIRST))
    distances = {}
    for strength in (0.25, 1.0):
        varied = load(folder, parallel="variation", strength=strength).draw(request)
        assert varied.picture.size == (32, 32)
        made = varied.provenance["variation"]
        assert (made["first_prompt"], made["strength"]) == (FIRST, strength)
        assert made["pipeline"] == "StableDiffusionImg2ImgPipeline"
        distances[strength] = distance(varied, first)
    assert 0 < distances[0.25] < distances[1.0]


def test_the_first_image_is_that_of_its_prompt_and_no_image_waits_for_another(folder):
    model = load(folder, parallel="variation")
    alone = load(folder, parallel="variation").draw(ImageRequest(SECOND, seed=5, first_prompt=FIRST))
    first = model.draw(ImageRequest(FIRST, seed=5, first_prompt=FIRST))
    assert "variation" not in first.provenance
    assert distance(first, load(folder).draw(ImageRequest(FIRST, seed=5))) == 0
    model.draw(ImageRequest("a lamp", seed=9))
    after_others = model.draw(ImageRequest(SECOND, seed=5, first_prompt=FIRST))
    assert distance(after_others, alone) == 0
    assert after_others.provenance["variation"] == alone.provenance["variation"]


def test_text_is_the_default_and_leaves_runs_as_they_were():
    cleaned = DiffusersBackend().clean({}, groups=[])
    assert not {"parallel", "strength"} & cleaned.keys()
    varied = DiffusersBackend().clean({"parallel": "variation"}, groups=[])
    assert (varied["parallel"], varied["strength"]) == ("variation", 0.6)


def test_unsupported_variation_is_refused_in_one_sentence(folder):
    with pytest.raises(DomainError, match="leave out offload"):
        load(folder, parallel="variation", offload="model")
    with pytest.raises(DomainError, match="parallel must be"):
        load(folder, parallel="collage")
    with pytest.raises(DomainError, match="strength must be"):
        load(folder, parallel="variation", strength=0)


@pytest.mark.django_db
def test_a_run_varies_each_scenario_from_its_first_group(folder, study, lead, tmp_path):
    path = tmp_path / "lamps.toml"
    path.write_text(
        'title = "Lamps"\n[[experiments]]\nname = "trades"\n[experiments.scenarios]\n'
        'bridge = "a {person} on a bridge"\nharbour = "a {person} in a harbour"\n'
    )
    planned = plan_run(
        study=study,
        backend="diffusers",
        model_id=str(folder),
        by=lead,
        prompt_set=prompt_set(str(path)),
        parameters={**SIZES, "parallel": "variation"},
    )
    run(run=planned, progress=Unwatched())
    for scenario in ("bridge", "harbour"):
        images = {image.group.name: image for image in Image.objects.filter(scenario=scenario)}
        assert "variation" not in images["Orsani"].provenance
        assert images["Velmari"].provenance["variation"]["first_prompt"] == images["Orsani"].prompt
        assert images["Velmari"].sha256 != images["Orsani"].sha256
