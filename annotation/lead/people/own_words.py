"""Page that matches annotators' own words with codes."""

from typing import Any

from accounts.rights import Capability, requires
from annotation.lead.page_context import page_of, typed
from annotation.people import own_words
from studies import audit
from studies.study_view import StudyView
from web.form_page import Confirmation


@requires(get=Capability.SEE_DEMOGRAPHICS, post=Capability.MANAGE_STUDY)
class OwnWordsList(StudyView, Confirmation):
    """List distinct answers in own words, and match one with a code."""

    template_name = "annotation/lead/people/own_words.html"
    leads_to = "studies:own_words"

    def call(self) -> str:
        field, key, code = (typed(self.request.POST.get(name)) for name in ("field", "key", "code"))
        if not own_words.match(study=self.study, field=field, key=key, code=code, by=self.by):
            return "Nothing changed."
        if code:
            return "From now on, the answer counts as the code that you chose."
        return "The answer no longer counts toward any rule."

    def context(self) -> dict[str, Any]:
        words = own_words.words_of(self.study)
        if words:
            audit.record_reading(
                by=self.by, study=self.study, of="what people say of themselves in their own words"
            )
        waiting = sum(not answer.code for answer in words)
        return super().context() | {"page": page_of(self.request, words), "waiting": waiting}
