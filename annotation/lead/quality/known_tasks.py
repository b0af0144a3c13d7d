"""Pages of gold and practice tasks: the list with people's answers, and adding, changing and removing tasks."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import get_object_or_404

from accounts.rights import Capability, requires
from annotation.answers.questions.stimuli import PROMPT, refs_of
from annotation.campaigns import known_tasks, lifecycle
from annotation.kinds.declaration import Kind
from annotation.kinds.registry import kind_of
from annotation.lead.page_context import CampaignView, page_of, typed
from annotation.lead.quality.known_question_forms import QuestionAnswersForm
from annotation.lead.quality.known_question_lines import as_question_lines, shown_of
from annotation.lead.quality.known_task_choices import (
    address_of,
    choose_page,
    chosen_task,
    shown_stimuli,
)
from annotation.lead.quality.known_task_forms import (
    CheckSettingsForm,
    MarkingAnswersForm,
    PurposeField,
    RatingAnswersForm,
)
from annotation.lead.quality.known_task_lines import KnownTask, as_lines, tasks_with_answers
from annotation.models import Campaign, Task
from annotation.quality.practice.progress import failed, outcomes
from catalog.models import Attribute
from generation.models import Image
from web.form_page import Button, FormPage

PER_PAGE = 20
FAILED_SHOWN = 50


@requires(get=Capability.SEE_QUALITY, post=Capability.RUN_CAMPAIGNS)
class KnownList(CampaignView, FormPage[CheckSettingsForm]):
    """List the known answers, how many people agree with them, and the settings.

    The settings are the shares of checks and repeats, and the pass mark of practice; they have a separate address.
    """

    template_name = "annotation/lead/quality/known_tasks.html"
    leads_to = "annotation:known_tasks"

    def load(self) -> None:
        super().load()
        self.settings = CheckSettingsForm.initial_of(self.campaign)

    def make_form(self, data: Any) -> CheckSettingsForm:
        return CheckSettingsForm(data, initial=self.settings)

    def call(self) -> str:
        lifecycle.change_settings(campaign=self.campaign, by=self.by, options=self.form.options())
        return "The settings are saved and apply from the next screen on."

    def context(self) -> dict[str, Any]:
        context = super().context()
        campaign = self.campaign
        purpose = typed(self.request.GET.get("purpose"))
        page = page_of(self.request, tasks_with_answers(campaign, purpose), per_page=PER_PAGE)
        return context | {
            "page": page,
            "shown": self._shown(list(page.object_list)),
            "wanted": purpose,
            "purposes": known_tasks.PURPOSES,
            "may_add": context["may_change"] and _may_add(campaign),
            "settings": self.settings,
            "outcomes": outcomes(campaign),
            "failed": failed(campaign).select_related("annotator").order_by("-pk")[:FAILED_SHOWN],
            "golds": tasks_with_answers(campaign, Task.Purpose.GOLD).count(),
            "practised": tasks_with_answers(campaign, Task.Purpose.PRACTICE).exists(),
        }

    def _shown(self, tasks: list[Task]) -> list[tuple[KnownTask, list[tuple[str, Image | None, str]]]]:
        """Return the tasks with address, image and text of everything that each shows."""
        kind = kind_of(self.campaign)
        if kind.about_attributes:
            lines = as_lines(self.campaign, tasks)
            images = [(one, one.task.image) for one in lines]
            return [
                (one, [(address_of(self.request, image), image, "")] if image else [])
                for one, image in images
            ]
        shown = shown_of(tasks)
        return [
            (one, [(address_of(self.request, image), image, text) for image, text in shown[one.task.pk]])
            for one in as_question_lines(self.campaign, tasks)
        ]


def _may_add(campaign: Campaign) -> bool:
    possible = kind_of(campaign).knowable
    return possible and not campaign.imported and campaign.state != Campaign.State.CLOSED


AnswersForm = MarkingAnswersForm | RatingAnswersForm | QuestionAnswersForm


class KnownAnswers(CampaignView, FormPage[AnswersForm]):
    """The form of the right answers about an image's attributes, one attribute, or a screen of questions."""

    template_name = "annotation/lead/quality/known_task_form.html"
    leads_to = "annotation:known_tasks"
    may_leave_out = False
    image: Image | None
    attributes: list[Attribute]
    screen: known_tasks.PlannedScreen | None = None  # of questions

    def initial(self) -> dict[str, Any]:
        return {}

    def make_form(self, data: Any) -> AnswersForm:
        if self.screen is not None:
            return self.make_question_form(data, self.screen)
        given = {"attributes": self.attributes, "initial": self.initial()}
        if kind_of(self.campaign).marks_attributes:
            return MarkingAnswersForm(data, may_leave_out=self.may_leave_out, **given)
        instrument = self.campaign.instruments.first()
        return RatingAnswersForm(data, labels=instrument.labels if instrument else None, **given)

    def make_question_form(self, data: Any, screen: known_tasks.PlannedScreen) -> QuestionAnswersForm:
        kind = kind_of(self.campaign)
        parts = known_tasks.screen_parts(kind, len(screen.stimuli))
        form = QuestionAnswersForm(data, kind=kind, parts=parts, refs=_refs(kind, len(screen.stimuli)))
        form.initial = self.initial_of_questions(form)
        return form

    def initial_of_questions(self, form: QuestionAnswersForm) -> dict[str, Any]:  # noqa: ARG002
        return {}

    def field_of(self, name: str) -> str:
        kind, _, attribute = name.partition(".")
        return f"{kind.removesuffix('s')}_{attribute}" if attribute else name

    def context(self) -> dict[str, Any]:
        address = address_of(self.request, self.image)
        shown = shown_stimuli(self.request, self.screen) if self.screen is not None else []
        return super().context() | {"rows": self.form.rows(), "image_url": address, "stimuli": shown}


