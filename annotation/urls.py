"""Addresses of a study's campaigns, for its lead and analysts."""

from django.urls import path

from annotation.label_studio.lead import answers, files, people, servers
from annotation.label_studio.lead import campaigns as lead_campaigns
from annotation.lead import image_reports
from annotation.lead.campaigns import changes, coverage, drafts, instruments, preview, views
from annotation.lead.people import annotations, annotators, invitations, pay
from annotation.lead.quality import known_tasks, rules

app_name = "annotation"

_C = "campaigns/<slug:campaign>/"
_L = f"{_C}label-studio/"
_S = "label-studio/<int:server>/"
_P = f"{_S}people/<int:user>/"

urlpatterns = [
    path("image-reports/", image_reports.report_list, name="image_reports"),
    path("image-reports/<uuid:image>/", image_reports.image_decide, name="image_decide"),
    path("image-reports/<uuid:image>/restore/", image_reports.image_restore, name="image_restore"),
    path("campaigns/", views.campaign_list, name="campaigns"),
    path("campaigns/new/", drafts.campaign_new, name="campaign_new"),
    path("campaigns/new/asking/", drafts.draft_asking, name="draft_asking"),
    path(_C, views.campaign_page, name="campaign"),
    path(f"{_C}progress/", views.campaign_progress, name="campaign_progress"),
    path(f"{_C}edit/", drafts.campaign_edit, name="campaign_edit"),
    path(f"{_C}settings/", changes.campaign_settings, name="campaign_settings"),
    path(f"{_C}extend/", changes.campaign_extend, name="campaign_extend"),
    path(f"{_C}copy/", changes.campaign_copy, name="campaign_copy"),
    path(f"{_C}guidelines/", instruments.instrument_versions, name="instrument"),
    path(f"{_C}guidelines/change/", instruments.instrument_change, name="instrument_change"),
    path(f"{_C}delete/", views.campaign_delete, name="campaign_delete"),
    path(f"{_C}preview/", preview.preview, name="preview"),
    path(f"{_C}close/confirm/", views.campaign_close_confirm, name="campaign_close_confirm"),
    *(
        path(f"{_C}{move}/", views.campaign_move, {"move": move}, name=f"campaign_{move}")
        for move in ("open", "pause", "resume", "close", "reopen")
    ),
    path(f"{_C}quality/", rules.quality_page, name="quality"),
    path(f"{_C}quality/check/", rules.quality_check, name="quality_check"),
    path(f"{_C}quality/rules/<int:rule>/remove/", rules.rule_remove, name="quality_rule_remove"),
    path(f"{_C}ask-again/", rules.screens_reopen, name="screens_reopen"),
    path(f"{_C}who/", coverage.coverage_page, name="coverage"),
    path(f"{_C}who/screens/", coverage.screens, name="screens"),
    path(f"{_C}annotators/", annotators.annotator_list, name="annotators"),
    path(f"{_C}annotators/<int:enrolment>/<slug:move>/", annotators.enrolment_move, name="enrolment_move"),
    path(f"{_C}pay/", pay.pay_page, name="pay"),
    path(f"{_C}pay.csv", pay.pay_table, name="pay_table"),
    path(f"{_C}checks/", known_tasks.known_list, name="known_tasks"),
    path(f"{_C}checks/new/", known_tasks.known_new, name="known_new"),
    path(f"{_C}checks/settings/", known_tasks.known_settings, name="known_settings"),
    path(f"{_C}checks/<uuid:task>/", known_tasks.known_change, name="known_change"),
    path(f"{_C}checks/<uuid:task>/remove/", known_tasks.known_remove, name="known_remove"),
    path(f"{_C}invitations/", invitations.invitation_list, name="invitations"),
    path(f"{_C}invitations/made/", invitations.invitation_made, name="invitation_made"),
    path(
        f"{_C}invitations/<int:invitation>/revoke/", invitations.invitation_revoke, name="invitation_revoke"
    ),
    path(
        f"{_C}invitations/<int:invitation>/reissue/",
        invitations.invitation_reissue,
        name="invitation_reissue",
    ),
    path(f"{_C}annotations/", annotations.annotation_list, name="annotations"),
    path(f"{_C}annotations/<int:annotation>/", annotations.annotation_detail, name="annotation"),
    path(
        f"{_C}annotations/<int:annotation>/exclude/",
        annotations.annotation_exclude,
        name="annotation_exclude",
    ),
    path(
        f"{_C}annotations/<int:annotation>/readmit/",
        annotations.annotation_readmit,
        name="annotation_readmit",
    ),
    path("label-studio/", servers.server_list, name="label_studio"),
    path("label-studio/file/", files.file_upload, name="label_studio_file_upload"),
    path("label-studio/file/<int:look>/", files.file_page, name="label_studio_file"),
    path(_S, servers.server_page, name="label_studio_server"),
    path(f"{_S}check/", servers.server_check, name="label_studio_check"),
    path(f"{_S}token/", servers.server_token, name="label_studio_token"),
    path(f"{_S}disconnect/", servers.server_disconnect, name="label_studio_disconnect"),
    path(f"{_S}people/", people.people_list, name="label_studio_people"),
    path(_P, people.person_page, name="label_studio_person"),
    path(f"{_P}confirm/", people.person_confirm, name="label_studio_person_confirm"),
    path(f"{_P}invite/", people.person_invite, name="label_studio_person_invite"),
    *(
        path(
            f"{_P}{move}/",
            people.person_move,
            {"move": move},
            name=f"label_studio_person_{move}",
        )
        for move in ("ignore", "undo", "erase")
    ),
    path(_L, lead_campaigns.bridge_page, name="campaign_label_studio"),
    path(f"{_L}live/", lead_campaigns.bridge_live, name="campaign_label_studio_live"),
    path(f"{_L}renew/", lead_campaigns.bridge_renew, name="campaign_label_studio_renew"),
    path(f"{_L}cleanup/", lead_campaigns.bridge_cleanup, name="campaign_label_studio_cleanup"),
    path(f"{_L}end/", lead_campaigns.bridge_end, name="campaign_label_studio_end"),
    *(
        path(
            f"{_L}{work}/",
            lead_campaigns.bridge_work,
            {"work": work},
            name=f"campaign_label_studio_{work}",
        )
        for work in ("push", "reconcile", "replace")
    ),
    path(f"{_L}missing/", lead_campaigns.bridge_missing, name="campaign_label_studio_missing"),
    *(
        path(
            f"{_L}missing/{decision}/",
            lead_campaigns.bridge_missing_was,
            {"decision": decision},
            name=f"campaign_label_studio_missing_{decision}",
        )
        for decision in ("deleted", "kept")
    ),
    path(f"{_L}answers/", answers.answer_list, name="label_studio_answers"),
    path(f"{_L}answers/<int:answer>/", answers.answer_page, name="label_studio_answer"),
    *(
        path(
            f"{_L}answers/<int:answer>/{what}/",
            answers.answer_decide,
            {"what": what},
            name=f"label_studio_answer_{what}",
        )
        for what in ("keep", "take", "restore", "undo")
    ),
]
