"""Forms of the lead's pages. They parse; the verbs decide."""

from typing import Any, ClassVar

from django import forms

from accounts.consent_texts import ErasurePromise
from accounts.models import ConsentText
from annotation.models import Enrolment
from catalog.models import IdentityGroup, Resource
from catalog.raters import MIN_RATERS, RaterPools
from foundation.errors import DomainError
from generation.prompts.creation import MOST_IMAGES_PER_PROMPT, clean_templates
from studies.models import StudyMembership
from studies.protocol.groups import GroupFilter
from web.form_fields import set_choices, set_queryset

# The published protocol's prompts, word for word, even `an` before a group's name that needs `a`.
DEFAULT_PROMPTS = "a photo of {id} person\na portrait of {id} person\nan {id} person"


class NewStudyForm(forms.Form):
    """The settings of a new study."""

    name = forms.CharField(max_length=120, help_text="The name appears in addresses, reports and releases.")
    description = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="What you want to find out. Members of the study see this text.",
    )
    min_raters = forms.IntegerField(
        min_value=1,
        max_value=1000,
        initial=MIN_RATERS,
        label="Raters who must agree",
        help_text="A group and an attribute are a stereotype if at least this many raters of the resource called "
        "them one.",
    )
    rater_pools = forms.ChoiceField(
        choices=RaterPools.choices,
        initial=RaterPools.SEPARATE,
        required=False,
        label="Raters counted",
        help_text="A resource may have one pool of raters in the region of a group and one pool outside it. For the "
        "table released with ViSAGe, it is enough that the raters of one pool agree.",
    )
    min_stereotypes = forms.IntegerField(
        min_value=1,
        max_value=1000,
        initial=2,
        label="Stereotypes a group needs",
        help_text="Groups with fewer visual stereotypes are left out of the tendency table and listed below it.",
    )
    most_stereotypes = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=1000,
        label="Stereotypes asked about a group, at most",
        help_text="If empty, all stereotypes are used. Otherwise, the stereotypes that most raters called "
        "stereotypes are used; the seed decides between stereotypes with equally many raters.",
    )
    q = forms.CharField(
        required=False, max_length=120, label="Search", widget=forms.TextInput(attrs={"type": "search"})
    )
    region = forms.ChoiceField(required=False, label="Region")
    at_least = forms.IntegerField(required=False, min_value=0, label="Stereotypes, at least")
    offensiveness_from = forms.FloatField(required=False, label="Offensiveness from")
    offensiveness_to = forms.FloatField(required=False, label="Offensiveness to")
    groups = forms.ModelMultipleChoiceField(
        queryset=IdentityGroup.objects.none(),
        label="Identity groups",
        error_messages={"required": "Choose at least one identity group."},
    )
    templates = forms.CharField(
        label="Prompts",
        initial=DEFAULT_PROMPTS,
        widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false"}),
        error_messages={"required": "Write at least one prompt."},
        help_text="Write one prompt on each line. {id} is replaced by the group, {a_an} by the right article before "
        "the next word, and {A_an} by the same article with a capital. The prompts shown first are those of the "
        "published protocol, word for word.",
    )
    images_per_prompt = forms.IntegerField(
        min_value=1, max_value=MOST_IMAGES_PER_PROMPT, initial=5, label="Images per prompt and group"
    )
    seed = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=2**31 - 1,
        label="Seed",
        help_text="The seed determines every random choice of the study. If empty, a random seed is used and stored.",
    )
    simulated = forms.BooleanField(
        required=False,
        label="A simulated study",
        help_text="Choose this for trying things out. Only a simulated study accepts labels from simulated "
        "annotators and offers drawings of invented figures. Every page of the study says that it is simulated.",
    )

    FILTERS: ClassVar = ("q", "region", "at_least", "offensiveness_from", "offensiveness_to")

    def __init__(self, *args: Any, resource: Resource, regions: list[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        set_queryset(self, "groups", resource.groups.all())
        set_choices(self, "region", [("", "All regions"), *((region, region) for region in regions)])

    def clean_templates(self) -> list[str]:
        return clean_lines(self.cleaned_data["templates"])

    def filters(self) -> GroupFilter:
        """Return which groups are shown; a filter that is not a number shows all."""
        values = getattr(self, "cleaned_data", {})
        return GroupFilter(
            name=values.get("q") or "",
            region=values.get("region") or "",
            at_least=values.get("at_least"),
            offensiveness_from=values.get("offensiveness_from"),
            offensiveness_to=values.get("offensiveness_to"),
        )

    def clean_rater_pools(self) -> str:
        return str(self.cleaned_data["rater_pools"] or RaterPools.SEPARATE)

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        most, fewest = values.get("most_stereotypes"), values.get("min_stereotypes")
        if most is not None and fewest is not None and most < fewest:
            self.add_error(
                "most_stereotypes",
                f"A group needs {fewest} stereotypes, so the limit must be {fewest} or more.",
            )
        return values

    def settings(self) -> dict[str, Any]:
        """Return the arguments of the verb that creates the study."""
        return {name: value for name, value in self.cleaned_data.items() if name not in self.FILTERS}


class StudyForm(NewStudyForm):
    """The settings of a study that is not frozen yet. Everything drawn from its seed would change with them."""

    seed = None  # type: ignore[assignment]
    simulated = None  # type: ignore[assignment]

    def __init__(self, *args: Any, prompts: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not prompts:  # they come from a file, or each has its own number of images
            del self.fields["templates"], self.fields["images_per_prompt"]


class StudyTextForm(forms.Form):
    """Name and description of a study whose groups come with its images, its phrases or its files."""

    name = forms.CharField(
        max_length=120, help_text="The name appears in reports and releases. Addresses do not change."
    )
    description = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="What you want to find out. Members of the study see this text.",
    )


class DescriptionForm(forms.Form):
    """The settings that may change after a study is frozen."""

    description = StudyTextForm.base_fields["description"]


class DeleteStudyForm(forms.Form):
    """The name of the study, typed to confirm that it is deleted."""

    name = forms.CharField(
        max_length=120, label="Name of the study", widget=forms.TextInput(attrs={"autocomplete": "off"})
    )


def clean_lines(text: str) -> list[str]:
    """Return the prompts of a text area, or the first problem as a form error."""
    try:
        return clean_templates(text.splitlines())
    except DomainError as error:
        raise forms.ValidationError(error.message) from None


class MemberForm(forms.Form):
    username = forms.CharField(max_length=150, label="User name")
    role = forms.ChoiceField(
        choices=StudyMembership.Role.choices,
        initial=StudyMembership.Role.ANALYST,
        help_text="What each role may do is described below.",
    )


class ConsentForm(forms.Form):
    """The consent text that annotators of a study read first."""

    content_notice = forms.CharField(widget=forms.Textarea(attrs={"rows": 4}), label="Content notice")
    body = forms.CharField(widget=forms.Textarea(attrs={"rows": 14}), label="What annotators agree to")
    support = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 4}),
        label="Support",
        help_text="Where annotators can find help if something troubles them. Annotators see this text with "
        "the content notice and at the end.",
    )
    labels_when_erased = forms.ChoiceField(
        choices=ConsentText.LabelsWhenErased.choices,
        required=False,
        label="Answers of an erased person are",
        help_text="A nameless code is random and cannot be traced to anybody. Answers in people’s own words are "
        "always deleted.",
    )

    may_erase_self = forms.BooleanField(
        required=False,
        label="People may erase themselves",
        help_text="People can erase themselves on their page “Your data”. If you do not choose this, people "
        "have to ask you to erase them.",
    )

    @classmethod
    def of(cls, text: ConsentText) -> "ConsentForm":
        return cls(initial={name: getattr(text, name) for name in cls.base_fields})

    def settings(self) -> dict[str, Any]:
        """Return the arguments of the verb that publishes."""
        texts = dict(self.cleaned_data)
        labels = texts.pop("labels_when_erased") or ConsentText.LabelsWhenErased.DELETE
        promise = ErasurePromise(labels, texts.pop("may_erase_self"))
        return texts | {"promise": promise}


class EnrolmentForm(forms.Form):
    """The reason for pausing, resuming or excluding an annotator."""

    reason = forms.CharField(
        max_length=300, label="Reason", help_text="The reason is kept in the study’s history."
    )


class ExclusionForm(EnrolmentForm):
    """The reason for excluding answers, and whether others answer their screens."""

    ask_again = forms.BooleanField(
        required=False, initial=True, label="Give the screen of the excluded answer to somebody else"
    )


class EnrolmentFilter(forms.Form):
    state = forms.ChoiceField(required=False, choices=[("", "All"), *Enrolment.State.choices])
    q = forms.CharField(required=False, label="Pseudonym")
