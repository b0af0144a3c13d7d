"""Models that write captions: BART over n-grams that CLIP finds in the image, or any captioner of transformers."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from PIL.Image import Image as Picture

from analysis.metrics.data.arrays import Array
from analysis.scoring.backends.choices import BEAMS, DEFAULT_PROMPT, Decoding
from analysis.scoring.backends.memory import device_of
from analysis.scoring.backends.model_files import (
    loading_failures,
    local_path,
    require,
    transformers_revision,
    unloadable,
)
from foundation.errors import DomainError

_LONGEST = 600  # max_length of Caption.text


@dataclass(frozen=True)
class CaptionInput:
    """A captioner's input for one image: its picture, or its vector if the captioner uses no pictures."""

    seed: int
    picture: Picture | None = None
    vector: Array | None = None


@dataclass(frozen=True)
class WrittenCaptions:
    """Distinct captions of an image, most likely first; `reason` is the model's reason if there are none."""

    texts: list[str]
    reason: str = ""
    stopped: DomainError | None = None  # the error that stops the job; the image is neither done nor failed


class Captioner(Protocol):
    """A loaded model that writes captions."""

    revision: str

    def caption(self, inputs: Sequence[CaptionInput]) -> list[WrittenCaptions]:
        """Return the captions of each image, in the order of `inputs`."""


@runtime_checkable
class CaptionsAlone(Protocol):
    """A remote captioner that takes one image per call, in up to `in_parallel` calls at a time."""

    in_parallel: int

    def caption_alone(self, image: CaptionInput) -> WrittenCaptions:
        """Return the captions of the image; `stopped` is set if no other image could be captioned either."""


class NgramCaptioner:
    """ViSAGe's captioner: a sequence-to-sequence model reads the n-grams nearest to the image's vector."""

    def __init__(
        self,
        model_id: str,
        *,
        ngrams: Sequence[str],
        vectors: Array,
        top: int,
        joiner: str,
        decoding: Decoding,
        device: str = "",
    ) -> None:
        require("torch", "transformers")
        from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

        self._place = device_of(device)
        self._tokenizer, self._model = _loaded(model_id, AutoTokenizer, AutoModelForSeq2SeqLM, self._place)
        self._ngrams, self._vectors, self._top = list(ngrams), vectors, min(top, len(ngrams))
        self._joiner, self._decoding = joiner, decoding
        self.revision = transformers_revision(model_id)

    def nearest_ngrams(self, vector: Array) -> list[str]:
        """Return the n-grams nearest to the vector of an image, nearest first."""
        nearest = np.argsort(-(self._vectors @ vector), kind="stable")[: self._top]
        return [self._ngrams[index] for index in nearest]

    def caption(self, inputs: Sequence[CaptionInput]) -> list[WrittenCaptions]:
        texts = [
            self._joiner.join(self.nearest_ngrams(image.vector))
            for image in inputs
            if image.vector is not None
        ]
        encoded = self._tokenizer(texts, return_tensors="pt", padding=True, truncation=True).to(self._place)
        # Some tokenizers return token types, which the model does not accept.
        encoded.pop("token_type_ids", None)
        written = _generate(self._model, dict(encoded), [image.seed for image in inputs], self._decoding)
        return _distinct(self._tokenizer.batch_decode(written, skip_special_tokens=True), len(inputs))


