"""Break-glass: the page on which an administrator who is no member opens a study, and the button that closes it."""

from typing import Any

from allauth.account.decorators import reauthentication_required
from django import forms
from django.conf import settings
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache

from accounts.rights import Capability, requires
from studies.membership import break_glass
from studies.models import BreakGlass
from studies.study_view import StudyView
from web.form_page import Button, FormPage


class BreakGlassForm(forms.Form):
    """Why somebody has to read a study that they are no member of."""

    reason = forms.CharField(
        label="Reason",
        min_length=break_glass.SHORTEST_REASON,
        max_length=BreakGlass._meta.get_field("reason").max_length,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=(
            f"At least {break_glass.SHORTEST_REASON} characters. The study’s members read it, and its history keeps "
            "it. Do not name annotators."
        ),
        error_messages={
            "required": "Say why you have to read this study.",
            "min_length": f"Give a reason of at least {break_glass.SHORTEST_REASON} characters.",
        },
    )


@requires(get=Capability.BREAK_GLASS, post=Capability.BREAK_GLASS)
@method_decorator([never_cache, reauthentication_required(app="studies")], name="dispatch")
class OpenByBreakGlass(StudyView, FormPage[BreakGlassForm]):
    """Say what break-glass does, and open the study for a reason; who signed in long ago confirms it first."""

    template_name = "front/break_glass.html"
    form_class = BreakGlassForm
    leads_to = "studies:detail"

    def call(self) -> str:
        break_glass.open_study(study=self.study, by=self.by, reason=self.form.cleaned_data["reason"])
        return "You can read this study now. Everything that you download is recorded."

    def context(self) -> dict[str, Any]:
        return super().context() | {"hours": settings.BREAK_GLASS_HOURS}


@requires(post=Capability.BREAK_GLASS)
class EndBreakGlass(StudyView, Button):
    """Ends it before its time is over."""

    leads_to = "studies:detail"

    def call(self) -> str:
        for glass in BreakGlass.objects.in_force().filter(study=self.study, user=self.by):
            break_glass.end(glass=glass, by=self.by)
        return "You can no longer read this study."
