"""Read-only admin pages of campaigns. Campaigns are changed on their own pages, which record every change."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from accounts.admin import ReadOnlyAdmin
from annotation.models import Campaign


@admin.register(Campaign)
class CampaignAdmin(ReadOnlyAdmin):
    """Every campaign of every study."""

    list_display = ("name", "study", "kind", "state", "imported", "opened_at", "closed_at")
    list_filter = ("state", "kind", "imported")
    list_select_related = ("study",)
    search_fields = ("name", "study__name")

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False
