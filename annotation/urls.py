"""Addresses of a study's campaigns, for its lead and analysts."""

from django.urls import path

from annotation import integrations
from annotation.lead import image_reports, scenarios
from annotation.lead.campaigns import (
    changes,
    coverage,
    drafts,
    instruments,
    languages,
    launch,
    preview,
    views,
)
from annotation.lead.kinds import edit as kind_edit
from annotation.lead.kinds import pages as kind_pages
from annotation.lead.people import annotations, annotators, invitations, pay, personal_links
from annotation.lead.quality import known_tasks, rules
from annotation.recruitment.lead import urls as recruitment

app_name = "annotation"

_C = "campaigns/<slug:campaign>/"

urlpatterns = [
    path("image-reports/", image_reports.report_list, name="image_reports"),
    path("image-reports/<uuid:image>/", image_reports.ImageDecide.as_view(), name="image_decide"),
    path("image-reports/<uuid:image>/restore/", image_reports.ImageRestore.as_view(), name="image_restore"),
    path("scenarios/", scenarios.scenario_list, name="scenarios"),
    path("scenarios/redraw/", scenarios.ScenariosRedraw.as_view(), name="scenarios_redraw"),
    path("kinds/", kind_pages.KindList.as_view(), name="kinds"),
    # No key has a hyphen: this address hides no kind.
    path("kinds/new-kind/", kind_edit.KindNew.as_view(), name="kind_new"),
    path("kinds/<slug:key>/edit/", kind_edit.KindEdit.as_view(), name="kind_edit"),
    path("kinds/<slug:key>/", kind_pages.kind_page, name="kind"),
    path("kinds/<slug:key>/file/", kind_pages.kind_file, name="kind_file"),
    path("kinds/<slug:key>/remove/", kind_pages.KindRemove.as_view(), name="kind_remove"),
    path("campaigns/", views.campaign_list, name="campaigns"),
    path("campaigns/new/", drafts.CampaignNew.as_view(), name="campaign_new"),
    path("campaigns/new/asking/", drafts.draft_asking, name="draft_asking"),
    path(_C, views.campaign_page, name="campaign"),
    path(f"{_C}progress/", views.campaign_progress, name="campaign_progress"),
    path(f"{_C}edit/", drafts.CampaignEdit.as_view(), name="campaign_edit"),
    path(f"{_C}launch/", launch.CampaignLaunch.as_view(), name="campaign_launch"),
    path(f"{_C}settings/", changes.CampaignSettingsPage.as_view(), name="campaign_settings"),
    path(f"{_C}extend/", changes.campaign_extend, name="campaign_extend"),
    path(f"{_C}copy/", changes.CampaignCopy.as_view(), name="campaign_copy"),
    path(f"{_C}guidelines/", instruments.instrument_versions, name="instrument"),
    path(f"{_C}guidelines/change/", instruments.InstrumentChange.as_view(), name="instrument_change"),
    path(f"{_C}languages/", languages.LanguagesPage.as_view(), name="languages"),
    path(f"{_C}languages/add/", languages.LanguageAdd.as_view(), name="language_add"),
    path(f"{_C}languages/translations.csv", languages.translations_file, name="translations_file"),
    path(
        f"{_C}languages/<slug:language>/remove/", languages.LanguageRemove.as_view(), name="language_remove"
    ),
    path(
        f"{_C}languages/<slug:language>/untranslated/",
        languages.LanguageUntranslated.as_view(),
        name="language_untranslated",
    ),
    path(f"{_C}delete/", views.campaign_delete, name="campaign_delete"),
    path(f"{_C}preview/", preview.preview, name="preview"),
    path(f"{_C}close/confirm/", views.campaign_close_confirm, name="campaign_close_confirm"),
    *(
        path(f"{_C}{move}/", views.CampaignStep.as_view(), {"move": move}, name=f"campaign_{move}")
        for move in ("open", "pause", "resume", "close", "reopen")
    ),
    path(f"{_C}quality/", rules.QualityPage.as_view(), name="quality"),
    path(f"{_C}quality/check/", rules.quality_check, name="quality_check"),
    path(f"{_C}quality/rules/<int:rule>/remove/", rules.RuleRemove.as_view(), name="quality_rule_remove"),
    path(f"{_C}ask-again/", rules.ScreensReopen.as_view(), name="screens_reopen"),
    path(f"{_C}who/", coverage.coverage_page, name="coverage"),
    path(f"{_C}who/screens/", coverage.screens, name="screens"),
    path(f"{_C}annotators/", annotators.annotator_list, name="annotators"),
    path(
        f"{_C}annotators/<int:enrolment>/<slug:move>/",
        annotators.EnrolmentMove.as_view(),
        name="enrolment_move",
    ),
    path(f"{_C}pay/", pay.pay_page, name="pay"),
    path(f"{_C}pay.csv", pay.pay_table, name="pay_table"),
    path(
        f"{_C}checks/", known_tasks.KnownList.as_view(http_method_names=["get", "head"]), name="known_tasks"
    ),
    path(f"{_C}checks/new/", known_tasks.KnownNew.as_view(), name="known_new"),
    path(
        f"{_C}checks/settings/",
        known_tasks.KnownList.as_view(http_method_names=["post"]),
        name="known_settings",
    ),
    path(f"{_C}checks/<uuid:task>/", known_tasks.KnownChange.as_view(), name="known_change"),
    path(f"{_C}checks/<uuid:task>/remove/", known_tasks.KnownRemove.as_view(), name="known_remove"),
    path(f"{_C}invitations/", invitations.InvitationList.as_view(), name="invitations"),
    path(f"{_C}invitations/personal/", personal_links.PersonalLinks.as_view(), name="personal_links"),
    path(f"{_C}invitations/letters/", personal_links.LettersSendAgain.as_view(), name="letters_again"),
    path(
        f"{_C}invitations/<int:invitation>/letter/",
        personal_links.LetterSend.as_view(),
        name="letter",
    ),
    path(f"{_C}invitations/made/", invitations.invitation_made, name="invitation_made"),
    path(
        f"{_C}invitations/<int:invitation>/revoke/",
        invitations.InvitationRevoke.as_view(),
        name="invitation_revoke",
    ),
    path(
        f"{_C}invitations/<int:invitation>/reissue/",
        invitations.InvitationReissue.as_view(),
        name="invitation_reissue",
    ),
    path(f"{_C}annotations/", annotations.annotation_list, name="annotations"),
    path(f"{_C}annotations/<int:annotation>/", annotations.annotation_detail, name="annotation"),
    path(
        f"{_C}annotations/<int:annotation>/exclude/",
        annotations.AnnotationExclude.as_view(),
        name="annotation_exclude",
    ),
    path(
        f"{_C}annotations/<int:annotation>/readmit/",
        annotations.AnnotationReadmit.as_view(),
        name="annotation_readmit",
    ),
    *recruitment.urlpatterns,
    *(pattern for tool in integrations.registered() for pattern in tool.study_urls()),
]
