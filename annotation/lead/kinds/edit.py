"""The pages that declare a kind in a form, with a preview of the screen that it makes."""

from abc import abstractmethod
from copy import deepcopy
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.utils.crypto import constant_time_compare, salted_hmac

from accounts.rights import Capability, requires
from annotation.kinds import study_kinds
from annotation.kinds.declaration import Kind
from annotation.kinds.registry import KINDS, OWN_KIND
from annotation.lead.kinds.draft import Draft, draft_of, read
from annotation.lead.kinds.form import LANGUAGE_NAMES, KindForm
from annotation.lead.kinds.screen import screen_page, sound_kind
from annotation.lead.page_context import typed
from foundation.errors import DomainError
from foundation.languages import DRAFT_TRANSLATION, ENGLISH, LANGUAGES
from studies.study_view import StudyView
from web.form_page import FormPage

_KEPT = "kind_draft"  # in the session of somebody who was signed out while editing
_NEW: Draft = {
    "work": {},
    "public_name": OWN_KIND[0],
    "public_help": OWN_KIND[1],
    "stimuli": {
        "medium": "image",
        "least": 1,
        "most": 1,
        "blind": ["group", "prompt", "condition", "model", "role"],
    },
    "questions": [],
    "unit": "image",
    "measures": [],
    "standard_rules": [],
}


class KindDraft(StudyView, FormPage[KindForm]):
    """The form of a kind: buttons add, remove and move its rows, and one saves it like its file."""

    template_name = "annotation/lead/kinds/form.html"
    action = "save"
    replaces = False
    restored = False  # whether the form shows input from before a sign-out
    unfinished = 0  # fields still to be filled in

    @abstractmethod
    def start(self) -> Draft:
        """Return the draft that the form begins with."""

    def make_form(self, data: Any) -> KindForm:
        if data is None:
            draft = self._kept_draft()
            self.restored = draft is not None
            form = KindForm(draft or self.start(), fixed_key=self.replaces)
        else:
            self.request.session.pop(_KEPT, None)
            form = KindForm.posted(data, fixed_key=self.replaces)
        if self.replaces:
            form.draft["key"] = self.kwargs["key"]
        if data is None or data.get("action") != self.action:
            problems = form.check(unfilled=data is not None and "tried" in data)
            self.unfinished = sum(problem.code in {"missing", "too_short"} for problem in problems)
        return form

    def instead(self) -> HttpResponse | None:
        if self.request.method != "POST" or self.request.POST.get("action") != "screen":
            return None
        kind, _ = sound_kind(read(self.request.POST))
        if kind is None:
            raise Http404("There is nothing to show yet.")
        return HttpResponse(self._screen(kind))

    def post(self, request: HttpRequest, **address: Any) -> HttpResponse:
        response = super().post(request, **address)
        if request.POST.get("action") != self.action:
            response.status_code = 200  # the present form, even with errors
        return response

    def context(self) -> dict[str, Any]:
        kind, left_out = sound_kind(self.form.draft)
        refused = self.request.method == "POST" and self.request.POST.get("action") == self.action
        return super().context() | {
            "screen_page": self._screen(kind) if kind else "",
            "left_out": left_out,
            "languages": [(code, LANGUAGE_NAMES[code]) for code in self._languages(kind)],
            "draft_translation": DRAFT_TRANSLATION if LANGUAGES[self._language].is_draft else "",
            "language": self._language,
            "tried": refused or "tried" in self.request.POST,
            "refused": refused,
            "restored": self.restored,
            "unfinished": self.unfinished,
            "mark": self._mark,
        }

    def call(self) -> HttpResponse:
        kind = study_kinds.add(
            study=self.study, content=self.form.content(), by=self.by, replace=self.replaces
        )
        message = "The kind is saved. Check its questions, then start a campaign of this kind."
        return self.redirect_with(message, "annotation:kind", self.study.slug, kind.key)

    @staticmethod
    def before_sign_in(request: HttpRequest) -> None:
        """Keep the input of a person who was signed out until they are back."""
        posted = request.POST
        encoded = posted.urlencode()
        if posted.get("mark") and len(encoded) <= 2 * study_kinds.LARGEST_FILE:
            request.session[_KEPT] = {"path": request.path, "posted": encoded}

    def _kept_draft(self) -> Draft | None:
        entry = self.request.session.get(_KEPT)
        if entry is None or entry["path"] != self.request.path:
            return None
        posted = QueryDict(entry["posted"])
        if "discard" in self.request.GET or not constant_time_compare(posted.get("mark", ""), self._mark):
            del self.request.session[_KEPT]
            return None
        return read(posted)

    @property
    def _mark(self) -> str:
        """The key of a draft's owner while nobody is signed in."""
        return salted_hmac("annotation.lead.kinds", str(self.by.pk)).hexdigest()[:20]

    @property
    def _language(self) -> str:
        chosen = self.request.POST.get("preview_language", "")
        return chosen if chosen in LANGUAGES else ENGLISH

    @staticmethod
    def _languages(kind: Kind | None) -> tuple[str, ...]:
        """Return the languages in which the screen can be shown: those of all questions."""
        return kind.question_languages if kind else tuple(LANGUAGES)

    def _screen(self, kind: Kind) -> str:
        language = self._language if self._language in self._languages(kind) else ENGLISH
        return screen_page(kind, study=self.study, request=self.request, language=language)


@requires(get=Capability.MANAGE_STUDY, post=Capability.MANAGE_STUDY)
class KindNew(KindDraft):
    """A new kind, or a copy of an existing one (`?from=`)."""

    def start(self) -> Draft:
        key = typed(self.request.GET.get("from"))
        if not key:
            return deepcopy(_NEW)
        try:
            kind = study_kinds.kind_for(self.study, key)
        except DomainError:
            raise Http404("This kind of campaign does not exist.") from None
        return draft_of(kind) | {"key": f"{kind.key[:35]}_copy", "name": f"{kind.name} (copy)"}


@requires(get=Capability.MANAGE_STUDY, post=Capability.MANAGE_STUDY)
class KindEdit(KindDraft):
    """Change a kind of the study; existing campaigns keep the earlier version."""

    replaces = True
    kind: Kind

    def load(self) -> None:
        super().load()
        key = self.kwargs["key"]
        if key in KINDS or not self.study.kinds.filter(key=key).exists():
            raise Http404("The study has no such kind of its own.")
        self.kind = study_kinds.kind_for(self.study, key)

    def start(self) -> Draft:
        return draft_of(self.kind)

    def context(self) -> dict[str, Any]:
        campaigns = self.study.campaigns.filter(kind=self.kind.key).count()
        return super().context() | {"kind": self.kind, "campaign_count": campaigns}
