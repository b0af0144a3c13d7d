"""Pages of a campaign's languages: translated texts, the file for translators, and texts that are still in English."""

from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404

from accounts.rights import Capability, requires
from annotation.answers.languages import SOURCE_LANGUAGE, platform_languages
from annotation.campaigns.instruments.languages import files, translations
from annotation.campaigns.instruments.languages.progress import (
    MISSING,
    OUTDATED,
    LanguageState,
    language_name,
    language_states,
)
from annotation.campaigns.instruments.languages.sources import source_texts
from annotation.lead.page_context import CampaignView, campaign_context, page_of
from foundation.languages import DRAFT_TRANSLATION, LANGUAGES
from studies.audit.files import CSV, recorded_file
from web.form_page import Button, FormPage

TEXTS_PER_PAGE = 50
_ORDER = {MISSING: 0, OUTDATED: 1}


class TranslationsForm(forms.Form):
    """The file that translators filled in."""

    file = forms.FileField(
        label="Translations",
        help_text="The file from this page with your translations, saved as CSV (UTF-8). Empty cells change nothing.",
        widget=forms.ClearableFileInput(attrs={"accept": ".csv,text/csv"}),
    )


class ReasonForm(forms.Form):
    """Why texts stay in English."""

    reason = forms.CharField(
        max_length=translations.LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 2}),
        label="Reason",
        help_text="The reason is kept in the study’s history.",
    )


@requires(get=Capability.SEE_CAMPAIGNS, post=Capability.RUN_CAMPAIGNS)
class LanguagesPage(CampaignView, FormPage[TranslationsForm]):
    """Show each language with its missing texts; a POST stores the translations of a file."""

    template_name = "annotation/lead/campaigns/instruments/languages.html"
    form_class = TranslationsForm
    leads_to = "annotation:languages"

    def call(self) -> str:
        file = self.form.cleaned_data["file"]
        uploaded = translations.upload(campaign=self.campaign, source=file, name=file.name, by=self.by)
        return uploaded.sentence

    def context(self) -> dict[str, Any]:
        states = language_states(self.campaign)
        chosen = next((state for state in states if state.code == self.request.GET.get("language")), None)
        state = chosen or next(iter(states), None)
        used = {SOURCE_LANGUAGE, *(state.code for state in states)}
        to_add = [code for code in platform_languages() if code not in used]
        return super().context() | {
            "states": states,
            "draft_translation": DRAFT_TRANSLATION,
            "drafts_to_add": [language_name(code) for code in to_add if LANGUAGES[code].is_draft],
            "shown": state,
            "page": None if state is None else page_of(self.request, _texts(state), per_page=TEXTS_PER_PAGE),
            "to_add": [(code, language_name(code)) for code in to_add],
            "undecided": self.campaign.offered_languages is None and self.campaign.state != "draft",
        }


def _texts(state: LanguageState) -> list[Any]:
    """Return the texts of a language, first those that are missing or outdated."""
    return sorted(state.texts, key=lambda text: _ORDER.get(text.state, 2))


@requires(post=Capability.RUN_CAMPAIGNS)
class LanguageAdd(CampaignView, Button):
    """Add a language to translate into."""

    leads_to = "annotation:languages"

    def call(self) -> str:
        code = self.request.POST.get("language", "")
        translations.add_language(campaign=self.campaign, language=code, by=self.by)
        return f"{language_name(code)} is added. Download the file, have it translated, and upload it here."


@requires(post=Capability.RUN_CAMPAIGNS)
class LanguageRemove(CampaignView, Button):
    """Take a language away; its translations stay, should it be added again."""

    leads_to = "annotation:languages"

    def call(self) -> str:
        code = self.kwargs["language"]
        translations.remove_language(campaign=self.campaign, language=code, by=self.by)
        return f"{language_name(code)} is removed."


@requires(get=Capability.RUN_CAMPAIGNS, post=Capability.RUN_CAMPAIGNS)
class LanguageUntranslated(CampaignView, FormPage[ReasonForm]):
    """Show the texts that annotators would read in English, and offer the language nevertheless, with a reason."""

    template_name = "annotation/lead/campaigns/instruments/untranslated.html"
    form_class = ReasonForm
    leads_to = "annotation:languages"

    def load(self) -> None:
        super().load()
        get_object_or_404(self.campaign.languages, language=self.kwargs["language"])

    def call(self) -> str:
        code = self.kwargs["language"]
        reason = self.form.cleaned_data["reason"]
        translations.leave_untranslated(campaign=self.campaign, language=code, reason=reason, by=self.by)
        return f"Annotators can choose {language_name(code)}. Texts that are not translated are shown in English."

    def context(self) -> dict[str, Any]:
        code = self.kwargs["language"]
        state = next(state for state in language_states(self.campaign) if state.code == code)
        lacking = [text for text in _texts(state) if text.state in _ORDER]
        return super().context() | {
            "state": state,
            "page": page_of(self.request, lacking, per_page=TEXTS_PER_PAGE),
        }


@requires(get=Capability.SEE_CAMPAIGNS)
def translations_file(request: HttpRequest, study: str, campaign: str) -> HttpResponse:
    """Return the file for translators."""
    study_campaign = campaign_context(request, study, campaign)["campaign"]
    content = files.as_csv(source_texts(study_campaign), language_states(study_campaign))
    name = f"{campaign}-translations.csv"
    return recorded_file(content, by=request.user, study=study_campaign.study, name=name, content_type=CSV)
