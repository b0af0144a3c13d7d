"""Label Studio's labelling interface (XML), which asks the questions of our own pages or shows the answers to them."""

from collections.abc import Mapping
from xml.sax.saxutils import quoteattr

from annotation.kinds.registry import RATING_LABELS, RATING_ORDER, UNSURE
from annotation.label_studio.format.names import CONTROLS

YES, NO = "yes", "no"
IMAGE, ATTRIBUTE = "image", "attribute"  # what is shown
NONE, SOME = "None of the above", "At least one of the above"
# The picture fills the space beside the answers, up to the height of the window. The answers come first, so that their
# keys are 1 to 5, and are shown on the right.
_STYLE = """
    .asks {display: flex; gap: 16px; align-items: flex-start}
    .picture {flex: 1 1 auto; min-width: 0}
    .answers {flex: 0 0 220px; order: 2; position: sticky; top: 0}
    .attribute {padding: 24px 0; text-align: center}
    .attribute * {font-size: 30px; line-height: 1.4}
  """
_HEIGHT = "calc(100vh - 150px)"


def labelling_interface(
    *, rates: bool, statement: str, labels: Mapping[str, str] | None = None, answered_elsewhere: bool = True
) -> str:
    """Return the XML with which a project of Label Studio shows our tasks and their questions.

    `answered_elsewhere`: annotations that come with the tasks are shown too. They name their annotator and state
    explicitly whether “none of the above” was chosen.
    """
    question = (
        _rating({**RATING_LABELS, **(labels or {})}, statement)
        if rates
        else _marking(statement, answered_elsewhere)
    )
    if answered_elsewhere:
        stimulus = ATTRIBUTE if rates else IMAGE
        question.append(
            f'<TextArea name="{CONTROLS["annotator"]}" toName="{stimulus}" editable="false" placeholder="Annotator"/>'
        )
    return "\n".join(
        ["<View>", f"  <Style>{_STYLE}</Style>", *(f"  {line}" for line in question), "</View>", ""]
    )


def _rating(labels: Mapping[str, str], statement: str) -> list[str]:
    rating, why = CONTROLS["rating"], CONTROLS["justification"]
    return [
        f"<Header value={quoteattr(statement)}/>",
        '<View className="attribute">',
        f'  <Text name="{ATTRIBUTE}" value="$attribute" selectionEnabled="false"/>',
        "</View>",
        f'<Choices name="{rating}" toName="{ATTRIBUTE}" choice="single-radio" showInline="true" required="true"'
        ' requiredMessage="Choose an answer.">',
        *(
            f'  <Choice value={quoteattr(labels[key])} alias="{key}" hotkey="{place}"/>'
            for place, key in enumerate(RATING_ORDER, start=1)
        ),
        "</Choices>",
        f'<View visibleWhen="choice-selected" whenTagName="{rating}"'
        f" whenChoiceValue={quoteattr(labels[str(UNSURE)])}>",
        f'  <TextArea name="{why}" toName="{ATTRIBUTE}" rows="3" maxSubmissions="1" editable="true"'
        ' required="true" requiredMessage="Write why you are unsure; a few words are enough."'
        ' placeholder="Why are you unsure?"/>',
        "</View>",
    ]


def _marking(statement: str, answered_elsewhere: bool) -> list[str]:
    present, box, none = (CONTROLS[name] for name in ("present", "box", "none_of_the_above"))
    return [
        '<View className="asks">',
        '  <View className="answers">',
        f"    <Header value={quoteattr(statement)}/>",
        f'    <Choices name="{present}" toName="{IMAGE}" choice="multiple" value="$attributes"/>',
        f'    <Choices name="{none}" toName="{IMAGE}" choice="multiple">',
        # Label Studio refuses a single Choice unless it is in a View.
        f'      <View><Choice value="{NONE}" alias="{YES}" hotkey="0"/></View>',
        *([f'      <View><Choice value="{SOME}" alias="{NO}"/></View>'] if answered_elsewhere else []),
        "    </Choices>",
        '    <Header value="Boxes" size="5"/>',
        f'    <RectangleLabels name="{box}" toName="{IMAGE}" value="$attributes" canRotate="false"'
        ' strokeWidth="3" opacity="0.1" showInline="false"/>',
        "  </View>",
        '  <View className="picture">',
        f'    <Image name="{IMAGE}" value="$image" zoom="true" zoomControl="true" rotateControl="false"'
        f' defaultZoom="fit" height="{_HEIGHT}"/>',
        "  </View>",
        "</View>",
    ]
