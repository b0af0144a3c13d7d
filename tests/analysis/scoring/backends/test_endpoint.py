"""Captions by a model behind an OpenAI-compatible endpoint: a server on this machine with a tiny LLaVA."""

import io
import socket

import pytest
from PIL import Image as Picture
from PIL.PngImagePlugin import PngInfo

from analysis.models import Caption, ScoredImage
from analysis.scoring.launch import plan_scorer
from analysis.scoring.run import RunOptions, run
from foundation.errors import DomainError
from generation.images.storage import store_image
from jobs.models import Job
from jobs.progress.reporter import Unwatched
from tests.analysis.scoring import tiny_models
from tests.analysis.scoring.backends.chat_server import chatting
from tests.analysis.scoring.conftest import add_images

pytestmark = [pytest.mark.models, pytest.mark.django_db]


@pytest.fixture(scope="module")
def chat(models):
    with chatting(str(tiny_models.save_llava(models / "llava"))) as server:
        yield server


@pytest.fixture
def endpoint(chat, settings):
    settings.VISION_BASE_URL = chat.address
    settings.VISION_API_KEY = "a key"
    chat.asked.clear()
    chat.calls.clear()
    return chat


def captions_by(model, study, lead, **parameters):
    parameters = {"captioner": "endpoint", "max_new_tokens": 6, **parameters}
    scorer = plan_scorer(study=study, kind="captions", model_id=model, parameters=parameters, by=lead)
    return str(run(scorer=scorer, options=RunOptions(), progress=Unwatched()))


def test_each_caption_of_each_image_is_asked_with_a_seed_of_its_own(study, lead, endpoint):
    add_images(study, 1)
    said = captions_by("looker", study, lead, captions=3)
    captions = Caption.objects.count()
    assert said == f"{captions} captions of 2 images written."
    assert 2 <= captions <= 6
    assert [one[:3] for one in endpoint.asked] == [
        ("looker", "Describe this picture in one sentence.", (48, 40))
    ] * 6
    assert len({seed for *_, seed in endpoint.asked}) == 6


def test_only_pixels_are_sent(study, lead, endpoint):
    told = PngInfo()
    told.add_text("prompt", "a picture of a Velmari person")
    file = io.BytesIO()
    Picture.new("RGB", (3000, 10), "red").save(file, "PNG", pnginfo=told)
    store_image(study=study, data=file.getvalue(), group=study.groups.first(), model_label="painter")
    captions_by("looker", study, lead)
    ((_, _, size, info, _),) = endpoint.asked
    assert size == (1024, 3)
    assert info == {}


def test_a_limit_is_waited_for(study, lead, endpoint):
    add_images(study, 1)
    assert captions_by("busy", study, lead).endswith("captions of 2 images written.")
    assert endpoint.calls["busy"] == 3


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        ("shy", "The model declined the request: I would rather not."),
        ("strict", "The endpoint declined the request: Your request was rejected by our safety system."),
    ],
)
def test_declined_images_are_counted_with_their_reason_and_stop_nothing(study, lead, endpoint, model, reason):
    add_images(study, 1)
    assert captions_by(model, study, lead).startswith(
        "0 captions of 0 images written, 2 images have no caption"
    )
    assert set(ScoredImage.objects.values_list("outcome", "reason")) == {("failed", reason)}


def test_a_refused_key_stops_the_job(study, lead, endpoint):
    add_images(study, 1)
    with pytest.raises(DomainError, match=r"does not accept the key \(VISION_API_KEY\): Incorrect API key"):
        captions_by("locked", study, lead)
    assert not ScoredImage.objects.exists()


def test_the_text_of_a_403_is_shown(study, lead, endpoint):
    add_images(study, 1)
    with pytest.raises(DomainError, match=r"refused the request \(403\): Your project may not use"):
        captions_by("fenced", study, lead)


def test_errors_that_affect_every_picture_stop_the_job(study, lead, endpoint):
    add_images(study, 1)
    with pytest.raises(DomainError, match="answered 400: Only the default temperature is supported"):
        captions_by("cold", study, lead)
    assert not ScoredImage.objects.exists()


def test_the_token_limit_uses_the_name_that_the_model_accepts(study, lead, endpoint):
    add_images(study, 1)
    assert captions_by("newer", study, lead).endswith("captions of 2 images written.")


def test_captions_that_were_paid_for_stay_when_the_credit_runs_out(study, lead, endpoint):
    add_images(study, 2)
    with pytest.raises(DomainError, match="answered 402: The credit is used up"):
        captions_by("poor", study, lead)
    assert Caption.objects.count() == 2
    assert list(ScoredImage.objects.values_list("outcome", flat=True)) == ["done", "done"]


def test_redirects_to_other_addresses_are_not_followed(study, lead, endpoint):
    add_images(study, 1)
    with pytest.raises(DomainError, match="The endpoint answered 307"):
        captions_by("moved", study, lead)
    # Each image was asked once, where the operator said.
    assert endpoint.calls["moved"] <= 2


def test_an_unresponsive_endpoint_is_reported(study, lead, settings, monkeypatch):
    monkeypatch.setattr("analysis.scoring.backends.endpoint._TRIES", 1)
    add_images(study, 1)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        settings.VISION_BASE_URL = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    with pytest.raises(DomainError, match="does not answer"):
        captions_by("looker", study, lead)
    assert not ScoredImage.objects.exists()
    assert not Job.objects.exists()
