"""What the tables of Label Studio store about annotators."""

from django.utils.translation import gettext_lazy as _

from studies.personal_data import Erasing, PersonalTable, TableWords, nothing

_NUMBER = "Only ids from the other server are kept, so that the person’s answers are not read again."

TABLES = (
    PersonalTable(
        "label_studio.LabelStudioUser",
        Erasing.REDACT,
        about="external_id name forgotten_at state annotator invitation decided_at seen_at",
        other="server decided_by",
        person="annotator",
        reason=_NUMBER,
        hidden="decided_by",
    ),
    PersonalTable(
        "label_studio.LabelStudioProject",
        Erasing.DELETE,
        about="annotator",
        other="bridge slot external_id webhook_id instrument configuration gone_at created_at",
        person="annotator",
        reason="Only projects for one person are deleted; other projects are kept.",
        hidden="bridge webhook_id configuration",
    ),
    PersonalTable(
        "label_studio.LabelStudioAnnotation",
        Erasing.REDACT,
        about="user given_to updated_by made_at changed_at cancelled result lead_time chosen chosen_against edit",
        other="project external_id external_task task digest deleted_at missing state reason annotation",
        person="user__annotator",
        reason=_NUMBER,
        hidden="given_to updated_by chosen chosen_against edit",
    ),
    PersonalTable(
        "label_studio.LabelStudioVersion",
        Erasing.DELETE,
        about="mirrored user updated_by changed_at cancelled result lead_time replaced_at",
        other="digest",
        person="mirrored__user__annotator",
        hidden="updated_by",
    ),
    nothing(
        "label_studio.LabelStudioEvent", "bridge received_at action project tasks annotations done_at outcome"
    ),
    nothing(
        "label_studio.LabelStudioServer",
        "study url token version checked_at problem created_by created_at",
        mentions="problem_text",
    ),
    nothing(
        "label_studio.LabelStudioBridge",
        "campaign server arrangement public_id address_secret header_secret images_until images_version pushed_at "
        "event_at reconciled_at problem problem_at created_by created_at",
        mentions="problem_text",
    ),
    nothing("label_studio.LabelStudioTask", "project task external_id images_version"),
)
WORDS = (
    TableWords("label_studio.LabelStudioUser", "label_studio", _("You in Label Studio"), {"name": _("Name")}),
    TableWords(
        "label_studio.LabelStudioAnnotation",
        "label_studio_answers",
        _("Your answers in Label Studio"),
        {"made_at": _("Submitted"), "changed_at": _("Last changed"), "lead_time": _("Seconds at work")},
    ),
    TableWords(
        "label_studio.LabelStudioVersion",
        "label_studio_versions",
        _("Earlier versions of these answers"),
        {"changed_at": _("Last changed")},
    ),
)
