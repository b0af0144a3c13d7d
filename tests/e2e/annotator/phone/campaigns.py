"""Open campaigns that are difficult on a phone: four pictures, long words, long texts, required boxes."""

from collections.abc import Callable

import pytest

from annotation.campaigns import lifecycle
from annotation.kinds.registry import KINDS
from annotation.models import Campaign
from catalog.models import Attribute
from generation.images.storage import store_image
from studies.models import Study, StudyGroup
from tests.generation.drawings import drawing

PROMPT = "a drum beside a tall hat on a table in front of a window with a view of the islands"
LONG_TEXT = (
    "Who of the two is a weaver, the person with the tall hat or the person with the blue scarf? – People with tall "
    "hats are often weavers, because weaving is done in the cold houses of the north, and a tall hat keeps one warm. "
    "People with blue scarves mostly fish. From the picture alone it cannot be known, but if one has to choose, then "
    "it is more probably the person with the tall hat, though the other may well weave too."
)
LONG_WORDS = {
    "tall hat": "wears a tall hat with a wide brim",
    "drum": "plays a drum",
    "lantern": "carries a lantern through the night of the long winter",
    "kite": "flies kites",
    "umbrella": "never leaves the house without an umbrella",
}


@pytest.fixture
def open_campaign(study, lead) -> Callable[[str], Campaign]:
    """Return a function that opens a campaign of a kind."""
    for text, words in LONG_WORDS.items():
        Attribute.objects.filter(text=text).update(text=words)
    groups = list(study.groups.order_by("name"))
    groups += [StudyGroup.objects.create(study=study, name=name, display_name=name) for name in "AB"]
    for number, model in enumerate(("north", "south", "west", "east")):
        data = drawing(number, "drum", "tall hat")
        store_image(study=study, data=data, group=groups[0], model_label=model, prompt=PROMPT)
    for number, group in enumerate(groups[1:], start=10):
        data = drawing(number, "drum", "tall hat")
        store_image(study=study, data=data, group=group, model_label="north", prompt=PROMPT)
    Study.objects.filter(pk=study.pk).update(simulated=False)

    def opened(kind: str) -> Campaign:
        settings: dict[str, object] = {}
        declared = KINDS[kind]
        if kind == "pair_check":  # a scenario with images of four groups
            study.images.filter(model_label="north").update(scenario="drummer")
        elif declared.marks_attributes:
            settings = {"attributes_per_screen": 5, "boxes_required": True}
        elif declared.stimuli.medium == "text" and not declared.about_attributes:
            settings = {"options": {"texts": [LONG_TEXT, LONG_TEXT.replace("hat", "cap")]}}
        draft = lifecycle.create(study=study, name=kind, kind=kind, by=lead, **settings)
        return lifecycle.open_(campaign=draft, by=lead)

    return opened
