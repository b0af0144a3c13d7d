"""The stimuli of a kind's screens."""

from typing import Literal, Self

from pydantic import field_serializer, model_validator

from annotation.kinds.parts import Declared
from annotation.kinds.problems import Fault, refuse
from foundation.parameters import parameter


class Stimuli(Declared):
    """The contents of one screen: the number of texts or images, and which of them belong together."""

    medium: Literal["text", "image"] = parameter(
        label="Shown", help="What annotators look at.", words={"image": "Images", "text": "Texts"}
    )
    least: int = parameter(
        1, label="Fewest on a screen", help="The smallest number of images or texts on a screen.", ge=1, le=6
    )
    most: int = parameter(
        1, label="Most on a screen", help="The largest number of images or texts on a screen.", ge=1, le=6
    )
    together: tuple[Literal["prompt", "scenario", "seed", "group", "model"], ...] = parameter(
        (),
        label="They share",
        help="What all images on a screen have in common.",
        words={
            "prompt": "Prompt",
            "scenario": "Scenario",
            "seed": "Seed",
            "group": "Group",
            "model": "Model",
        },
    )
    differ: Literal["model", "group"] | None = parameter(
        None,
        label="They differ in",
        help="What differs between any two images on a screen.",
        words={None: "Nothing: they are different images", "model": "Model", "group": "Group"},
    )
    prompt_shown: bool = parameter(
        False, label="Show the prompt", help="Annotators see the prompt beside the image."
    )
    blind: frozenset[Literal["group", "prompt", "condition", "model", "role"]] = parameter(
        frozenset(),
        label="Kept from annotators",
        help="Annotators never receive the chosen details.",
        words={
            "group": "Group",
            "prompt": "Prompt",
            "condition": "Condition",
            "model": "Model",
            "role": "Role of an attribute",
        },
    )
    order: Literal["fixed", "shuffled", "counterbalanced"] = parameter(
        "fixed",
        label="Order",
        help="Counterbalanced shows each order equally often and stores the order shown.",
        words={"fixed": "Fixed", "shuffled": "Shuffled", "counterbalanced": "Counterbalanced"},
    )

    sensitive: bool = parameter(
        False,
        label="Sensitive",
        help="The images or texts may be distressing. A lead can limit how many such screens each person "
        "gets a day.",
    )

    @field_serializer("blind")
    def _sorted(self, blind: frozenset[str]) -> list[str]:
        return sorted(blind)  # a file is the same in each process

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.least > self.most:
            refuse(
                Fault(("least",), f"the minimum of {self.least} stimuli is above the maximum of {self.most}")
            )
        if self.most == 1 and (self.order != "fixed" or self.together or self.differ):
            refuse(Fault(("most",), "one stimulus has no order and nothing in common with others"))
        if self.differ in self.together:
            refuse(Fault(("differ",), f"stimuli cannot share the {self.differ} and differ in it"))
        if self.differ == "group" and "prompt" in self.together:
            refuse(Fault(("differ",), "images of one prompt show one group, and cannot differ in it"))
        if self.prompt_shown and (self.medium != "image" or "prompt" in self.blind):
            refuse(
                Fault(
                    ("prompt_shown",),
                    "a prompt can be shown only beside images, and only if it is not kept from annotators",
                )
            )
        if self.prompt_shown and self.most > 1 and "prompt" not in self.together:
            refuse(Fault(("prompt_shown",), "one prompt can be shown only beside images of one prompt"))
        return self

    @property
    def of_one_group(self) -> bool:
        """Whether everything on a screen shows the same identity group, if any."""
        return self.medium == "image" and (
            self.most == 1 or not {"prompt", "group"}.isdisjoint(self.together)
        )

    @property
    def layout(self) -> Literal["one", "side_by_side", "grid"]:
        """The arrangement of a screen's stimuli."""
        return "one" if self.most == 1 else "side_by_side" if self.most == 2 else "grid"
