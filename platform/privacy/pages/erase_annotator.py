"""A page for leads to erase an annotator, confirmed by typing the annotator's code."""

from typing import Any

from django import forms
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache

from accounts.rights import Capability, requires
from annotation.lead.page_context import CampaignView
from foundation.errors import DomainError
from privacy.erasure import erase, rights
from privacy.erasure.preview import preview_of
from studies.access import may
from web.form_page import FormPage


class EraseAnnotatorForm(forms.Form):
    """The annotator's code, typed to confirm who is erased."""

    code = forms.CharField(
        max_length=40, label="Code of the annotator", widget=forms.TextInput(attrs={"autocomplete": "off"})
    )

    def __init__(self, data: Any, *, code: str) -> None:
        super().__init__(data)
        self._code = code

    def clean_code(self) -> str:
        typed: str = self.cleaned_data["code"]
        if typed != self._code:
            raise forms.ValidationError(f"Type the code exactly like this: {self._code}.")
        return typed


@requires(get=Capability.ERASE, post=Capability.ERASE)
@method_decorator(never_cache, name="dispatch")
class EraseAnnotator(CampaignView, FormPage[EraseAnnotatorForm]):
    """Show the effect of erasure in all studies, and erase the annotator when their code is typed."""

    template_name = "privacy/erase_annotator.html"
    leads_to = "annotation:annotators"

    def load(self) -> None:
        super().load()
        enrolled = self.campaign.enrolments.select_related("annotator__user")
        self.annotator = get_object_or_404(enrolled, pk=self.kwargs["enrolment"]).annotator

    def make_form(self, data: Any) -> EraseAnnotatorForm:
        return EraseAnnotatorForm(data, code=self.annotator.pseudonym)

    def call(self) -> str | HttpResponse:
        report = erase.erase_annotator(annotator=self.annotator, by=self.by)
        message = (
            f"One person is erased. Answers deleted: {report.answers_deleted:,}. "
            f"Answers kept under a nameless code: {report.answers_kept:,}."
        )
        if may(self.request, self.study, Capability.SEE_QUALITY):
            return message
        # Administrators who are not members may not open the list of annotators.
        return self.redirect_with(message, "studies:detail", self.study.slug)

    def context(self) -> dict[str, Any]:
        context = super().context() | {"annotator": self.annotator, "refusal": self._refusal()}
        # Do not show even the names of other leads' studies.
        if not context["refusal"]:
            context["studies"] = preview_of(self.annotator)
        return context

    def _refusal(self) -> str:
        try:
            rights.require(annotator=self.annotator, by=self.by)
            erase.refuse(self.annotator)
        except DomainError as error:
            return error.message
        return ""
