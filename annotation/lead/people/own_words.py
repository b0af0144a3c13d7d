"""Matching what annotators say of themselves in own words with codes."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotation.lead.page_context import page_of, person, typed
from annotation.people import own_words
from foundation.errors import DomainError
from studies.access import LEAD, study_for


@login_required
@require_http_methods(["GET", "POST"])
def own_words_list(request: HttpRequest, study: str) -> HttpResponse:
    """List different answers in own words, and match one with a code."""
    found = study_for(request.user, study, role=LEAD)
    if request.method == "POST":
        field, key, code = (typed(request.POST.get(name)) for name in ("field", "key", "code"))
        try:
            changed = own_words.match(study=found, field=field, key=key, code=code, by=person(request))
        except DomainError as error:
            messages.error(request, error.message)
        else:
            done = (
                "The answer counts as you chose from now on."
                if code
                else "The answer no longer counts toward any rule."
            )
            messages.success(request, done if changed else "Nothing changed.")
        return redirect("studies:own_words", study)
    words = own_words.words_of(found)
    context = {
        "study": found,
        "may_change": True,
        "page": page_of(request, words),
        "waiting": sum(not one.code for one in words),
    }
    return render(request, "annotation/lead/people/own_words.html", context)
