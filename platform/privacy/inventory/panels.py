"""Tables of panels: ids of people, their places and payments."""

from studies.personal_data import Erasing, PersonalTable, nothing

_ACCOUNTS = "Amounts paid are kept for accounting, without the person’s name."

PANELS = (
    PersonalTable(
        "recruitment.PanelPerson",
        Erasing.DELETE,
        about="provider annotator id_hash id_sealed",
        person="annotator",
        hidden="provider id_hash id_sealed",
    ),
    PersonalTable(
        "recruitment.PanelPlace",
        Erasing.REDACT,
        about="person enrolment submission_hash submission_sealed answered_before answered state verified "
        "remote_status remote_at arrived_at ended_at outcome reason decided_at",
        other="recruitment decided_by",
        person="person__annotator",
        reason=_ACCOUNTS,
        blank={"person": None, "enrolment": None, "submission_hash": None, "submission_sealed": ""},
        hidden="submission_hash submission_sealed decided_by verified remote_status remote_at",
    ),
    PersonalTable(
        "recruitment.PanelPayment",
        Erasing.REDACT,
        about="place kind cause amount currency category state created_at sent_at settled_at problem",
        other="key batch attempts decided_by next_try_at looked_at",
        person="place__person__annotator",
        reason=_ACCOUNTS,
        hidden="key batch decided_by problem",
    ),
    PersonalTable(
        "recruitment.PanelEvent",
        Erasing.DELETE,
        about="body_sealed happened_at signed_at received_at",
        other="provider event_id read_at handled_at",
        reason="Only events that name the person by an id are deleted.",
    ),
    nothing(
        "recruitment.Provider",
        "study name kind token_sealed workspace secret_sealed events_id signs_links unsigned_at person_parameter "
        "place_parameter study_parameter completion_address created_at",
    ),
    nothing(
        "recruitment.Recruitment",
        "public_id campaign provider name remote_study remote_state remote_cost compared_at places held screens "
        "minutes reward currency fee_percent completed_code declined_code screened_out_code screen_out_reward "
        "screen_out_code state created_by created_at settled_at",
    ),
)
