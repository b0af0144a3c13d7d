"""The base class of views that perform an action in a study."""

from typing import Any, cast

from accounts.models import User
from studies.access import may, required, right_of, study_for
from studies.models import Study
from web.form_page import VerbView


class StudyView(VerbView):
    """A view whose address names a study."""

    study: Study

    def load(self) -> None:
        self.study = study_for(self.request, self.kwargs["study"])

    @property
    def by(self) -> User:
        return cast("User", self.request.user)  # ensured by `RightsMiddleware`

    def place(self) -> tuple[Any, ...]:
        return (self.kwargs["study"],)

    def context(self) -> dict[str, Any]:
        to_change = right_of(self.request, "POST") or required(self.request)
        return {"study": self.study, "may_change": may(self.request, self.study, to_change)}
