"""Prompts with an attribute, and the contrast prompts that they are compared with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from foundation.errors import DomainError
from generation.prompts import placeholders

TEMPLATES = ("a photo of a person, {attr}",)
CONTRAST = ("a photo of a person",)


@dataclass(frozen=True)
class PromptTexts:
    """The prompts of some attributes; the vectors of an attribute's prompts are averaged."""

    contrast: tuple[str, ...]
    by_attribute: Mapping[int, tuple[str, ...]]

    @classmethod
    def of(
        cls, attributes: Mapping[int, str], *, templates: Sequence[str], contrast: Sequence[str]
    ) -> "PromptTexts":
        """Fill the templates with each attribute; `attributes` maps keys to texts."""
        filled = {
            key: tuple(placeholders.render(template, group="", attribute=text) for template in templates)
            for key, text in attributes.items()
        }
        return cls(tuple(contrast), filled)

    @property
    def texts(self) -> list[str]:
        return list(
            dict.fromkeys(
                [*self.contrast, *(text for prompts in self.by_attribute.values() for text in prompts)]
            )
        )


def check_templates(templates: Sequence[str], *, places: frozenset[str]) -> None:
    """Raise DomainError if a prompt's placeholders are not exactly `places` (articles aside)."""
    for template in templates:
        named_places = placeholders.check(template) - {"a_an", "A_an"}
        if named_places != places:
            must = (
                "must contain the placeholder {attr} for the attribute, and no other placeholder"
                if places
                else "must not contain placeholders such as {attr}"
            )
            raise DomainError("prompt_invalid", f"The prompt “{template}” {must}.")
