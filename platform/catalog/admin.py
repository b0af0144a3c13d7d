"""Admin pages of resources and their groups. Pairs are only imported from files."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from accounts.admin import ModelAdmin
from catalog.models import IdentityGroup, Resource


@admin.register(Resource)
class ResourceAdmin(ModelAdmin):
    """Resources, with their citation and licence."""

    list_display = ("name", "has_rater_counts", "invented", "created_at", "updated_at")
    search_fields = ("name",)
    fields = ("name", "description", "citation", "licence", "has_rater_counts", "invented", "file_digest")
    readonly_fields = ("has_rater_counts", "invented", "file_digest")

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002 -- the signature is Django's
        return False


@admin.register(IdentityGroup)
class IdentityGroupAdmin(ModelAdmin):
    """Identity groups, with their display name and location."""

    list_display = ("name", "display_name", "resource", "region", "iso_code", "map_code")
    list_filter = ("resource", "region")
    list_select_related = ("resource",)
    search_fields = ("name", "display_name", "iso_code")
    fields = ("resource", "name", "display_name", "region", "region_code", "iso_code", "map_code")
    readonly_fields = ("resource", "name")

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002 -- the signature is Django's
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False
