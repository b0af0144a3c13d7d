"""The kinds of campaign that there are, by key."""

from collections.abc import Mapping
from typing import Protocol

from django.utils.translation import get_language

from annotation.kinds import attribute_likert, stereotype_marking
from annotation.kinds.declaration import Kind

KINDS: dict[str, Kind] = {module.KIND.key: module.KIND for module in (attribute_likert, stereotype_marking)}
CHOICES = [(kind.key, kind.name) for kind in KINDS.values()]
# What annotators and their programs are told a task is: what is done, not what it is for.
TASK_KINDS = [(kind.public_name, kind.public_help) for kind in KINDS.values()]


class OfKind(Protocol):
    """A campaign, or what is planned or known of one."""

    @property
    def kind(self) -> str: ...


def kind_of(campaign: OfKind) -> Kind:
    """Return the kind of a campaign."""
    return KINDS[campaign.kind]


def kinds_that_ask(question_type: str) -> list[str]:
    """Return the keys of the kinds that ask a question of this type."""
    return [kind.key for kind in KINDS.values() if kind.asks(question_type)]


def work_in(campaign: OfKind) -> str:
    """Return what annotators read of a campaign instead of its name, which a lead may have chosen to say too much."""
    return in_language(kind_of(campaign).work)


def in_language(texts: Mapping[str, str]) -> str:
    """Return a declared text in the language of the page, or in English where it has none."""
    language = (get_language() or "en").partition("-")[0]
    return texts.get(language, texts["en"])
