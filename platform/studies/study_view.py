"""What views that call a verb of a study have in common: who may open them, and where they lead."""

from typing import Any, cast

from accounts.models import User
from studies.access import LEAD, holds, study_for
from studies.models import Study
from web.form_page import VerbView


class StudyView(VerbView):
    """A view of the study in its address. Only a lead may send its form; `readers` is the role that may open it."""

    readers: str | None = LEAD
    study: Study

    def load(self) -> None:
        role = LEAD if self.request.method == "POST" else self.readers
        self.study = study_for(self.request.user, self.kwargs["study"], role=role)

    @property
    def by(self) -> User:
        return cast("User", self.request.user)  # `LoginRequiredMixin` lets nobody else in

    def place(self) -> tuple[Any, ...]:
        return (self.kwargs["study"],)

    def context(self) -> dict[str, Any]:
        may_change = self.readers == LEAD or holds(self.request.user, self.study, LEAD)
        return {"study": self.study, "may_change": may_change}
