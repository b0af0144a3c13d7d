"""The New study form of MCAS: two attribute sets and targets, as editable lines of text."""

from typing import Any

from django import forms

from generation.prompts.creation import MOST_IMAGES_PER_PROMPT
from generation.prompts.mcas import McasPlan
from generation.prompts.sets import AttributeSet, PromptSet, Target

_LINES = {"rows": 5, "spellcheck": "false"}


class McasForm(forms.Form):
    """The settings of an MCAS study."""

    name = forms.CharField(max_length=120, label="Name")
    description = forms.CharField(required=False, widget=forms.Textarea({"rows": 3}), label="Description")
    name_a = forms.CharField(max_length=60, label="Name of set A")
    texts_a = forms.CharField(
        widget=forms.Textarea(_LINES),
        label="Texts of A",
        help_text="One text on each line. The texts are compared with images and prompts.",
    )
    phrases_a = forms.CharField(
        widget=forms.Textarea(_LINES),
        label="Phrases of A",
        help_text="One phrase on each line. Images are generated from the phrases.",
    )
    name_b = forms.CharField(max_length=60, label="Name of set B")
    texts_b = forms.CharField(
        widget=forms.Textarea(_LINES),
        label="Texts of B",
        help_text="One text on each line. The texts are compared with images and prompts.",
    )
    phrases_b = forms.CharField(
        widget=forms.Textarea(_LINES),
        label="Phrases of B",
        help_text="One phrase on each line. Images are generated from the phrases.",
    )
    targets = forms.CharField(
        widget=forms.Textarea({"rows": 14, "spellcheck": "false"}),
        label="Targets",
        help_text="One target on each line: category | name | phrase | the set that is nearer to the target "
        "according to earlier research (may be empty).",
    )
    template = forms.CharField(
        max_length=400, label="Prompt", help_text="The prompt, with {phrase} in place of the phrase."
    )
    images_per_target = forms.IntegerField(
        min_value=1, max_value=MOST_IMAGES_PER_PROMPT, label="Images of each target"
    )
    images_per_phrase = forms.IntegerField(
        min_value=1, max_value=MOST_IMAGES_PER_PROMPT, label="Images of each phrase of a set"
    )
    seed = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=2**31 - 1,
        label="Seed",
        help_text="The seed determines the seed of every image. If empty, a random seed is used.",
    )

    def clean_targets(self) -> tuple[Target, ...]:
        """Return one target per line; the error names the number of a line with too few or too many parts."""
        targets = []
        for number, line in enumerate(self.cleaned_data["targets"].splitlines(), start=1):
            parts = [part.strip() for part in line.split("|")]
            if not any(parts):
                continue
            if len(parts) not in {3, 4}:
                raise forms.ValidationError(
                    f"Line {number} must have a category, a name and a phrase, with | between them."
                )
            category, name, text, expected = [*parts, ""][:4]
            targets.append(Target(name, text, category, expected))
        return tuple(targets)

    def plan(self) -> McasPlan:
        """Return the plan of the form, without fields that are missing or invalid."""
        data: dict[str, Any] = getattr(self, "cleaned_data", {})
        return McasPlan(
            sets=tuple(
                AttributeSet(
                    data.get(f"name_{letter}") or letter.upper(),
                    tuple((data.get(f"texts_{letter}") or "").splitlines()),
                    tuple(
                        line for line in (data.get(f"phrases_{letter}") or "").splitlines() if line.strip()
                    ),
                )
                for letter in ("a", "b")
            ),
            targets=data.get("targets") or (),
            template=data.get("template") or "",
            images_per_target=data.get("images_per_target") or 0,
            images_per_phrase=data.get("images_per_phrase") or 0,
        )


def values_of(published: PromptSet) -> dict[str, Any]:
    """Return the form's initial values for a prompt set."""
    plan = McasPlan.of(published)
    values: dict[str, Any] = {
        "template": plan.template,
        "images_per_target": plan.images_per_target,
        "images_per_phrase": plan.images_per_phrase,
        "targets": "\n".join(
            " | ".join((target.category, target.name, target.text, target.expected)).removesuffix(" | ")
            for target in plan.targets
        ),
    }
    for letter, attribute_set in zip("ab", plan.sets, strict=True):
        values[f"name_{letter}"] = attribute_set.name
        values[f"texts_{letter}"] = "\n".join(attribute_set.texts)
        values[f"phrases_{letter}"] = "\n".join(attribute_set.phrases)
    return values
