"""Tables about participation in campaigns: invitations, answers, practice, quality, reports."""

from studies.personal_data import Erasing, PersonalTable, nothing

CAMPAIGNS = (
    PersonalTable(
        "annotation.Invitation",
        Erasing.DELETE,
        about="annotator created_at expires_at revoked_at opened_at",
        mentions="label",
        other="campaign token_hash limit created_by",
        person="annotator",
        reason="Only links for one person are deleted, including those that the person opened; other links are kept.",
        hidden="token_hash created_by",
    ),
    PersonalTable(
        "annotation.InvitationLetter",
        Erasing.DELETE,
        about="invitation state address_sealed link_sealed address_hash planned_at sent_at",
        other="mailing problem tries next_try_at",
        person="invitation__annotator",
        reason="The encrypted address and link are emptied when the person joins, the link stops working or the "
        "campaign closes, at the latest after 30 days. The hash of the address is emptied after 30 days.",
        hidden="link_sealed address_hash",
    ),
    PersonalTable(
        "annotation.Enrolment",
        Erasing.WITH_ANSWERS,
        about="annotator invitation state reason joined_print joined_device joined_at language",
        other="campaign most_screens",
        person="annotator",
        blank={"invitation": None, "reason": "", "joined_print": "", "joined_device": ""},
    ),
    PersonalTable(
        "annotation.Assignment",
        Erasing.WITH_ANSWERS,
        about="public_id annotator state purpose slot leased_at expires_at ended_at",
        other="task",
        person="annotator",
        hidden="purpose slot",
    ),
    PersonalTable(
        "annotation.Annotation",
        Erasing.WITH_ANSWERS,
        about="submission_id annotator assignment revision is_latest status status_reason none_of_the_above "
        "justification active_seconds language submitted_at",
        other="campaign task instrument",
        person="annotator",
        blank={"justification": "", "status_reason": ""},
        hidden="status status_reason",
    ),
    PersonalTable(
        "annotation.Judgement",
        Erasing.WITH_ANSWERS,
        about="annotation present rating code rank text",
        other="question stimulus attribute",
        person="annotation__annotator",
        reason="Answers in the person’s own words are always deleted.",
    ),
    PersonalTable(
        "annotation.Box",
        Erasing.WITH_ANSWERS,
        about="judgement x y width height clipped",
        person="judgement__annotation__annotator",
    ),
    PersonalTable(
        "annotation.Point",
        Erasing.WITH_ANSWERS,
        about="judgement x y",
        person="judgement__annotation__annotator",
    ),
    PersonalTable(
        "annotation.CopiedText",
        Erasing.REDACT,
        about="writer",
        other="stimulus",
        person="writer",
        reason="The text is withdrawn, and annotators no longer get the screens that show the text.",
    ),
    PersonalTable(
        "annotation.TaskStimulus",
        Erasing.REDACT,
        about="text",
        other="task position image",
        person="copied_text__writer",
        reason="This affects texts that the person wrote in another campaign; all other rows are kept.",
    ),
    PersonalTable(
        "annotation.PracticeRound",
        Erasing.DELETE,
        about="enrolment number passed started_at ended_at",
        person="enrolment__annotator",
    ),
    PersonalTable(
        "annotation.PracticeAnswer",
        Erasing.DELETE,
        about="round answer correct scored answered_at",
        other="task",
        person="round__enrolment__annotator",
    ),
    PersonalTable(
        "annotation.QualityEvent",
        Erasing.DELETE,
        about="enrolment measure action value threshold rests_on created_at seen_at ended_at ending",
        person="enrolment__annotator",
        hidden="measure value threshold rests_on",  # included in the sentence that the person read
    ),
    PersonalTable(
        "annotation.ImageReport",
        Erasing.DELETE,
        about="annotator reason details state created_at closed_at",
        other="image campaign closed_by",
        person="annotator",
        hidden="closed_by",
    ),
    PersonalTable(
        "annotation.CampaignSnapshot",
        Erasing.DELETE,
        about="value",
        other="campaign subject argument format counted_at seconds claimed_until",
        reason="The rows contain numbers for the pages of the person’s campaigns. The numbers are counted again.",
    ),
    PersonalTable(
        "annotation.Notice",
        Erasing.REDACT,
        mentions="details",
        other="campaign kind created_at resolved_at",
    ),
    nothing(
        "annotation.Campaign",
        "study slug name kind declaration state annotators_per_task attributes_per_screen boxes_required "
        "lease_minutes seed options cloned_from imported labelled_in offered_languages created_by created_at "
        "opened_at closed_at",
    ),
    nothing("annotation.Mailing", "campaign language created_by created_at", mentions="message"),
    nothing("annotation.StudyKind", "study key declaration created_by created_at"),
    nothing("annotation.Instrument", "campaign version guidelines statement labels translations created_at"),
    nothing("annotation.QuotaRule", "campaign kind field k values negated matches_group"),
    nothing("annotation.CampaignAttribute", "campaign group attribute role"),
    # `quota_mix` counts the profiles of a task's annotators; deleting a profile counts it again.
    nothing(
        "annotation.Task", "public_id campaign image screen wanted held quota_mix withdrawn purpose sensitive"
    ),
    nothing("annotation.TaskAttribute", "task attribute position"),
    nothing("annotation.ReviewedCoding", "stimulus coding first"),
    nothing("annotation.CampaignLanguage", "campaign language untranslated_reason created_by created_at"),
    nothing(
        "annotation.KnownAnswer", "task question stimulus attribute present ratings accepted explanation"
    ),
    nothing("annotation.QualityRule", "campaign measure threshold minimum action standard"),
    nothing("annotation.LaunchWaiver", "campaign check_key reason created_by created_at"),
    nothing("annotation.CampaignStop", "campaign rule setting reason state stopped_at"),
    nothing("annotation.PrecisionLook", "campaign number answers half_width reason looked_at"),
)
