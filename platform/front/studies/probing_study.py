"""The New study pages of PAIRS and BiasDora; models get questions only from a later page."""

from typing import Any, cast

from django import forms
from django.db.models import Exists, OuterRef
from django.http import HttpResponse

from accounts.models import User
from accounts.rights import Capability, requires
from catalog.models import IdentityGroup, Resource
from catalog.pages.forms import upload_limit
from generation.prompts.scenarios import create_parallel_study
from generation.prompts.sets import prompt_set
from studies.models import Study
from studies.protocol.creation import create_study
from studies.protocol.descriptors import create_descriptor_study
from web.form_fields import FilesField, checked_size, set_queryset
from web.form_page import FormPage

IMPORT, GENERATE = "import", "generate"
PARALLEL = "pairs-parallel"
_MOST_FILES = 10


class ProbingStudyForm(forms.Form):
    """Fields of all studies that ask models questions."""

    name = forms.CharField(max_length=120, help_text="The name appears in addresses, reports and releases.")
    description = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="What you want to find out. Members of the study see this text.",
    )


class SeedForm(forms.Form):
    """The seed of a study, and whether it is simulated."""

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
        help_text="Choose this for trying things out. Labels of simulated annotators count only in a "
        "simulated study, and every page of the study says that it is simulated.",
    )


class PairsForm(SeedForm, ProbingStudyForm):
    """A study of images that differ only in the person."""

    images = forms.ChoiceField(
        label="Where the images come from",
        choices=[
            (IMPORT, "I have a zip archive of images: experiment / scenario / person"),
            (GENERATE, "A model generates images here: the 50 scenarios of PAIRS with four persons each"),
        ],
        initial=IMPORT,
        widget=forms.RadioSelect,
    )
    field_order = ("name", "description", "images", "seed", "simulated")


class BiasdoraForm(SeedForm, ProbingStudyForm):
    """A study of words about descriptors from a resource or files."""

    resource = forms.ModelChoiceField(
        queryset=Resource.objects.none(),
        required=False,
        label="Descriptors of the resource",
        empty_label="None: upload files",
    )
    uploads = FilesField(
        required=False,
        label="Files of descriptors",
        help_text="CSV with the columns dimension, singular and plural, or the published BiasDora files (CSV, JSON); "
        "you can choose several.",
    )
    resource_name = forms.CharField(
        required=False,
        max_length=120,
        label="Name of the new resource",
        help_text="A name for the list of uploaded descriptors. Other studies can also use the list.",
    )
    field_order = ("name", "description", "resource", "uploads", "resource_name", "seed", "simulated")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        descriptors = IdentityGroup.objects.filter(resource=OuterRef("pk")).exclude(dimensions=[])
        set_queryset(self, "resource", Resource.objects.filter(Exists(descriptors)).order_by("name"))

    def clean_uploads(self) -> list[Any]:
        files = self.cleaned_data["uploads"]
        if len(files) > _MOST_FILES:
            raise forms.ValidationError(f"Upload at most {_MOST_FILES} files at once.")
        return [checked_size(file, upload_limit()) for file in files]

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        if "uploads" in self.errors:
            return values
        if bool(values.get("resource")) == bool(values.get("uploads")):
            self.add_error("resource", "Choose a resource, or upload files of descriptors.")
        elif values.get("uploads") and not values.get("resource_name"):
            self.add_error("resource_name", "Give the new resource a name.")
        return values


class _NewProbingStudy(FormPage[Any]):
    template_name = "front/studies/probing_study.html"
    title: str
    lead: str
    next_step: str

    def context(self) -> dict[str, Any]:
        return {"title": self.title, "lead": self.lead, "next_step": self.next_step}

    def settings(self, *names: str) -> dict[str, Any]:
        chosen = ("name", "description", "seed", "simulated", *names)
        return {name: self.form.cleaned_data[name] for name in chosen} | {
            "by": cast("User", self.request.user)
        }


@requires(get=Capability.CREATE_STUDIES, post=Capability.CREATE_STUDIES)
class NewPairs(_NewProbingStudy):
    """Creates a PAIRS study, whose images are then imported or generated from parallel prompts."""

    form_class = PairsForm
    title = "New study of PAIRS"
    lead = (
        "Do a model’s answers change with the person in the picture? Creating the study does not ask any "
        "model. You start a probe later."
    )
    next_step = (
        "Next, you upload the images or choose the model that generates them. Then you choose the model to "
        "ask, and see how many questions the model will get and what they cost."
    )

    def call(self) -> HttpResponse:
        if self.form.cleaned_data["images"] == GENERATE:
            study = create_parallel_study(prompt_set=prompt_set(PARALLEL), **self.settings())
            return self.redirect_with(f"{study.name} is created.", "generation:generate", study.slug)
        study = create_study(resource=None, groups=[], protocol=Study.Protocol.PAIRS, **self.settings())
        message = f"{study.name} is created. Now upload the images of the study."
        return self.redirect_with(message, "generation:import_images", study.slug)


@requires(get=Capability.CREATE_STUDIES, post=Capability.CREATE_STUDIES)
class NewBiasdora(_NewProbingStudy):
    """Creates a BiasDora study with the descriptors of a resource or of files."""

    form_class = BiasdoraForm
    title = "New study of BiasDora"
    lead = (
        "Which words does a model associate with which people? Creating the study does not ask any model. "
        "You start a probe later."
    )
    next_step = (
        "Next, you choose a model and see how many sentences the model will complete, how long this takes "
        "and what it costs."
    )

    def call(self) -> HttpResponse:
        study = create_descriptor_study(
            files=self.form.cleaned_data["uploads"], **self.settings("resource", "resource_name")
        )
        message = f"{study.name} is created with {study.groups.count():,} descriptors."
        return self.redirect_with(message, "generation:probe_new", study.slug)
