"""Local models: a Llama and a LLaVA with random weights, loaded and queried as a user's models are."""

import io
import shutil

import pytest
from PIL import Image as Picture

from foundation.errors import DomainError
from generation.answerers.base import AnswerRequest, AskedPicture
from generation.answerers.transformers.backend import TransformersBackend
from tests.analysis.scoring.tiny_models import save_llava
from tests.generation.answerers.tiny_llama import save_llama

TEMPLATE = "{% for message in messages %}<{{ message['role'] }}>{{ message['content'] }}{% endfor %}"
NO_SYSTEM = (
    "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system prompt') }}{% endif %}" + TEMPLATE
)
QUESTIONS = [
    AnswerRequest(prompt=f"who lights {'the lamps ' * (number % 5)}or {number}", seeds=(number * 7919,))
    for number in range(24)
]

pytestmark = [pytest.mark.models, pytest.mark.database_free]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    pytest.importorskip("transformers", reason="the full requirements are not installed")
    folder = tmp_path_factory.mktemp("answerers")
    return {
        "llama": save_llama(folder / "llama"),
        "chat": save_llama(folder / "chat", template=TEMPLATE),
        "no system": save_llama(folder / "no-system", template=NO_SYSTEM),
        "llava": save_llava(folder / "llava"),
    }


def load(folder, **parameters):
    backend = TransformersBackend()
    sampling = {"temperature": 1.0, "top_p": 1.0, "max_tokens": 8, "device": "cpu"}
    cleaned = backend.clean(sampling | parameters)
    return backend.load(model_id=str(folder), parameters=cleaned)


def texts(model, requests):
    return [[reply.text for reply in replies] for replies in model.answer_together(requests)]


def picture(colour):
    file = io.BytesIO()
    Picture.new("RGB", (40, 40), colour).save(file, "PNG")
    return AskedPicture(file.getvalue(), "image/png", str(colour))


def test_an_answer_is_the_same_alone_and_in_any_batch(folders):
    alone = [load(folders["llama"], batch_size=1).answer(request)[0].text for request in QUESTIONS]
    assert len(set(alone)) > 20
    together = load(folders["llama"], batch_size=24)
    assert [text for (text,) in texts(together, QUESTIONS)] == alone
    backwards = texts(load(folders["llama"], batch_size=7), QUESTIONS[::-1])
    assert [text for (text,) in backwards][::-1] == alone


def test_answers_about_pictures_are_the_same_alone_and_in_a_batch(folders):
    requests = [
        AnswerRequest("a kite or a lamp", seeds=(number,), picture=picture((number * 20, 90, 40)))
        for number in range(8)
    ]
    model = load(folders["llava"], batch_size=8)
    together = texts(model, requests)
    assert together == [[model.answer(request)[0].text] for request in requests]
    assert len({text for (text,) in together}) > 4
    mixed = texts(model, [requests[0], QUESTIONS[1], requests[1]])
    assert [mixed[0], mixed[2]] == together[:2]


def test_the_picture_counts(folders):
    model = load(folders["llava"], temperature=0, max_tokens=20)
    answers = {
        model.answer(AnswerRequest("a kite", seeds=(1,), picture=picture(colour)))[0].text
        for colour in ((0, 0, 0), (255, 255, 255), (255, 0, 0), (0, 0, 255))
    }
    assert len(answers) > 1


def test_each_seed_is_an_answer_of_its_own(folders):
    model = load(folders["llama"])
    request = AnswerRequest("who lights the lamps", seeds=(1, 2, 3))
    replies = model.answer(request)
    assert len({reply.text for reply in replies}) == 3
    assert replies[1].text == model.answer(AnswerRequest("who lights the lamps", seeds=(2,)))[0].text


def test_at_temperature_zero_the_seed_does_not_matter(folders):
    replies = load(folders["llama"], temperature=0).answer(AnswerRequest("a kite", seeds=(1, 2)))
    assert replies[0].text == replies[1].text


def test_draws_follow_the_distribution_that_the_model_computes(folders):
    """The first tokens of 1,500 answers differ from the softmax of the logits by less than five standard errors."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folders["llama"])
    logits = AutoModelForCausalLM.from_pretrained(folders["llama"])(
        **tokenizer("a kite", return_tensors="pt")
    ).logits[0, -1]
    expected = torch.softmax(logits.detach() / 0.75, dim=-1)
    model = load(folders["llama"], temperature=0.75, max_tokens=1, batch_size=256)
    draws = 1500
    replies = model.answer(AnswerRequest("a kite", seeds=tuple(range(draws))))
    likeliest = expected.topk(3)
    for share, token in zip(likeliest.values.tolist(), likeliest.indices.tolist(), strict=True):
        text = tokenizer.decode([token], skip_special_tokens=True).strip()
        same = sum(
            expected[other].item()
            for other in range(len(expected))
            if tokenizer.decode([other], skip_special_tokens=True).strip() == text
        )
        count = sum(reply.text == text for reply in replies)
        assert abs(count / draws - same) < 5 * (same * (1 - same) / draws) ** 0.5 + 1e-9, (share, text)


def test_usage_and_finish_reason_are_stored(folders):
    (reply,) = load(folders["llama"], max_tokens=4).answer(QUESTIONS[1])
    assert reply.finish_reason in {"stop", "length"}
    assert reply.tokens_in > 3
    assert 1 <= reply.tokens_out <= 4
    assert reply.provenance["device"] == "cpu"
    assert set(reply.provenance["versions"]) == {"torch", "transformers"}


@pytest.mark.parametrize("name", ["chat", "no system"])
def test_chat_models_read_system_prompt_and_question_in_their_template(folders, name):
    model = load(folders[name])
    request = AnswerRequest("who lights", seeds=(1,), system="answer shortly")
    bare = AnswerRequest("who lights", seeds=(1,))
    assert model.answer(request)[0].tokens_in > model.answer(bare)[0].tokens_in


def test_the_revision_is_a_digest_of_the_folder(folders, tmp_path):
    copy = shutil.copytree(folders["llama"], tmp_path / "copy")
    assert load(copy).revision == load(folders["llama"]).revision
    (copy / "notes.txt").write_text("changed")
    assert load(copy).revision != load(folders["llama"]).revision


def test_loading_and_request_errors_are_reported_in_one_sentence(folders, tmp_path):
    with pytest.raises(DomainError, match=r"There is no folder .* with a model's config.json"):
        load(tmp_path / "nowhere")
    damaged = shutil.copytree(folders["llama"], tmp_path / "damaged")
    (damaged / "model.safetensors").write_bytes(b"nothing")
    with pytest.raises(DomainError, match="“damaged” cannot be loaded"):
        load(damaged)
    with pytest.raises(DomainError, match="cannot look at pictures"):
        load(folders["llama"]).answer(AnswerRequest("a kite", seeds=(1,), picture=picture((1, 2, 3))))


def test_pickled_weights_are_refused_unless_the_operator_allows_them(folders, tmp_path, settings):
    import torch
    from safetensors.torch import load_file

    pickled = shutil.copytree(folders["llama"], tmp_path / "pickled")
    torch.save(load_file(pickled / "model.safetensors"), pickled / "pytorch_model.bin")
    (pickled / "model.safetensors").unlink()
    with pytest.raises(DomainError, match="“pickled” cannot be loaded"):
        load(pickled)
