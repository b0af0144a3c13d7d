"""Forms of the lead's pages. They parse; the verbs decide."""

from datetime import timedelta
from typing import Any, ClassVar

from django import forms
from django.utils import timezone

from accounts.models import ConsentText
from annotation.models import Enrolment
from catalog.models import IdentityGroup, Resource
from catalog.raters import MIN_RATERS, RaterPools
from foundation.errors import DomainError
from foundation.tables.reader import read_table
from generation.prompts.creation import MOST_IMAGES_PER_PROMPT, clean_templates
from studies.models import StudyMembership
from studies.protocol.groups import GroupFilter
from web.form_fields import set_choices, set_queryset

_TABLE_BYTES = 1024 * 1024
# The published protocol's, word for word: also `an` where the group's name would want `a`.
DEFAULT_PROMPTS = "a photo of {id} person\na portrait of {id} person\nan {id} person"


class NewStudyForm(forms.Form):
    """The settings of a new study."""

    name = forms.CharField(max_length=120, help_text="It appears in addresses, reports and releases.")
    description = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="For members: what you want to find out.",
    )
    min_raters = forms.IntegerField(
        min_value=1,
        max_value=1000,
        initial=MIN_RATERS,
        label="Raters who must agree",
        help_text="A pair is a stereotype when at least this many of the resource’s raters called it one.",
    )
    rater_pools = forms.ChoiceField(
        choices=RaterPools.choices,
        initial=RaterPools.SEPARATE,
        required=False,
        label="Raters counted",
        help_text="A resource may have raters in the region of a group and raters outside it. In the table "
        "released with ViSAGe, raters of one pool are enough.",
    )
    min_stereotypes = forms.IntegerField(
        min_value=1,
        max_value=1000,
        initial=2,
        label="Stereotypes a group needs",
        help_text="Groups with fewer visual stereotypes stay out of the tendency table and are listed.",
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
        help_text="One prompt per line. {id} is the group; {a_an} the right article for the word after it, "
        "{A_an} the same with a capital. Plain text stays as you write it. "
        "Given are the prompts of the published protocol, word for word.",
    )
    images_per_prompt = forms.IntegerField(
        min_value=1, max_value=MOST_IMAGES_PER_PROMPT, initial=5, label="Images per prompt and group"
    )
    seed = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=2**31 - 1,
        label="Seed",
        help_text="Every random choice of the study follows from it. Empty: one is drawn and stored.",
    )
    simulated = forms.BooleanField(
        required=False,
        label="A simulated study",
        help_text="For trying things out. Labels of simulated annotators count only in such a study, and every "
        "page of it says so.",
    )

    FILTERS: ClassVar = ("region", "at_least", "offensiveness_from", "offensiveness_to")

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
            region=values.get("region") or "",
            at_least=values.get("at_least"),
            offensiveness_from=values.get("offensiveness_from"),
            offensiveness_to=values.get("offensiveness_to"),
        )

    def clean_rater_pools(self) -> str:
        return str(self.cleaned_data["rater_pools"] or RaterPools.SEPARATE)

    def settings(self) -> dict[str, Any]:
        """Return the arguments of the verb that creates the study."""
        return {name: value for name, value in self.cleaned_data.items() if name not in self.FILTERS}


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
        help_text="A lead may change the study; an analyst reads its results.",
    )


class ConsentForm(forms.Form):
    """The consent text that annotators of a study read first."""

    content_notice = forms.CharField(widget=forms.Textarea(attrs={"rows": 4}), label="Content notice")
    body = forms.CharField(widget=forms.Textarea(attrs={"rows": 14}), label="What they agree to")
    support = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 4}),
        label="Support",
        help_text="Where to turn when something stays with them. Shown with the notice and at the end.",
    )

    @classmethod
    def of(cls, text: ConsentText) -> "ConsentForm":
        return cls(
            initial={"content_notice": text.content_notice, "body": text.body, "support": text.support}
        )


class InvitationForm(forms.Form):
    """A link for one person or for several."""

    label = forms.CharField(
        max_length=120,
        required=False,
        label="Your note",
        help_text="Whom it is for. Only leads of this study see it.",
    )
    limit = forms.IntegerField(
        min_value=1,
        max_value=10_000,
        initial=1,
        label="How many people may join with it",
        help_text="1 makes a personal link: it brings its one person back, also after it is reissued.",
    )
    days = forms.IntegerField(
        min_value=1,
        max_value=366,
        initial=14,
        required=False,
        label="Days until it expires",
        help_text="Empty: never.",
    )

    def settings(self) -> dict[str, Any]:
        """Return the arguments of the verb that invites."""
        days = self.cleaned_data["days"]
        expires_at = timezone.now() + timedelta(days=days) if days else None
        return {
            "label": self.cleaned_data["label"],
            "limit": self.cleaned_data["limit"],
            "expires_at": expires_at,
        }


class PersonalLinksForm(forms.Form):
    """Notes, one for each personal link: typed, or the first column of a table."""

    labels = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 6}),
        label="Notes, one a line",
        help_text="Each line is a link for one person. Only leads of this study see the notes.",
    )
    table = forms.FileField(
        required=False,
        label="Or a table",
        help_text="CSV or Excel with a header; the first column holds the notes.",
    )
    days = forms.IntegerField(
        min_value=1,
        max_value=366,
        initial=14,
        required=False,
        label="Days until they expire",
        help_text="Empty: never.",
    )

    def settings(self) -> dict[str, Any]:
        """Return the arguments of the verb that invites."""
        days = self.cleaned_data["days"]
        lines: list[str] = self.cleaned_data["labels"].splitlines()
        if upload := self.cleaned_data["table"]:
            columns = read_table(upload, name=upload.name, max_bytes=_TABLE_BYTES).columns
            lines += [str(cell) for cell in next(iter(columns.values()), ())]
        return {
            "labels": [line for line in lines if line.strip()],
            "expires_at": timezone.now() + timedelta(days=days) if days else None,
        }


class EnrolmentForm(forms.Form):
    """The reason for pausing, resuming or excluding an annotator."""

    reason = forms.CharField(max_length=300, label="Reason", help_text="Kept in the study’s history.")


class ExclusionForm(EnrolmentForm):
    """The reason for excluding answers, and whether others answer their screens."""

    ask_again = forms.BooleanField(required=False, initial=True, label="Ask somebody else in place of it")


class EnrolmentFilter(forms.Form):
    state = forms.ChoiceField(required=False, choices=[("", "All"), *Enrolment.State.choices])
    q = forms.CharField(required=False, label="Pseudonym")
