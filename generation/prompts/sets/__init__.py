"""Prompt sets: files with the prompts of a published or an own protocol; docs/ describes the format (generation.md)."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from foundation.errors import DomainError, NotFound

_FOLDER = Path(__file__).parent
# In the order of the page.
PUBLISHED = ("visage", "visage-pull", "mcas", "pairs-parallel", "biasdora-images")
# Sets whose file also has the questions about the images.
_PROBE_SETS = {"biasdora-images": _FOLDER.parents[1] / "probe_sets"}


# In a probe set: prompts for images of each descriptor, which models then describe.
_DESCRIPTORS = "image_prompts"


@dataclass(frozen=True)
class Prompts:
    """The templates of one condition."""

    condition: str
    images_per_prompt: int
    templates: tuple[str, ...]


@dataclass(frozen=True)
class AttributeSet:
    """One of the two attribute sets of an association: its texts, and the phrases that represent it in prompts."""

    name: str
    texts: tuple[str, ...]
    phrases: tuple[str, ...]


@dataclass(frozen=True)
class Target:
    """A phrase whose association is measured."""

    name: str
    text: str
    category: str = ""
    expected: str = ""


@dataclass(frozen=True)
class Person:
    """A person for {person}, in a study that is created from the set."""

    name: str
    text: str
    factors: Mapping[str, str]


@dataclass(frozen=True)
class ScenarioPrompt:
    """A prompt whose images differ only in the person."""

    experiment: str
    name: str
    text: str


@dataclass(frozen=True)
class PromptSet:
    """The content of a file. Sets and targets are those of MCAS; other protocols take theirs from the study."""

    name: str
    title: str
    source: str
    prompts: tuple[Prompts, ...]
    sets: tuple[AttributeSet, ...] = ()
    targets: tuple[Target, ...] = ()
    scenarios: tuple[ScenarioPrompt, ...] = ()
    persons: tuple[Person, ...] = ()
    variants: tuple[str, ...] = ()

    @property
    def has_descriptors(self) -> bool:
        """Return whether its prompts name groups by singular or plural, which only descriptors have."""
        texts = [text for prompts in self.prompts for text in prompts.templates]
        return any(place in text for text in texts for place in ("{singular}", "{plural}"))

    @property
    def has_phrases(self) -> bool:
        return bool(self.targets)

    def images_of(self, condition: str) -> int:
        """Return the number of images for each prompt of the condition."""
        return next(
            (prompts.images_per_prompt for prompts in self.prompts if prompts.condition == condition), 0
        )


def prompt_set(name: str, *, variant: str = "") -> PromptSet:
    """Return a published set by name, or the set in a .toml file by path; with a variant's phrases, if named."""
    folder = _PROBE_SETS.get(name, _FOLDER)
    path = folder / f"{name}.toml" if name in PUBLISHED else Path(name).expanduser()
    if name not in PUBLISHED and path.suffix != ".toml":
        raise NotFound(
            "prompt_set_unknown",
            f"There is no prompt set “{name}”. Choose {', '.join(PUBLISHED)}, or give a .toml file.",
        )
    return _read(path, variant)


def published_prompt_sets() -> list[PromptSet]:
    """Return the sets that come with the platform."""
    return [prompt_set(name) for name in PUBLISHED]


@lru_cache(maxsize=32)
def _read(path: Path, variant: str) -> PromptSet:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DomainError("prompt_set_unreadable", f"{path} cannot be read: {error.strerror}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DomainError("prompt_set_unreadable", f"{path} is not TOML: {error}") from None
    try:
        return _with_variant(_parsed(path.stem, content), content.get("variants", {}), variant)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DomainError(
            "prompt_set_invalid",
            f"{path} is not a prompt set: {error!r}; see docs/use/reference/generation.md.",
        ) from None


def _parsed(name: str, content: Mapping[str, Any]) -> PromptSet:
    return PromptSet(
        name=name[:40],
        title=str(content.get("title", name)),
        source=str(content.get("source", "")),
        prompts=_prompts(content),
        sets=tuple(
            AttributeSet(
                str(attribute_set["name"]), _texts(attribute_set["texts"]), _texts(attribute_set["phrases"])
            )
            for attribute_set in content.get("sets", [])
        ),
        targets=tuple(
            Target(str(target), str(fields["text"]), str(category), str(fields.get("expected", "")))
            for category, targets in content.get("targets", {}).items()
            for target, fields in targets.items()
        ),
        scenarios=() if _DESCRIPTORS in content else _scenarios(content.get("experiments", [])),
        persons=tuple(
            Person(
                str(person["name"])[:120],
                str(person["text"])[:120],
                {str(factor): str(level) for factor, level in person.get("factors", {}).items()},
            )
            for person in content.get("persons", [])
        ),
        variants=tuple(content.get("variants", {})),
    )


def _prompts(content: Mapping[str, Any]) -> tuple[Prompts, ...]:
    if _DESCRIPTORS in content:
        templates = [
            str(one["text"]).replace("{descriptor}", f"{{{one['form']}}}") for one in content[_DESCRIPTORS]
        ]
        return (Prompts("default", int(content["images_per_prompt"]), tuple(templates)),)
    return tuple(
        Prompts(prompts["condition"], int(prompts["images_per_prompt"]), _texts(prompts["templates"]))
        for prompts in (content.get("prompts", []) if "experiments" in content else content["prompts"])
    )


def _scenarios(experiments: Any) -> tuple[ScenarioPrompt, ...]:
    scenarios = tuple(
        ScenarioPrompt(str(experiment["name"])[:60], str(name)[:120], " ".join(str(text).split()))
        for experiment in experiments
        for name, text in experiment["scenarios"].items()
    )
    for what, values in (
        ("text", [scenario.text for scenario in scenarios]),
        ("name", [(scenario.experiment, scenario.name) for scenario in scenarios]),
    ):
        if len(set(values)) < len(values):
            raise ValueError(f"two scenarios have the same {what}")
    return scenarios


def _texts(values: Any) -> tuple[str, ...]:
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise TypeError(f"{values!r} is not a list of texts")
    return tuple(values)


def _with_variant(base: PromptSet, variants: Mapping[str, Mapping[str, str]], variant: str) -> PromptSet:
    if not variant:
        return base
    if variant not in variants:
        names = ", ".join(variants) or "none"
        raise NotFound(
            "variant_unknown", f"The prompt set {base.name} has no variant “{variant}”; it has {names}."
        )
    replacements = variants[variant]
    sets = tuple(
        replace(
            attribute_set, phrases=tuple(replacements.get(phrase, phrase) for phrase in attribute_set.phrases)
        )
        for attribute_set in base.sets
    )
    targets = tuple(
        replace(target, text=replacements.get(target.text, target.text)) for target in base.targets
    )
    return replace(base, sets=sets, targets=targets)
