"""A transformers model that answers in batches, each answer drawn from its own seed."""

import io
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
import transformers
from django.conf import settings
from jinja2 import TemplateError
from PIL import Image as Picture
from safetensors import SafetensorError
from transformers.models.auto.modeling_auto import MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES

from foundation.errors import DomainError
from generation.answerers.base import AnswerRequest, Parameters, Reply
from generation.answerers.transformers.noise import RowNoise
from generation.backends.base import ModelUnusable

# Exceptions of the library for unsuitable weights, settings or inputs: it has no exception classes of its own.
_FAILURES = (
    OSError,
    RuntimeError,
    ValueError,
    TypeError,
    AttributeError,
    LookupError,
    ArithmeticError,
    ImportError,
    SafetensorError,
    TemplateError,
)


class TransformersAnswerer:
    """Asks a loaded model. Answers depend only on the request, the weights and the kind of device."""

    address = ""

    def __init__(self, folder: Path, parameters: Parameters, *, revision: str) -> None:
        self.revision = revision
        self.at_once: int = parameters["batch_size"]
        self._parameters = parameters
        self._device = torch.device(parameters["device"] or ("cuda" if torch.cuda.is_available() else "cpu"))
        dtype = parameters["dtype"] or ("float32" if self._device.type == "cpu" else "bfloat16")
        try:
            self._load(folder, dtype)
        except _FAILURES as error:
            raise DomainError(
                "model_unloadable", f"“{folder.name}” cannot be loaded: {_first_line(error)}"
            ) from None
        self._provenance = {
            "device": self._device.type,
            "dtype": dtype,
            "versions": {name: version(name) for name in ("torch", "transformers")},
        }

    def _load(self, folder: Path, dtype: str) -> None:
        # Commands and jobs show their own progress, which the library's progress bars would overwrite.
        transformers.utils.logging.disable_progress_bar()
        config = transformers.AutoConfig.from_pretrained(folder)
        self._sees = config.model_type in MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES
        kind = transformers.AutoModelForImageTextToText if self._sees else transformers.AutoModelForCausalLM
        reader = transformers.AutoProcessor if self._sees else transformers.AutoTokenizer
        # Pickles can contain code.
        safely: dict[str, Any] = {} if settings.ALLOW_PICKLED_WEIGHTS else {"use_safetensors": True}
        self._model = kind.from_pretrained(folder, dtype=dtype, **safely).to(self._device).eval()
        self._reader = reader.from_pretrained(folder)
        self._tokenizer = getattr(self._reader, "tokenizer", self._reader)
        # Left padding: in every row of a batch the question ends where the answer begins.
        self._tokenizer.padding_side = "left"
        if self._tokenizer.pad_token is None:
            self._tokenizer.pad_token = self._tokenizer.eos_token

    def answer(self, request: AnswerRequest) -> list[Reply]:
        return self.answer_together([request])[0]

    def answer_together(self, requests: Sequence[AnswerRequest]) -> list[list[Reply]]:
        """Answer all questions, with separate calls for questions with and without pictures."""
        rows = [(place, request, seed) for place, request in enumerate(requests) for seed in request.seeds]
        replies: list[list[Reply]] = [[] for _ in requests]
        for with_picture in (False, True):
            alike = [row for row in rows if (row[1].picture is not None) == with_picture]
            for start in range(0, len(alike), self.at_once):
                batch = alike[start : start + self.at_once]
                answers = self._answers([(request, seed) for _, request, seed in batch])
                for (place, _, _), reply in zip(batch, answers, strict=True):
                    replies[place].append(reply)
        return replies

    def _answers(self, rows: Sequence[tuple[AnswerRequest, int]]) -> list[Reply]:
        try:
            return self._generated(rows)
        except torch.OutOfMemoryError:
            if len(rows) == 1:
                raise ModelUnusable(
                    "no_memory", "There is not enough memory for a single question. Use a smaller model."
                ) from None
        except _FAILURES as error:
            raise DomainError("model_failed", f"The model failed: {_first_line(error)}") from None
        middle = self.at_once = len(rows) // 2
        return self._answers(rows[:middle]) + self._answers(rows[middle:])

    def _generated(self, rows: Sequence[tuple[AnswerRequest, int]]) -> list[Reply]:
        encoded = self._encoded([request for request, _ in rows])
        noise = RowNoise(
            [seed for _, seed in rows],
            device=self._device,
            temperature=self._parameters["temperature"],
            top_p=self._parameters["top_p"],
        )
        own = self._model.generation_config
        config = transformers.GenerationConfig(
            do_sample=False,  # randomness comes from the noise
            num_beams=1,
            max_new_tokens=self._parameters["max_tokens"],
            bos_token_id=own.bos_token_id,
            eos_token_id=own.eos_token_id or self._tokenizer.eos_token_id,
            pad_token_id=self._tokenizer.pad_token_id,
        )
        with torch.inference_mode():
            written = self._model.generate(
                **encoded,
                generation_config=config,
                logits_processor=transformers.LogitsProcessorList([noise]),
            )
        new = written[:, encoded["input_ids"].shape[1] :].cpu()
        asked = encoded["attention_mask"].sum(dim=1).tolist()
        ends = config.eos_token_id if isinstance(config.eos_token_id, list) else [config.eos_token_id]
        return [self._reply(row, count, ends) for row, count in zip(new, asked, strict=True)]

    def _reply(self, row: Any, tokens_in: int, ends: Sequence[int | None]) -> Reply:
        tokens = row.tolist()
        end = next((place for place, token in enumerate(tokens) if token in ends), None)
        kept = tokens if end is None else tokens[:end]
        return Reply(
            text=self._tokenizer.decode(kept, skip_special_tokens=True).strip(),
            finish_reason="length" if end is None else "stop",
            tokens_in=int(tokens_in),
            tokens_out=len(kept) + (end is not None),
            provenance=self._provenance,
        )

    def _encoded(self, requests: Sequence[AnswerRequest]) -> Any:
        texts = [self._conversation(request) for request in requests]
        pictures = [[_opened(request.picture.data)] for request in requests if request.picture is not None]
        if pictures and not self._sees:
            raise ValueError("it cannot look at pictures")
        options: dict[str, Any] = {"text": texts, "padding": True, "return_tensors": "pt"}
        if pictures:
            options["images"] = pictures
        encoded = self._reader(**options).to(self._device)
        # Some tokenizers return more inputs than the model accepts.
        encoded.pop("token_type_ids", None)
        return encoded

    def _conversation(self, request: AnswerRequest) -> str:
        """Return the question in the model's chat format."""
        if not getattr(self._reader, "chat_template", None):
            return f"{request.system}\n\n{request.prompt}".strip()
        try:
            return self._rendered(request.system, request)
        except TemplateError:
            # Some models have no system prompt: it becomes the beginning of the question.
            return self._rendered("", request, prefix=f"{request.system}\n\n" if request.system else "")

    def _rendered(self, system: str, request: AnswerRequest, *, prefix: str = "") -> str:
        words: list[dict[str, Any]] = [{"type": "text", "text": prefix + request.prompt}]
        if request.picture is not None:
            words.insert(0, {"type": "image"})
        content: Any = words if self._sees else prefix + request.prompt
        messages: list[dict[str, Any]] = [{"role": "user", "content": content}]
        if system:
            content = [{"type": "text", "text": system}] if self._sees else system
            messages.insert(0, {"role": "system", "content": content})
        text: str = self._reader.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
        return text


def _opened(data: bytes) -> Picture.Image:
    with Picture.open(io.BytesIO(data)) as picture:
        return picture.convert("RGB")


def _first_line(error: BaseException) -> str:
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0][:200]
