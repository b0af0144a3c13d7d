"""Admin pages of studies, their members and the audit trail."""

from typing import Any, ClassVar

from django.contrib import admin
from django.http import HttpRequest

from accounts.admin import ReadOnlyAdmin, TabularInline
from accounts.models import User
from accounts.rights import Capability
from studies.access import studies_where
from studies.models import AuditEntry, Study, StudyMembership


class MembershipInline(TabularInline):
    """The members, read-only; administrators change them on the Members page, which records changes."""

    model = StudyMembership
    extra = 0
    can_delete = False
    fields = ("user", "role", "created_at")
    readonly_fields = fields

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False


@admin.register(Study)
class StudyAdmin(ReadOnlyAdmin):
    """All studies, including those of which the administrator is not a member."""

    list_display = ("name", "protocol", "simulated", "frozen_at", "created_by", "created_at")
    list_filter = ("simulated",)
    list_select_related = ("created_by",)
    search_fields = ("name", "slug")
    inlines: ClassVar = [MembershipInline]

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnlyAdmin):
    """The audit trail of all studies."""

    list_display = ("at", "actor", "action", "subject", "study")
    fields = (*list_display, "is_sealed")
    list_filter = ("action",)
    list_select_related = ("actor", "study")
    search_fields = ("subject", "actor__username", "study__name")
    date_hierarchy = "at"

    def get_fields(self, request: HttpRequest, obj: AuditEntry | None = None) -> Any:
        """Add the details, unless the entry may quote people of a study that the administrator may not open."""
        fields = list(super().get_fields(request, obj))
        if obj is None or not isinstance(request.user, User):
            return fields
        is_open = (
            obj.study_id is None
            or studies_where(request.user, Capability.SEE_DEMOGRAPHICS).filter(pk=obj.study_id).exists()
        )
        return [*fields, "details"] if is_open else fields

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False
