"""Break-glass: a page for administrators who are not members to open a study, and a button to end the access."""

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
    """The reason for reading a study without being a member."""

    reason = forms.CharField(
        label="Reason",
        min_length=break_glass.SHORTEST_REASON,
        max_length=BreakGlass._meta.get_field("reason").max_length,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=(
            f"At least {break_glass.SHORTEST_REASON} characters. The study’s members read the reason, and "
            "the study’s history keeps it. Do not name annotators."
        ),
        error_messages={
            "required": "Say why you have to read this study.",
            "min_length": f"Give a reason of at least {break_glass.SHORTEST_REASON} characters.",
        },
    )


@requires(get=Capability.BREAK_GLASS, post=Capability.BREAK_GLASS)
@method_decorator([never_cache, reauthentication_required(app="studies")], name="dispatch")
class OpenByBreakGlass(StudyView, FormPage[BreakGlassForm]):
    """Explain break-glass and open the study with a reason, after a recent sign-in."""

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
    """Ends the access early."""

    leads_to = "studies:detail"

    def call(self) -> str:
        for glass in BreakGlass.objects.in_force().filter(study=self.study, user=self.by):
            break_glass.end(glass=glass, by=self.by)
        return "You can no longer read this study."
