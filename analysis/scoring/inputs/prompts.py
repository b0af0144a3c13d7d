"""The prompts that stand for an attribute, and those it is compared with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from foundation.errors import DomainError
from generation.prompts import placeholders

TEMPLATES = ("a photo of a person, {attr}",)
CONTRAST = ("a photo of a person",)


@dataclass(frozen=True)
class PromptTexts:
    """The prompts of some attributes: several of one attribute are averaged as vectors."""

    contrast: tuple[str, ...]
    by_attribute: Mapping[int, tuple[str, ...]]

    @classmethod
    def of(
        cls, attributes: Mapping[int, str], *, templates: Sequence[str], contrast: Sequence[str]
    ) -> "PromptTexts":
        """Fill the templates for each attribute, given by key and text."""
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
    """Refuse a prompt without the places it must have, or with one it may not have."""
    for template in templates:
        named_places = placeholders.check(template) - {"a_an", "A_an"}
        if named_places != places:
            must = (
                "must have the place {attr} for the attribute, and no other place"
                if places
                else "must not have places such as {attr}"
            )
            raise DomainError("prompt_invalid", f"The prompt “{template}” {must}.")