@requires(get=Capability.RUN_CAMPAIGNS, post=Capability.RUN_CAMPAIGNS)
class KnownNew(KnownAnswers):
    """Choose image and attributes, then the right answers; `?annotation=` starts from an existing answer."""

    may_leave_out = True

    def load(self) -> None:
        super().load()
        self.chosen = chosen_task(self.request, self.campaign)
        self.image, self.attributes = self.chosen.image, self.chosen.attributes
        self.screen = self.chosen.screen

    def instead(self) -> HttpResponse | None:
        if self.chosen.is_complete:
            return None
        context = {"study": self.study, "campaign": self.campaign, "may_change": True, "chosen": self.chosen}
        return choose_page(self.request, self.campaign, context)

    def initial(self) -> dict[str, Any]:
        purpose = typed(self.request.GET.get("purpose"))
        return self.chosen.initial | ({"purpose": purpose} if purpose in known_tasks.PURPOSES else {})

    def initial_of_questions(self, form: QuestionAnswersForm) -> dict[str, Any]:
        return self.initial() | form.initial_from(self.chosen.answers)

    def make_form(self, data: Any) -> AnswersForm:
        form = super().make_form(data)
        form.fields["purpose"] = PurposeField()
        return form

    def call(self) -> str:
        known_tasks.add(
            campaign=self.campaign,
            purpose=self.form.cleaned_data["purpose"],
            by=self.by,
            content=known_tasks.TaskContent(
                image=self.image,
                attributes=self.form.chosen_attributes(),
                stimuli=self.screen.stimuli if self.screen is not None else (),
            ),
            answers=self.form.answers(),
            explanations=self.form.explanations(),
        )
        return "The task is added. Annotators can get the new task from their next screen on."


class KnownTaskView(CampaignView):
    """A view of the task with known answers in its address."""

    def load(self) -> None:
        super().load()
        self.known_task = get_object_or_404(tasks_with_answers(self.campaign), public_id=self.kwargs["task"])


@requires(get=Capability.RUN_CAMPAIGNS, post=Capability.RUN_CAMPAIGNS)
class KnownChange(KnownTaskView, KnownAnswers):
    """Change the right answers."""

    def load(self) -> None:
        super().load()
        task = self.known_task
        self.image = task.image
        self.attributes = [row.attribute for row in task.task_attributes.select_related("attribute")]
        if not kind_of(self.campaign).about_attributes:
            self.screen = known_tasks.PlannedScreen(str(task.public_id), known_tasks.shown_in(task))

    def initial_of_questions(self, form: QuestionAnswersForm) -> dict[str, Any]:
        return form.initial_of(self.known_task.known_answers.select_related("stimulus"))

    def initial(self) -> dict[str, Any]:
        marking = kind_of(self.campaign).marks_attributes
        form = MarkingAnswersForm if marking else RatingAnswersForm
        return form.initial_of(self.known_task.known_answers.all(), self.attributes)

    def call(self) -> str:
        known_tasks.change(
            task=self.known_task,
            by=self.by,
            answers=self.form.answers(),
            explanations=self.form.explanations(),
        )
        return (
            "The known answers are changed. Earlier answers to this check are also compared with the new known "
            "answers."
        )

    def context(self) -> dict[str, Any]:
        return super().context() | {"task": self.known_task}


@requires(post=Capability.RUN_CAMPAIGNS)
class KnownRemove(KnownTaskView, Button):
    """Remove a task."""

    leads_to = "annotation:known_tasks"

    def call(self) -> str:
        known_tasks.remove(task=self.known_task, by=self.by)
        return "The task is removed. The known answers no longer count for any annotator."


def _refs(kind: Kind, stimuli_count: int) -> list[str]:
    return [ref for ref in refs_of(kind, stimuli_count) if ref != PROMPT]
