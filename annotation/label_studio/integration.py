"""The interface between the rest of the platform and the integration with Label Studio."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from django.db.models import Count
from django.urls import URLPattern

from accounts.models import Annotator, User
from annotation.integrations import Integration, Panel
from annotation.label_studio import SLUG
from annotation.label_studio.base import claims, erasure, invalidate, personal_data, reasons
from annotation.label_studio.models import LabelStudioAnnotation, LabelStudioBridge, LabelStudioUser
from annotation.label_studio.overview import queries
from annotation.label_studio.overview.history import of_annotation, versions_of
from annotation.label_studio.overview.history_sentences import SENTENCES
from annotation.label_studio.people import identity
from annotation.models import Annotation, Campaign, Invitation
from foundation.errors import Conflict
from studies.models import Study
from studies.personal_data import PersonalTable, TableWords


class LabelStudio(Integration):
    """Campaigns are labelled in the Label Studio servers that leads connect."""

    slug = SLUG
    name = "Label Studio"
    study_page = "annotation:label_studio"
    campaign_page = "annotation:campaign_label_studio"

    def study_urls(self) -> Sequence[URLPattern]:
        # Imported here: views are loaded with the addresses, not with the apps.
        from annotation.label_studio.lead.urls import urlpatterns

        return urlpatterns

    def history_sentences(self) -> Mapping[str, str]:
        return SENTENCES

    def lead_tasks(self, study_ids: Collection[int]) -> Mapping[int, str]:
        waiting = LabelStudioUser.objects.filter(
            server__study__in=study_ids, state=LabelStudioUser.State.WAITING
        )
        counts = waiting.order_by().values("server__study").annotate(users=Count("pk"))
        return {
            study_id: f"{users:,} {'person waits' if users == 1 else 'people wait'} in Label Studio for you to say "
            "who they are"
            for study_id, users in counts.values_list("server__study", "users")
        }

    def problems(self, campaign_ids: Collection[int]) -> Mapping[int, str]:
        bridges = LabelStudioBridge.objects.filter(campaign__in=campaign_ids).exclude(problem="")
        return dict(bridges.values_list("campaign", "problem_text"))

    def campaign_panel(self, campaign: Campaign) -> Panel | None:
        bridge = queries.bridge_of(campaign)
        return Panel("label_studio/campaigns/_notice.html", {"bridge": bridge})

    def annotation_panel(self, annotation: Annotation, campaign: Campaign) -> Panel | None:
        answer = of_annotation(annotation.assignment_id)
        if answer is None:
            return None
        versions = versions_of(answer, campaign)
        return Panel("label_studio/answers/_section.html", {"versions": versions})

    def check_correction(self, annotation: Annotation) -> None:
        if LabelStudioAnnotation.objects.filter(annotation=annotation).exists():
            raise Conflict(
                "labelled_in_label_studio",
                "This task was answered in Label Studio. Please change the answer there.",
            )

    def check_readmission(self, annotation: Annotation) -> None:
        if annotation.status_reason in reasons.OURS:
            raise Conflict(
                "dropped_in_label_studio",
                f"This answer no longer counts because of a change in Label Studio: {annotation.status_reason}. "
                "The answer counts again when the change is undone in Label Studio.",
            )

    def places_changed(self, task_ids: Iterable[int]) -> None:
        invalidate.resettle_tasks(task_ids)

    def eligibility_changed(self, campaign: Campaign, annotator_id: int | None = None) -> None:
        invalidate.resettle_campaign(campaign=campaign, annotator_id=annotator_id)

    def profile_changed(self, annotator: Annotator) -> None:
        invalidate.profile_changed(annotator)

    def campaign_reopened(self, campaign: Campaign) -> None:
        invalidate.reopened(campaign)

    def invitation_accepted(self, invitation: Invitation, annotator: Annotator) -> None:
        claims.map_invited_user(invitation=invitation, annotator=annotator)

    def consent_given(self, annotator: Annotator, study: Study) -> None:
        claims.agreed(annotator=annotator, study=study)

    def consent_withdrawn(self, annotator: Annotator, campaigns: Iterable[Campaign]) -> None:
        erasure.forget(annotator=annotator, campaigns=campaigns)

    kept_audit_actions = (f"label_studio_user.{erasure.ERASED}",)

    def personal_tables(self) -> Sequence[PersonalTable]:
        return personal_data.TABLES

    def personal_words(self) -> Sequence[TableWords]:
        return personal_data.WORDS

    def names_of(self, annotator: Annotator) -> Iterable[str]:
        return annotator.label_studio_users.values_list("name", flat=True)

    def study_ids_of(self, annotator: Annotator) -> Iterable[int]:
        return annotator.label_studio_users.values_list("server__study", flat=True)

    def annotator_erased(self, annotator: Annotator, by: User | None) -> None:
        for user in annotator.label_studio_users.order_by("pk"):
            identity.erase(user=user, by=by)
        annotator.label_studio_projects.all().delete()
