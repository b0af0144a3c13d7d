"""Admin pages of users and roles, tokens (to revoke) and consent texts (to publish)."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.db.models import QuerySet
from django.http import HttpRequest

from accounts import consent_texts, tokens
from accounts.models import Annotator, ApiToken, ConsentText, User

# Django's admin classes are generic only for type checkers.
if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Any]
    TabularInline = admin.TabularInline[Any, Any]
    GenericUserAdmin = DjangoUserAdmin[Any]
else:
    ModelAdmin, TabularInline, GenericUserAdmin = admin.ModelAdmin, admin.TabularInline, DjangoUserAdmin


@admin.register(User)
class UserAdmin(GenericUserAdmin):
    """Names and roles."""

    list_display = ("username", "display_name", "is_lead", "is_analyst", "is_superuser", "is_active")
    list_filter = ("is_lead", "is_analyst", "is_superuser", "is_active")
    search_fields = ("username", "display_name", "email")
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        ("Person", {"fields": ("display_name", "email")}),
        ("Roles", {"fields": ("is_lead", "is_analyst", "is_active", "is_staff", "is_superuser")}),
        ("Dates", {"fields": ("last_login", "date_joined")}),
    )
    add_fieldsets = (
        (None, {"classes": ("wide",), "fields": ("username", "usable_password", "password1", "password2")}),
        ("Roles", {"fields": ("display_name", "is_lead", "is_analyst")}),
    )
    filter_horizontal = ()


class ReadOnlyAdmin(ModelAdmin):
    """Rows that only the platform writes."""

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False


@admin.register(Annotator)
class AnnotatorAdmin(ReadOnlyAdmin):
    """Show pseudonyms only, because daily work does not need the people's names."""

    list_display = ("pseudonym", "origin", "source", "created_at")
    list_filter = ("origin",)
    search_fields = ("pseudonym",)
    fields = ("pseudonym", "origin", "source", "source_id", "created_at")

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False


@admin.register(ApiToken)
class ApiTokenAdmin(ReadOnlyAdmin):
    """API tokens; an operator can only revoke them."""

    list_display = (
        "name",
        "prefix",
        "user",
        "scopes",
        "created_at",
        "last_used_at",
        "expires_at",
        "revoked_at",
    )
    fields = list_display
    actions = ("revoke",)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False

    @admin.action(description="Revoke the chosen tokens", permissions=["view"])
    def revoke(self, request: HttpRequest, chosen: QuerySet[ApiToken]) -> None:
        for token in chosen:
            tokens.revoke(token=token)
        self.message_user(request, f"{len(chosen)} revoked.")


class SecondFactorAdmin(ReadOnlyAdmin):
    """People with a second factor; if they lose it, all their factors are deleted at once."""

    list_display = ("user", "type", "created_at", "last_used_at")
    list_filter = ("type",)
    search_fields = ("user__username",)
    fields = list_display

    def delete_model(self, request: HttpRequest, obj: Any) -> None:  # noqa: ARG002
        type(obj).objects.filter(user=obj.user_id).delete()

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:  # noqa: ARG002
        people = list(queryset.values_list("user", flat=True))
        queryset.model.objects.filter(user__in=people).delete()


class LinkedAccountAdmin(ReadOnlyAdmin):
    """Accounts linked with an identity provider; deleting a row removes the link."""

    list_display = ("user", "provider", "uid", "date_joined", "last_login")
    list_filter = ("provider",)
    search_fields = ("user__username", "uid")
    fields = list_display


@admin.register(ConsentText)
class ConsentTextAdmin(ModelAdmin):
    """Saving publishes the next version of the series; a published version never changes."""

    list_display = ("series", "version", "language", "created_at")
    fields = (
        "series",
        "language",
        "body",
        "content_notice",
        "support",
        "labels_when_erased",
        "may_erase_self",
    )

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False

    def save_model(self, request: HttpRequest, obj: ConsentText, form: Any, change: bool) -> None:  # noqa: ARG002
        published = consent_texts.publish(
            series=obj.series,
            body=obj.body,
            content_notice=obj.content_notice,
            support=obj.support,
            language=obj.language,
            promise=consent_texts.ErasurePromise.of(obj),
        )
        obj.pk, obj.version = published.pk, published.version