class ImageCaptioner:
    """Any image-to-text model of transformers: BLIP, GIT, or a chat model that looks at pictures."""

    def __init__(self, model_id: str, *, prompt: str, decoding: Decoding, device: str = "") -> None:
        require("torch", "transformers")
        from transformers import AutoModelForImageTextToText, AutoProcessor

        self._place = device_of(device)
        self._processor, self._model = _loaded(
            model_id, AutoProcessor, AutoModelForImageTextToText, self._place
        )
        self._chat = bool(getattr(self._processor, "chat_template", None))
        self._prompt = self._chat_prompt(prompt or DEFAULT_PROMPT) if self._chat else prompt
        tokenizer = getattr(self._processor, "tokenizer", None)
        if self._chat and tokenizer is not None:
            tokenizer.padding_side = "left"
        self._decoding = decoding
        self.revision = transformers_revision(model_id)

    def caption(self, inputs: Sequence[CaptionInput]) -> list[WrittenCaptions]:
        # A processor's output for several pictures need not have one row per picture, so it cannot be split
        # for sampling with each image's seed.
        size = 1 if self._decoding.way != BEAMS else len(inputs)
        parts = [self._together(inputs[start : start + size]) for start in range(0, len(inputs), size or 1)]
        return [written for part in parts for written in part]

    def _together(self, inputs: Sequence[CaptionInput]) -> list[WrittenCaptions]:
        # Processors of chat models expect a list of pictures per conversation.
        pictures = [[image.picture] if self._chat else image.picture for image in inputs]
        options: dict[str, Any] = {"images": pictures, "return_tensors": "pt"}
        if self._prompt:
            options |= {"text": [self._prompt] * len(inputs), "padding": True}
        encoded = self._processor(**options).to(self._place)
        written = _generate(self._model, dict(encoded), [image.seed for image in inputs], self._decoding)
        if self._chat:
            # The output begins with the prompt.
            written = written[:, encoded["input_ids"].shape[1] :]
        return _distinct(self._processor.batch_decode(written, skip_special_tokens=True), len(inputs))

    def _chat_prompt(self, prompt: str) -> str:
        conversation = [{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": prompt}]}]
        text: str = self._processor.apply_chat_template(conversation, add_generation_prompt=True)
        return text


def image_seed(study_seed: int, sha256: str) -> int:
    """Return the seed for sampling an image's captions; it does not depend on other images."""
    digest = hashlib.sha256(f"caption:{study_seed}:{sha256}".encode()).digest()
    return int.from_bytes(digest[:7], "big")


def tidy(texts: Sequence[str]) -> list[str]:
    """Return the distinct non-empty texts, white space collapsed, each cut to the length of the column."""
    cleaned = (" ".join(text.replace("\0", "").split()) for text in texts)
    return list(dict.fromkeys(_shortened(text) for text in cleaned if text))


def _shortened(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    cut = text[: _LONGEST - 1]
    return (cut.rsplit(" ", 1)[0] if " " in cut else cut) + "…"


def _loaded(model_id: str, reader: Any, kind: Any, place: Any) -> tuple[Any, Any]:
    import transformers.utils.logging

    # Commands and jobs show their own progress; the library's progress bars would overwrite it.
    transformers.utils.logging.disable_progress_bar()
    where = local_path(model_id)
    try:
        # Single precision on every device, so that captions differ between devices as little as possible.
        model = kind.from_pretrained(where, dtype="float32").to(place)
        return reader.from_pretrained(where), model.eval()
    except loading_failures() as error:
        raise unloadable(model_id, error) from None


def _generate(model: Any, encoded: dict[str, Any], seeds: Sequence[int], decoding: Decoding) -> Any:
    """Return the tokens of `decoding.captions` candidates for each row of `encoded`, row after row."""
    import torch

    options: dict[str, Any] = {
        "num_return_sequences": decoding.captions,
        "max_new_tokens": decoding.max_new_tokens,
    }
    with torch.inference_mode():
        if decoding.way == BEAMS:
            return model.generate(**encoded, **options, do_sample=False, num_beams=decoding.captions)
        options |= {"do_sample": True, "num_beams": 1, "top_p": decoding.top_p, "top_k": 0}
        if len(seeds) == 1:
            return _drawn(model, encoded, seeds[0], options, decoding)
        parts = [
            _drawn(
                model,
                {name: value[row : row + 1] for name, value in encoded.items()},
                seed,
                options,
                decoding,
            )
            for row, seed in enumerate(seeds)
        ]
        longest = max(part.shape[1] for part in parts)
        pad = model.generation_config.pad_token_id or 0
        return torch.cat(
            [torch.nn.functional.pad(part, (0, longest - part.shape[1]), value=pad) for part in parts]
        )


def _drawn(
    model: Any, encoded: dict[str, Any], seed: int, options: dict[str, Any], decoding: Decoding
) -> Any:
    """Sample the candidates of one image with its own seed, so that they do not depend on its batch."""
    import torch

    devices = [model.device] if model.device.type == "cuda" else []
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(seed)
        return model.generate(**encoded, **options, temperature=decoding.temperature)


def _distinct(texts: Sequence[str], images: int) -> list[WrittenCaptions]:
    size = len(texts) // images if images else 0
    return [WrittenCaptions(tidy(texts[start : start + size])) for start in range(0, len(texts), size or 1)]
