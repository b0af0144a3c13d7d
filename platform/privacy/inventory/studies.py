"""Tables of studies, their history, images, scores, results and releases."""

from studies.personal_data import Erasing, PersonalTable, nothing

STUDIES = (
    PersonalTable(
        "studies.Withdrawal",
        Erasing.DELETE,
        about="annotator study withdrawn_at ended_at",
        person="annotator",
        hidden="study",
        reason="Answers in a study from which the person withdrew are deleted, too.",
    ),
    PersonalTable(
        "studies.AuditEntry",
        Erasing.REDACT,
        about="details",
        other="study actor action subject at is_sealed",
        reason="The entry is kept, but details that name the person are emptied, which is recorded, too.",
    ),
    PersonalTable(
        "studies.AuditLink",
        Erasing.REDACT,
        about="salt actor_number",
        other="position entry entry_number study_number content digest",
        reason="Without the salt, the hash of an entry reveals nothing. The number of a deleted account is kept.",
    ),
    PersonalTable(
        "analysis.Release",
        Erasing.KEEP,
        about="annotators profiles",
        other="study version parameters inputs_digest key facts annotations images set_aside_at archive archive_bytes "
        "built_at built_by",
        reason="The row contains profiles without names, as coarse as in the release. Later releases are checked "
        "against these profiles to protect the other people in the release.",
    ),
    PersonalTable(
        "analysis.Report",
        Erasing.DELETE,
        about="summary",
        other="study format parameters inputs_digest last_annotation last_audit_entry last_score computed_at "
        "computed_by",
        reason="Reports contain results of the person’s studies, under codes. The results are computed again.",
    ),
    PersonalTable(
        "analysis.ReportTable",
        Erasing.DELETE,
        about="content",
        other="report name columns",
        reason="The tables are deleted with their report.",
    ),
    # Members are never annotators who can be erased: they must leave their studies first.
    nothing("studies.StudyMembership", "study user role created_at"),
    # Administrators are never annotators who can be erased, but their reasons may name annotators.
    nothing("studies.BreakGlass", "study user began_at ends_at ended_at", mentions="reason"),
    nothing(
        "catalog.Resource",
        "name slug description citation licence has_rater_counts invented file_digest created_at updated_at",
    ),
    nothing(
        "catalog.IdentityGroup",
        "resource name display_name region region_code iso_code map_code forms dimensions",
    ),
    nothing("catalog.Attribute", "text"),
    nothing(
        "catalog.Stereotype",
        "in_region_stereotype in_region_not in_region_unsure out_region_stereotype out_region_not "
        "out_region_unsure rating_1 rating_2 rating_3 offensiveness_stored group attribute",
    ),
    nothing(
        "studies.Study",
        "name slug description protocol resource parameters min_raters rater_pools min_stereotypes "
        "most_stereotypes seed simulated consent_text frozen_at created_by created_at",
    ),
    nothing(
        "studies.StudyGroup",
        "study group name display_name region iso_code map_code factors forms dimensions",
    ),
    nothing(
        "studies.StudyAssociation",
        "in_region_stereotype in_region_not in_region_unsure out_region_stereotype out_region_not "
        "out_region_unsure rating_1 rating_2 rating_3 offensiveness_stored study group attribute",
    ),
    nothing(
        "generation.PromptTemplate",
        "study prompt_set text experiment scenario condition images_per_prompt position",
    ),
    nothing("generation.Phrase", "study condition attribute_set category name text expected position"),
    nothing("generation.GenerationRun_to_write", "generationrun prompttemplate"),
    nothing(
        "generation.GenerationRun",
        "study backend model_id model_label model_revision parameters seed price budget spent job "
        "created_by created_at to_write",
    ),
    nothing(
        "generation.Image",
        "public_id study group attribute phrase condition model_label prompt experiment scenario sha256 "
        "file source_name width height bytes provenance retracted_at retracted_reason created_at",
    ),
    nothing(
        "generation.GenerationRequest",
        "run template group attribute phrase prompt experiment scenario index seed outcome reason image "
        "seconds cost finished_at held_by held_attempt",
    ),
    nothing(
        "generation.ProbeRun",
        "study probe_set probe_set_digest questions backend model_id model_label model_revision "
        "parameters seed runs orders samples_per_request batch_parameters fresh price_in price_out "
        "budget to_write job created_by created_at",
    ),
    nothing(
        "generation.Answer",
        "run experiment question scenario image descriptor letter order repeat request_sha256 outcome "
        "reason text finish_reason served_model fingerprint tokens_in tokens_out cost seconds "
        "reused_from provenance finished_at",
    ),
    nothing("generation.AnswerCount", "run outcome served_model fingerprint number cost_e8 since"),
    nothing("generation.ModelCoder", "study version price_in price_out budget spent"),
    nothing(
        "generation.Coding",
        "answer coder version source outcome code span sure reason created_by created_at",
    ),
    nothing(
        "generation.ProbeBatch",
        "run key state file_id batch_id requests answered result created_at ended_at",
    ),
    nothing("generation.BatchRequest", "batch answer reserved"),
    nothing(
        "analysis.Encoder",
        "architecture pretrained revision precision vector_type dim parameters created_at",
    ),
    nothing("analysis.ImageEmbedding", "encoder sha256 vector"),
    nothing("analysis.TextEmbedding", "encoder text_sha256 text vector"),
    nothing(
        "analysis.Scorer",
        "study kind model_id model_label model_revision parameters configuration price_in price_out "
        "budget spent encoder job created_by created_at",
    ),
    nothing("analysis.ScoredImage", "scorer image outcome reason"),
    nothing("analysis.AttributeScore", "scorer image attribute probability cosine"),
    nothing("analysis.Caption", "scorer image position text"),
    nothing("analysis.TextScore", "scorer caption label score"),
    nothing("analysis.AssociationScore", "scorer key descriptor text repeat label score reason reply"),
    nothing(
        "analysis.StudyPlan",
        "study hypothesis primary_measure parameters results job created_by created_at",
    ),
    nothing("analysis.Preregistration", "study number plan document sha256 created_by created_at"),
)
