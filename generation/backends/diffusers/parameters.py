"""What may be asked of a diffusers pipeline, and what of it is nonsense."""

from collections.abc import Callable, Mapping
from typing import Any

from foundation.errors import DomainError

_DTYPES = ("float32", "float16", "bfloat16")
_OFFLOADS = ("none", "model", "sequential")
MOST_AT_ONCE = 256


def clean(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return all parameters, empty where the pipeline's own value holds; refuse what makes no sense.

    Values may be text, as a command line or a form gives them.
    """
    unknown = sorted(set(parameters) - set(_RULES))
    if unknown:
        known = ", ".join(_RULES)
        raise _wrong(unknown[0], f"diffusers has no parameter “{unknown[0]}”; it has {known}.")
    return {name: rule(name, parameters.get(name)) for name, rule in _RULES.items()}


def _text(name: str, value: Any) -> str:
    if value is not None and not isinstance(value, str):
        raise _wrong(name, f"The parameter {name} must be text, not {value!r}.")
    return (value or "").strip()


def _one_of(words: tuple[str, ...], default: str = "") -> Callable[[str, Any], str]:
    def read(name: str, value: Any) -> str:
        text = _text(name, value) or default
        if text and text not in words:
            raise _wrong(name, f"The parameter {name} must be one of {', '.join(words)}, not “{text}”.")
        return text

    return read


def _flag(default: bool) -> Callable[[str, Any], bool]:
    def read(name: str, value: Any) -> bool:
        return default if value is None or value == "" else _yes_or_no(name, value)

    return read


def _yes_or_no(name: str, value: Any) -> bool:
    words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
    chosen = words.get(str(value).lower())
    if chosen is None:
        raise _wrong(name, f"The parameter {name} must be yes or no, not {value!r}.")
    return chosen


def _whole(low: int, high: int, *, multiple_of: int = 1) -> Callable[[str, Any], int | None]:
    def read(name: str, value: Any) -> int | None:
        if value is None or value == "":
            return None
        number = _as_float(name, value)
        if number != int(number) or not low <= number <= high or int(number) % multiple_of:
            rule = f" divisible by {multiple_of}" if multiple_of > 1 else ""
            raise _wrong(
                name, f"The parameter {name} must be a whole number from {low} to {high}{rule}, not {value}."
            )
        return int(number)

    return read


def _number(low: float, high: float) -> Callable[[str, Any], float | None]:
    def read(name: str, value: Any) -> float | None:
        if value is None or value == "":
            return None
        number = _as_float(name, value)
        if not low <= number <= high:
            raise _wrong(name, f"The parameter {name} must be from {low:g} to {high:g}, not {value}.")
        return number

    return read


def _if_given(number: float | None, default: float) -> float:
    return default if number is None else number


def _as_float(name: str, value: Any) -> float:
    try:
        number = float("nan") if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        number = float("nan")
    if not abs(number) < float("inf"):
        raise _wrong(name, f"The parameter {name} must be a number, not {value!r}.")
    return number


def _wrong(name: str, message: str) -> DomainError:
    return DomainError("parameter_invalid", message, fields={name: message})


_RULES: dict[str, Callable[[str, Any], Any]] = {
    "num_inference_steps": _whole(1, 1000),
    "guidance_scale": _number(0, 100),
    "true_cfg_scale": _number(0, 100),
    "width": _whole(8, 8192, multiple_of=8),
    "height": _whole(8, 8192, multiple_of=8),
    "negative_prompt": lambda name, value: _text(name, value) or None,
    "scheduler": _text,
    "safety_checker": _flag(True),
    "device": _text,
    "dtype": _one_of(_DTYPES),
    "offload": _one_of(_OFFLOADS, "none"),
    "batch_size": lambda name, value: _whole(1, MOST_AT_ONCE)(name, value) or 1,
    "revision": _text,
    "variant": _text,
    "config": _text,
    "lora": _text,
    "lora_scale": lambda name, value: _if_given(_number(-10, 10)(name, value), 1.0),
    "vae_tiling": _flag(False),
    "vae_slicing": _flag(False),
    "channels_last": _flag(False),
    "compile": _flag(False),
}
