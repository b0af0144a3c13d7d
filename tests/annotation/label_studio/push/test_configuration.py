"""The labelling interface has the questions of our own pages, with the names that our readers expect."""

from xml.etree import ElementTree

import pytest

from annotation.kinds.questions import CodedAnswer, Region
from annotation.kinds.registry import KINDS, RATING_LABELS, RATING_ORDER, frozen
from annotation.kinds.stimuli import Stimuli
from annotation.label_studio.format.interface import labelling_interface
from annotation.label_studio.format.names import CONTROLS
from annotation.label_studio.push.configuration import differs, digest, instructions
from annotation.models import Campaign, Instrument
from tests.annotation.kinds.examples import choice, declared, scale

pytestmark = pytest.mark.database_free
STATEMENT = 'Is "this" & that <shown>?'


def interface(*, rates: bool, **more) -> ElementTree.Element:
    return ElementTree.fromstring(
        labelling_interface(rates=rates, statement=STATEMENT, answered_elsewhere=False, **more)
    )


def named(root: ElementTree.Element, control: str) -> ElementTree.Element:
    (found,) = (one for one in root.iter() if one.get("name") == CONTROLS[control])
    return found


def test_a_rating_has_its_five_answers_in_a_row_with_keys_1_to_5():
    root = interface(rates=True)
    choices = named(root, "rating")
    assert (choices.get("showInline"), choices.get("required")) == ("true", "true")
    assert [one.get("alias") for one in choices] == list(RATING_ORDER)
    assert [one.get("value") for one in choices] == [RATING_LABELS[key] for key in RATING_ORDER]
    assert [one.get("hotkey") for one in choices] == ["1", "2", "3", "4", "5"]
    assert STATEMENT in [one.get("value") for one in root.iter("Header")]


def test_unsure_asks_for_a_reason_under_any_label():
    labels = RATING_LABELS | {"3": "Can’t say"}
    root = interface(rates=True, labels=labels)
    (shown,) = (one for one in root.iter("View") if one.get("visibleWhen"))
    assert shown.get("whenTagName") == CONTROLS["rating"]
    assert shown.get("whenChoiceValue") == "Can’t say"
    assert list(shown) == [named(root, "justification")]
    assert named(root, "justification").get("required") == "true"


def test_a_marking_has_a_choice_and_a_rectangle_for_each_attribute_and_none_of_the_above():
    root = interface(rates=False)
    for control in ("present", "box"):
        assert named(root, control).get("value") == "$attributes"
    assert named(root, "box").get("canRotate") == "false"
    (none,) = named(root, "none_of_the_above").iter("Choice")
    assert (none.get("value"), none.get("alias"), none.get("hotkey")) == ("None of the above", "yes", "0")
    image = next(root.iter("Image"))
    assert (image.get("value"), image.get("zoom"), image.get("rotateControl")) == ("$image", "true", "false")


def test_annotators_are_not_asked_for_a_name():
    for rates in (True, False):
        assert CONTROLS["annotator"] not in {one.get("name") for one in interface(rates=rates).iter()}


@pytest.mark.parametrize("rates", [True, False])
def test_label_studio_accepts_the_configuration(rates):
    sdk = pytest.importorskip("label_studio_sdk.label_interface")
    written = labelling_interface(rates=rates, statement=STATEMENT, answered_elsewhere=False)
    assert sdk.LabelInterface(written).validate() is None


def told(kind, **more) -> str:
    """Return the text that annotators read before they begin."""
    campaign = Campaign(kind=kind.key, declaration=frozen(kind), **more)
    return instructions(campaign, Instrument(**kind.first_instrument()))


def test_instructions_state_rules_that_label_studio_does_not_check():
    alone = CodedAnswer(code="none", label={"en": "None <of> this", "de": "x"}, alone=True)
    harms = choice("harms", ("a", "b"), several=True)
    harms = harms.model_copy(update={"answers": (*harms.answers, alone)})
    place = Region(shape="box", after=(1,))
    kind = declared("hostile", Stimuli(medium="image"), harms, scale("calm", region=place))
    assert "‘None &lt;of&gt; this’ together with another answer is not counted." in told(kind)
    assert "Without a place, the answer is not counted" in told(kind, boxes_required=True)
    assert "Without a place" not in told(kind, boxes_required=False)
    assert "Pictures may share a place; 1 is the best." in told(KINDS["ranking"])
    assert "more than 500 characters" in told(KINDS["bias_level"])


def test_white_space_and_the_order_of_xml_attributes_do_not_count_as_edits():
    first = {"label_config": '<View><Text name="a" value="$b"/></View>', "maximum_annotations": 1}
    same = {"label_config": '<View>\n  <Text  value="$b" name="a" />\n</View>\n', "maximum_annotations": 1}
    assert digest(first) == digest(same)
    assert not differs("label_config", first["label_config"], same["label_config"])
    for change in (
        {"label_config": '<View><Text name="a" value="$c"/></View>'},
        {"label_config": "<View>"},
        {"label_config": '<!DOCTYPE a [<!ENTITY b "c">]><View>&b;</View>'},
        {"maximum_annotations": 2},
        {"skip_queue": "REQUEUE_FOR_ME"},
    ):
        assert digest(first) != digest(first | change)
    assert digest(first) == digest(first | {"title": "Other", "color": "#fff"})
