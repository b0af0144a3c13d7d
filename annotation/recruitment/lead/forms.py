"""Forms of the pages on recruitment. They parse; the verbs decide."""

from collections.abc import Mapping
from typing import Any

from django import forms

from accounts.models import User
from annotation.recruitment import providers
from annotation.recruitment.models import PanelPlace, Provider
from annotation.recruitment.payments.decisions import CATEGORIES
from annotation.recruitment.prolific.access import ApiAccess
from annotation.recruitment.prolific.draft import Announcement
from annotation.recruitment.providers import KNOWN_PANELS, LinkForm
from annotation.recruitment.recruitments import Terms
from studies.models import Study
from web.form_fields import set_queryset

API_FIELDS = ("token", "workspace", "signs_links")


def api_of(cleaned: Mapping[str, Any]) -> ApiAccess | None:
    if not cleaned.get("token"):
        return None
    return ApiAccess(cleaned["token"].strip(), cleaned["workspace"].strip(), bool(cleaned["signs_links"]))


class PanelForm(forms.Form):
    """A panel, and the form of its links."""

    name = forms.CharField(max_length=80, label="Name", help_text="Annotators see this name.")
    person_parameter = forms.CharField(
        max_length=40,
        label="Parameter with the person’s id",
        help_text="The name of the parameter in the panel’s links. In …?person=7f3a, the name is person.",
    )
    place_parameter = forms.CharField(
        max_length=40,
        required=False,
        label="Parameter with the id of the place",
        help_text="Panels call a place a session, submission or assignment. Leave empty if the links "
        "contain only the person’s id.",
    )
    study_parameter = forms.CharField(
        max_length=40, required=False, label="Parameter with the id of the study at the panel"
    )
    completion_address = forms.CharField(
        max_length=500,
        required=False,
        label="Return address",
        help_text="The address where people go when they are done. {code} is replaced by the code, {person} and "
        "{place} by the panel’s ids. Leave empty if people copy a code.",
    )

    # By its API, if there is one.
    token = forms.CharField(
        max_length=500,
        required=False,
        label="API token",
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
        help_text="With a token, you can create, publish and compare the panel’s studies in "
        "Stereoscope. The token is stored encrypted. Leave empty to set everything up at the panel by hand.",
    )
    workspace = forms.CharField(
        max_length=80,
        required=False,
        label="Id of the workspace",
        help_text="You find the id in the address of the workspace at the panel. This workspace pays the people.",
    )
    signs_links = forms.BooleanField(
        required=False,
        label="The workspace signs its links",
        help_text="Choose this only if Prolific has switched on signed links for your workspace.",
    )

    def __init__(self, *arguments: Any, panel: str, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self.key = panel if panel in KNOWN_PANELS else "generic"
        if panel != "prolific":
            for name in API_FIELDS:
                del self.fields[name]

    @property
    def known(self) -> LinkForm | None:
        """Return the known panel whose form of links is prefilled."""
        return None if self.key == "generic" else KNOWN_PANELS[self.key]

    @property
    def access_fields(self) -> list[forms.BoundField]:
        """Return the name of the panel and the access to it."""
        return [bound for bound in self if bound.name in {"name", *API_FIELDS}]

    @property
    def link_fields(self) -> list[forms.BoundField]:
        """Return the form of the panel's links."""
        return [bound for bound in self if bound.name not in {"name", *API_FIELDS}]

    def api(self) -> ApiAccess | None:
        """Return the access to the panel's API, None if it is used by hand."""
        return api_of(self.cleaned_data)

    def links(self) -> LinkForm:
        cleaned = self.cleaned_data
        return LinkForm(
            title=cleaned["name"],
            person_parameter=cleaned["person_parameter"],
            place_parameter=cleaned["place_parameter"],
            study_parameter=cleaned["study_parameter"],
            completion_address=cleaned["completion_address"],
        )

    def add(self, *, study: Study, by: User) -> Provider:
        """Add the panel to a study."""
        return providers.add(
            study=study, by=by, name=self.cleaned_data["name"], links=self.links(), api=self.api()
        )

    @classmethod
    def of(cls, data: Any, panel: str, **keywords: Any) -> "PanelForm":
        """Return the form, filled in for a known panel."""
        return cls(data, initial=cls.initial_of(panel), panel=panel, **keywords)

    @staticmethod
    def initial_of(panel: str) -> dict[str, str]:
        """Return the values for a known panel."""
        known = KNOWN_PANELS.get(panel, KNOWN_PANELS["generic"])
        return {
            "name": known.title if panel in KNOWN_PANELS and panel != "generic" else "",
            "person_parameter": known.person_parameter,
            "place_parameter": known.place_parameter,
            "study_parameter": known.study_parameter,
            "completion_address": known.completion_address,
        }


class PanelTokenForm(forms.Form):
    """Another token of a panel with an API."""

    token = forms.CharField(
        max_length=500,
        label="New API token",
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
        help_text="The current token is not shown. The new token is stored encrypted.",
    )
    workspace = forms.CharField(max_length=80, label="Id of the workspace")
    signs_links = forms.BooleanField(required=False, label="The workspace signs its links")

    def api(self) -> ApiAccess:
        cleaned = self.cleaned_data
        return ApiAccess(cleaned["token"].strip(), cleaned["workspace"].strip(), cleaned["signs_links"])


class AnnouncementForm(forms.Form):
    """The text that people read at the panel before they take a place."""

    title = forms.CharField(
        max_length=120,
        label="Title",
        initial="Say what you see in pictures",
        help_text="People read this title in the panel’s list. Do not name the group that you study.",
    )
    description = forms.CharField(
        max_length=5_000, label="Description", widget=forms.Textarea(attrs={"rows": 6})
    )

    def announcement(self) -> Announcement:
        return Announcement(self.cleaned_data["title"].strip(), self.cleaned_data["description"].strip())


class RecruitmentForm(forms.Form):
    """The form for a recruitment: whom to recruit, how many people, and for which pay."""

    provider = forms.ModelChoiceField(queryset=Provider.objects.none(), label="Panel", empty_label=None)
    name = forms.CharField(
        max_length=120,
        label="Whom",
        help_text="The cell of the campaign, such as “Region of origin: Isles”. Set the same filters in the panel.",
    )
    places = forms.IntegerField(min_value=1, max_value=100_000, label="Places")
    screens = forms.IntegerField(min_value=1, max_value=100_000, initial=40, label="Screens per place")
    minutes = forms.IntegerField(
        min_value=1,
        max_value=100_000,
        initial=20,
        label="Minutes planned",
        help_text="The expected time, including consent and practice.",
    )
    reward = forms.DecimalField(
        min_value=0, max_digits=9, decimal_places=2, label="Reward per place", help_text="For example 3.00."
    )
    screen_out_reward = forms.DecimalField(
        min_value=0,
        max_digits=9,
        decimal_places=2,
        required=False,
        label="Pay if no work is left",
        help_text="A fixed screen-out payment, which Prolific offers to some workspaces. If empty, people get the "
        "whole reward.",
    )
    currency = forms.CharField(min_length=3, max_length=3, initial="GBP", label="Currency")
    fee_percent = forms.DecimalField(
        min_value=0,
        max_value=100,
        decimal_places=2,
        initial=0,
        label="Panel’s fee, per cent",
        help_text="The fee is paid on top of the rewards. If the panel has an API, the fee that the panel "
        "states is used.",
    )
    remote_study = forms.CharField(max_length=80, required=False, label="Id of the study at the panel")

    def __init__(self, *arguments: Any, study: Study, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        set_queryset(self, "provider", study.providers.all())

    def terms(self) -> Terms:
        cleaned = {name: value for name, value in self.cleaned_data.items() if name != "provider"}
        return Terms(**cleaned | {"currency": cleaned["currency"].upper()})


class DecisionForm(forms.Form):
    """Whether a place is paid."""

    outcome = forms.ChoiceField(
        choices=PanelPlace.Outcome.choices, widget=forms.RadioSelect, label="Decision"
    )
    category = forms.ChoiceField(
        choices=[("", "Choose a category if you reject"), *CATEGORIES.items()],
        required=False,
        label="Category of the rejection",
    )
    reason = forms.CharField(
        max_length=500,
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        label="Reason",
        help_text="Required if you reject: 100 to 500 characters. Never reject people because their answers differ "
        "from those of others.",
    )
