"""Every constraint of every table of ours is there in the database: each is broken, and the database refuses.

Valid rows are made from the models themselves. A CHECK needs an entry in BREAKS; without one a test fails.
"""

import itertools
import uuid
from datetime import UTC, datetime
from typing import Any

import pytest
from django.apps import apps
from django.db import IntegrityError, connection, models, transaction
from django.db.models.fields import NOT_PROVIDED
from django.utils import timezone

from accounts.models import Annotator, MatchedWords, User
from analysis.models import AssociationScore
from annotation.models import (
    Annotation,
    Assignment,
    Box,
    CampaignLanguage,
    CampaignStop,
    Judgement,
    KnownAnswer,
    Point,
    PracticeAnswer,
    PrecisionLook,
    QuotaRule,
    ReviewedCoding,
    TaskStimulus,
)
from annotation.recruitment.models import (
    PanelPayment,
    PanelPerson,
    PanelPlace,
    Provider,
    Recruitment,
)
from catalog.models import Attribute
from generation.models import Coding, Image, Phrase, ProbeRun
from studies.models import AuditLink

OURS = [
    "accounts",
    "catalog",
    "jobs",
    "studies",
    "generation",
    "annotation",
    "recruitment",
    "label_studio",
    "analysis",
    "demo",
]
NUMBERS = itertools.count(1)
LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
SENT = {"state": "sent", "key": uuid.uuid4, "sent_at": LONG_AGO}

# What a valid row needs beyond what its fields say.
BASE: dict[type[models.Model], dict[str, Any]] = {
    MatchedWords: {"field": "gender"},
    AssociationScore: {"score": 0.5},
    Annotation: {"revision": lambda: next(NUMBERS)},
    Assignment: {"state": "skipped"},
    AuditLink: {"position": lambda: next(NUMBERS)},
    CampaignLanguage: {"language": "de"},
    Box: {"x": 0.1, "y": 0.1, "width": 0.3, "height": 0.3},
    Coding: {"code": 1},
    Image: {"file": "a.png", "sha256": lambda: uuid.uuid4().hex * 2},
    Judgement: {"present": True},
    Point: {"x": 0.5, "y": 0.5},
    TaskStimulus: {"text": "a street at dawn"},
    KnownAnswer: {"attribute": lambda: make(Attribute), "present": True},
    Phrase: {"condition": "target"},
    PanelPerson: {"id_hash": lambda: uuid.uuid4().hex, "id_sealed": "sealed"},
    PanelPlace: {
        "submission_hash": lambda: uuid.uuid4().hex,
        "submission_sealed": "sealed",
        "remote_status": "",
    },
    PanelPayment: {"kind": "approve", "cause": "", "amount": 300, "currency": "GBP"},
    Provider: {"person_parameter": "pid", "place_parameter": "session", "study_parameter": "survey"},
    Recruitment: {
        "places": 5,
        "screens": 40,
        "minutes": 20,
        "reward": 300,
        "currency": "GBP",
        "settled_at": None,
        "completed_code": "C1",
        "declined_code": "C2",
        "screened_out_code": "C3",
    },
    ProbeRun: {"runs": 3},
    ReviewedCoding: {"first": "plus"},
    CampaignStop: {"rule": "date", "state": "paused", "reason": "It was time."},
    PrecisionLook: {"number": lambda: next(NUMBERS), "half_width": 0.2},
    PracticeAnswer: {"correct": 1, "scored": 2},
    QuotaRule: {"kind": "distinct", "field": "gender"},
}

# Ways to break each CHECK: what is changed in a valid row.
BREAKS: dict[str, list[dict[str, Any]]] = {
    "association_score_null_for_a_reason": [{"score": None}, {"reason": "unparsed"}],
    "batch_request_reserved_not_negative": [{"reserved": -1}],
    "probe_batch_has_ids_of_its_state": [
        {"file_id": "f"},
        {"batch_id": "b"},
        {"state": "creating"},
        {"state": "waiting", "file_id": "f"},
        {"state": "lost"},
    ],
    "probe_batch_ended_has_time": [{"state": "ended"}, {"ended_at": LONG_AGO}],
    "probe_batch_has_key": [{"key": ""}],
    "annotation_revision_from_one": [{"revision": 0}],
    "annotation_seconds_not_negative": [{"active_seconds": -1}],
    "annotator_imported_has_no_user": [{"origin": "imported", "user": lambda: make(User)}],
    "answer_cost_not_negative": [{"cost": -1}],
    "answer_finished_unless_pending": [
        {"outcome": "done", "request_sha256": "a"},
        {"outcome": "failed"},
        {"finished_at": LONG_AGO},
        {"outcome": "tired", "request_sha256": "a", "finished_at": LONG_AGO},
    ],
    "answer_has_text_when_ended": [
        {"text": "The pilot."},
        {"text": "The pilot.", "outcome": "failed", "finished_at": LONG_AGO},
    ],
    "answer_names_its_request": [
        {"outcome": "done", "finished_at": LONG_AGO},
        {"outcome": "declined", "finished_at": LONG_AGO},
    ],
    "answer_order_known": [{"order": "sideways"}],
    "assignment_holds_slot_while_it_counts": [
        {"state": "leased"},
        {"state": "submitted"},
        {"state": "skipped", "slot": 0},
        {"state": "surplus", "slot": 0},
        {"state": "submitted", "slot": 0, "purpose": "gold"},
        {"state": "submitted", "slot": 0, "purpose": "repeat"},
        {"state": "lost", "slot": 0},
    ],
    "audit_link_from_one": [{"position": 0}],
    "attribute_has_text": [{"text": ""}],
    "attribute_score_is_cosine": [{"cosine": 1.1}, {"cosine": -1.1}],
    "attribute_score_is_probability": [{"probability": 1.1}, {"probability": -0.1}],
    "box_inside_image": [{"x": -0.1}, {"y": -0.1}, {"width": 0}, {"height": 0}, {"x": 0.8}, {"y": 0.8}],
    "campaign_annotators_per_task_range": [{"annotators_per_task": 0}, {"annotators_per_task": 101}],
    "campaign_lease_positive": [{"lease_minutes": 0}],
    "campaign_one_to_five_attributes": [{"attributes_per_screen": 0}, {"attributes_per_screen": 6}],
    "campaign_opened_once_not_draft": [{"state": "open"}, {"state": "draft", "opened_at": LONG_AGO}],
    "caption_has_text": [{"text": ""}],
    "coding_code_is_a_sign": [{"code": 2}, {"code": -2}],
    "coding_has_outcome_and_version": [{"outcome": ""}, {"version": ""}],
    "coding_of_a_person_has_source": [
        {"coder": "person"},
        {"source": "annotation 7"},
        {"coder": "override", "reason": "It says so."},
    ],
    "coding_override_has_reason": [
        {"coder": "override", "source": "1"},
        {"coder": "override", "source": "1", "reason": "It says so.", "code": None},
    ],
    "annotation_language_known": [{"language": "xx"}, {"language": ""}],
    "campaign_language_known": [{"language": "xx"}, {"language": "en"}],
    "consent_withdrawn_after_given": [{"given_at": timezone.now, "withdrawn_at": LONG_AGO}],
    "enrolment_language_known": [{"language": "xx"}, {"language": ""}],
    "encoder_has_dimensions": [{"dim": 0}],
    "encoder_has_revision": [{"revision": ""}],
    "encoder_vector_type_known": [{"vector_type": "float64"}],
    "generation_request_done_has_image": [{"outcome": "done"}, {"image": lambda: make(Image)}],
    "generation_request_of_experiment_has_scenario": [{"experiment": "trades"}],
    "generation_run_budget_has_price": [{"budget": 5}, {"budget": -1, "price": 1}],
    "generation_run_price_not_negative": [{"price": -1}],
    "generation_run_spent_not_negative": [{"spent": -1}],
    "identity_group_has_name": [{"name": ""}],
    "image_has_file_or_source": [{"sha256": "", "file": ""}, {"file": ""}, {"sha256": ""}],
    "image_of_experiment_has_scenario": [{"experiment": "trades"}],
    "image_report_closed_unless_open": [{"state": "retracted"}, {"closed_at": LONG_AGO}],
    "image_report_reason_known": [{"reason": "dull"}],
    "invitation_limit_positive": [{"limit": 0}],
    "invitation_personal_has_limit_one": [{"limit": 2, "annotator": lambda: make(Annotator)}],
    "job_finished_exactly_when_ended": [{"state": "succeeded"}, {"finished_at": LONG_AGO}],
    "job_steps_done_within_total": [{"steps_done": 3, "steps_total": 2}],
    "job_waits_only_while_queued": [{"state": "running", "wait_until": LONG_AGO}],
    "judgement_has_one_value": [
        {"present": None},
        {"rating": 3},
        {"code": "tie"},
        {"rank": 1},
        {"text": "because"},
        {"present": None, "rating": 3, "text": "because"},
        {"present": None, "rank": 0},
    ],
    "judgement_of_attribute_is_mark_or_rating": [
        {"question": ""},
        {"attribute": lambda: make(Attribute), "question": "appeal"},
        {"attribute": lambda: make(Attribute), "stimulus": lambda: make(TaskStimulus)},
        {"attribute": lambda: make(Attribute), "present": None, "rating": 0},
        {"attribute": lambda: make(Attribute), "present": None, "rating": 6},
        {"attribute": lambda: make(Attribute), "present": None, "code": "tie"},
    ],
    "known_answer_is_mark_ratings_or_accepted": [
        {"present": None},
        {"ratings": [4]},
        {"accepted": [1]},
        {"attribute": None},
    ],
    "label_studio_annotation_chosen_against_something": [{"chosen": "-"}, {"chosen_against": "-"}],
    "label_studio_annotation_edit_known": [{"edit": "maybe"}],
    "label_studio_annotation_missing_or_deleted": [
        {"missing": "lost"},
        {"missing": "kept", "deleted_at": datetime(2026, 1, 1, tzinfo=UTC)},
    ],
    "label_studio_arrangement_known": [{"arrangement": "by_chance"}],
    "label_studio_bridge_problem_said": [
        {"problem": "unreachable"},
        {"problem_text": "It does not answer."},
        {"problem": "unreachable", "problem_text": "It does not answer."},
    ],
    "label_studio_project_of_one_thing": [{"slot": 0, "annotator": lambda: make(Annotator)}],
    "label_studio_server_problem_said": [{"problem": "unreachable"}, {"problem_text": "It is gone."}],
    "label_studio_user_mapped_to_somebody": [
        {"state": "mapped"},
        {"annotator": lambda: make(Annotator)},
        {"state": "ignored", "annotator": lambda: make(Annotator)},
    ],
    "matched_words_field_has_codes": [{"field": "age_band"}],
    "matched_words_have_code": [{"words": ""}, {"code": ""}],
    "panel_event_has_id_and_body": [{"event_id": ""}, {"body_sealed": ""}],
    "panel_person_sealed_or_erased": [{"id_sealed": ""}, {"id_hash": None}],
    "panel_place_decided_after_work": [
        {"outcome": "approved"},
        {"outcome": "approved", "decided_at": LONG_AGO},
        {"decided_at": LONG_AGO},
        {"outcome": "rejected", "decided_at": LONG_AGO, "state": "left", "ended_at": LONG_AGO},
        {"outcome": "lost", "decided_at": LONG_AGO, "state": "left", "ended_at": LONG_AGO},
    ],
    "panel_place_ended_unless_working": [{"ended_at": LONG_AGO}, {"state": "left"}, {"state": "asleep"}],
    "panel_place_remote_status_dated": [{"remote_status": "ACTIVE"}, {"remote_at": LONG_AGO}],
    "panel_place_sealed_or_erased": [{"submission_hash": None}, {"submission_sealed": ""}],
    "phrase_has_name_and_text": [{"name": ""}, {"text": ""}],
    "phrase_is_target_or_of_a_set": [
        {"attribute_set": "lamps"},
        {"condition": "attribute"},
        {"condition": "attribute", "attribute_set": "lamps", "category": "tools"},
        {"condition": "attribute", "attribute_set": "lamps", "expected": "kites"},
        {"condition": "default"},
    ],
    "point_inside_image": [{"x": -0.1}, {"y": -0.1}, {"x": 1.1}, {"y": 1.1}],
    "practice_correct_of_scored": [{"correct": 3}],
    "campaign_snapshot_has_its_moment": [{"value": 1}, {"counted_at": LONG_AGO}],
    "campaign_snapshot_seconds_not_negative": [{"seconds": -1}],
    "practice_round_ends_with_a_result": [{"passed": True}, {"ended_at": LONG_AGO}],
    "probe_run_asks_one_to_100_times": [{"runs": 101}],
    "probe_run_budget_has_prices": [{"budget": 5}, {"budget": -1, "price_in": 1, "price_out": 1}],
    "probe_run_has_both_prices": [{"price_in": 1}, {"price_out": 1}, {"price_in": -1, "price_out": 1}],
    "probe_run_has_label": [{"model_label": ""}],
    "probe_run_orders_known": [{"orders": "sideways"}],
    "probe_run_samples_within_runs": [{"samples_per_request": 0}, {"samples_per_request": 4}],
    "prompt_template_makes_images": [{"images_per_prompt": 0}],
    "prompt_template_of_experiment_has_scenario": [{"experiment": "trades"}],
    "provider_api_has_a_token": [
        {"kind": "prolific"},
        {"kind": "prolific", "token_sealed": "sealed"},
        {"token_sealed": "sealed"},
        {"workspace": "w"},
        {"signs_links": True},
        {"kind": "pigeon"},
    ],
    "provider_completion_address_encrypted": [{"completion_address": "http://panel.example"}],
    "provider_person_parameter_its_own": [
        {"person_parameter": ""},
        {"person_parameter": "session"},
        {"person_parameter": "survey"},
    ],
    "provider_place_parameter_its_own": [{"place_parameter": "survey"}],
    "quality_event_ends_for_a_reason": [{"ended_at": LONG_AGO}, {"ending": "recovered"}],
    "quality_rule_rests_on_something": [{"minimum": 0}],
    "quality_rule_standard_only_warns": [{"standard": True, "action": "pause"}],
    "quality_threshold_in_range": [{"threshold": -0.1}, {"measure": "agreement", "threshold": 1.1}],
    "quota_rule_counts_unless_distinct": [
        {"k": 1},
        {"negated": True},
        {"matches_group": "region"},
        {"kind": "at_least", "k": 0},
        {"kind": "at_least"},
        {"kind": "at_most"},
        {"kind": "exactly", "k": 1},
    ],
    "quota_rule_field_known": [{"field": "shoe_size"}],
    "quota_rule_group_part_known": [{"kind": "at_least", "k": 1, "matches_group": "name"}],
    "payment_amount_positive": [
        {"amount": 0},
        {"kind": "bonus", "cause": "work", "amount": 0},
        {"kind": "reject", "category": "OTHER"},
    ],
    "payment_bonus_sent_in_a_batch": [
        {"kind": "bonus", "cause": "work", **SENT},
        {"kind": "bonus", "cause": "work", **SENT, "state": "unknown"},
    ],
    "payment_kind_has_its_cause": [
        {"kind": "bonus"},
        {"kind": "bonus", "cause": "luck"},
        {"cause": "work"},
        {"kind": "gift"},
    ],
    "payment_rejection_has_category": [{"kind": "reject", "amount": 0}, {"category": "OTHER"}],
    "payment_state_has_its_fields": [
        {"key": uuid.uuid4},
        {"sent_at": LONG_AGO},
        {"settled_at": LONG_AGO},
        {**SENT, "key": None},
        {**SENT, "sent_at": None},
        {**SENT, "settled_at": LONG_AGO},
        {**SENT, "state": "unknown", "key": None},
        {"state": "confirmed"},
        {"state": "refused", "settled_at": LONG_AGO},
        {"state": "refused", "problem": "Not enough money."},
        {"state": "asleep"},
    ],
    "recruitment_codes_differ": [
        {"declined_code": "C1"},
        {"screened_out_code": "C1"},
        {"declined_code": "C3"},
    ],
    "recruitment_fee_is_a_share": [{"fee_percent": -1}, {"fee_percent": 101}],
    "recruitment_held_within_places": [{"held": 6}],
    "recruitment_numbers_positive": [{"places": 0}, {"screens": 0}, {"minutes": 0}, {"reward": 0}],
    "recruitment_pays_the_floor": [
        {"reward": 199},
        {"currency": "USD", "reward": 266},
        {"minutes": 31},
    ],
    "recruitment_settled_is_closed": [{"settled_at": LONG_AGO}],
    "recruitment_state_known": [{"state": "asleep"}],
    "release_archive_has_size": [{"archive": "releases/1.zip"}, {"archive_bytes": 7}],
    "release_has_inputs_digest": [{"inputs_digest": ""}],
    "release_set_aside_without_files": [
        {"set_aside_at": LONG_AGO, "archive": "releases/1.zip", "archive_bytes": 7},
    ],
    "release_version_from_one": [{"version": 0}],
    "launch_waiver_has_reason": [{"reason": ""}],
    "campaign_stop_rule_known": [{"rule": "whim"}],
    "campaign_stop_pauses_or_closes": [{"state": "open"}, {"state": "draft"}],
    "campaign_stop_has_reason": [{"reason": ""}],
    "precision_look_number_from_one": [{"number": 0}],
    "precision_look_half_width_or_reason": [
        {"half_width": None},
        {"half_width": -0.1},
        {"reason": "no_labels"},
    ],
    "plan_has_hypothesis": [{"hypothesis": ""}],
    "plan_measure_known": [{"primary_measure": "likelihood"}],
    "preregistration_number_from_one": [{"number": 0}],
    "preregistration_has_digest": [{"sha256": ""}],
    "report_has_inputs_digest": [{"inputs_digest": ""}],
    "scored_image_failed_for_a_reason": [
        {"reason": "It is damaged."},
        {"outcome": "failed"},
        {"outcome": "tired", "reason": "Late."},
    ],
    "scorer_budget_has_prices": [{"budget": 5}, {"budget": -1, "price_in": 1, "price_out": 1}],
    "scorer_has_both_prices": [{"price_in": 1}, {"price_out": 1}, {"price_in": -1, "price_out": 1}],
    "scorer_has_label": [{"model_label": ""}],
    "scorer_spent_is_no_debt": [{"spent": -1}],
    "stereotype_offensiveness_at_least_minus_one": [{"offensiveness_stored": -1.5}],
    "study_group_has_name": [{"name": ""}],
    "study_has_name": [{"name": ""}],
    "study_min_raters_positive": [{"min_raters": 0}],
    "study_rater_pools_known": [{"rater_pools": "mixed"}],
    "model_coder_budget_has_prices": [{"budget": 3}, {"budget": -1, "price_in": 1}],
    "model_coder_has_version_and_spent": [{"version": ""}, {"spent": -1}],
    "reviewed_coding_first_option_known": [{"first": "both"}],
    "task_held_within_wanted": [{"held": 4}],
    "task_stimulus_is_image_or_text": [{"text": ""}, {"image": lambda: make(Image)}],
    "task_only_for_labels_wanted": [{"purpose": "gold"}, {"purpose": "practice"}, {"purpose": "other"}],
    "text_score_is_probability": [{"score": 1.1}, {"score": -0.1}],
    "withdrawal_ended_after_withdrawn": [{"ended_at": LONG_AGO}],
}

# What both rows have where a UNIQUE holds under a condition, or where another one would be broken first.
BOTH: dict[str, dict[str, Any]] = {
    "payment_bonus_once_a_cause": {"kind": "bonus", "cause": "work"},
    "annotation_revision_unique": {"is_latest": False},
    "annotator_source_unique": {"source_id": "7"},
    "assignment_slot_held_once": {"state": "submitted", "slot": 0},
    "image_source_once": {"sha256": "", "file": "", "source_name": "pictures/1.png"},
    "judgement_once_per_question": {"present": None, "code": "tie"},
    "known_answer_once_per_question": {"attribute": None, "present": None, "accepted": [1]},
    "label_studio_user_is_one_annotator": {"state": "mapped"},
    "practice_round_number_unique": {"passed": True, "ended_at": LONG_AGO},
}


def make(model: type[models.Model], **given: Any) -> Any:
    """Save a valid row with what is given; whatever it refers to is made anew."""
    values = BASE.get(model, {}) | given
    values = {name: value() if callable(value) else value for name, value in values.items()}
    for field in model._meta.concrete_fields:
        if field.name not in values and _must_be_given(field):
            values[field.name] = _value(field)
    return model._default_manager.create(**values)


def _must_be_given(field: Any) -> bool:
    if field.primary_key or field.null or getattr(field, "auto_now", False):
        return False
    if field.unique:
        return True
    has_default = field.has_default() or field.db_default is not NOT_PROVIDED
    return not has_default and not (field.blank and field.empty_strings_allowed)


def _value(field: Any) -> Any:
    if field.is_relation:
        return make(field.related_model)
    if field.choices:
        return field.flatchoices[0][0]
    number = next(NUMBERS)
    made: dict[type[Any], Any] = {
        models.IntegerField: number,
        models.FloatField: 0.5,
        models.BooleanField: False,
        models.DateTimeField: timezone.now(),
        models.JSONField: {"number": number},
        models.BinaryField: b"bytes",
        models.UUIDField: uuid.uuid4(),
    }
    for kind, value in made.items():
        if isinstance(field, kind):
            return value
    return uuid.uuid4().hex[: field.max_length]


def _ours() -> list[type[models.Model]]:
    return [model for model in apps.get_models() if model._meta.app_label in OURS]


def _constraints(kind: type[Any]) -> list[Any]:
    return [
        pytest.param(model, constraint, id=constraint.name)
        for model in _ours()
        for constraint in model._meta.constraints
        if isinstance(constraint, kind)
    ]


def _unique_fields() -> list[Any]:
    return [
        pytest.param(model, field, id=f"{model._meta.label_lower}.{field.name}")
        for model in _ours()
        for field in model._meta.concrete_fields
        if field.unique and not field.primary_key
    ]


def _names(expression: Any) -> list[str]:
    if isinstance(expression, models.F):
        return [expression.name]
    return [name for inner in expression.get_source_expressions() for name in _names(inner)]


def _refused(model: type[models.Model], **given: Any) -> str:
    """Save a row that breaks something; return what the database says is broken."""
    with pytest.raises(IntegrityError) as refused, transaction.atomic():
        make(model, **given)
    if connection.vendor == "postgresql":
        return str(refused.value.__cause__.diag.constraint_name)  # type: ignore[union-attr]
    return str(refused.value)


def test_every_check_has_a_row_that_breaks_it():
    assert {param.id for param in _constraints(models.CheckConstraint)} == set(BREAKS)


@pytest.mark.django_db
@pytest.mark.parametrize("model", _ours(), ids=lambda model: model._meta.label_lower)
def test_valid_rows_are_taken(model):
    make(model)
    make(model)
    assert model._default_manager.count() >= 2


@pytest.mark.django_db
@pytest.mark.parametrize(("model", "constraint"), _constraints(models.CheckConstraint))
def test_a_check_refuses_what_breaks_it(model, constraint):
    for changes in BREAKS[constraint.name]:
        assert constraint.name in _refused(model, **changes), changes


@pytest.mark.django_db
@pytest.mark.parametrize(("model", "constraint"), _constraints(models.UniqueConstraint))
def test_a_unique_constraint_refuses_the_second_row(model, constraint):
    fields = [*constraint.fields, *(name for one in constraint.expressions for name in _names(one))]
    both = BOTH.get(constraint.name, {})
    nullable = [model._meta.get_field(name) for name in fields if model._meta.get_field(name).null]
    first = make(model, **{field.name: _value(field) for field in nullable} | both)
    said = _refused(model, **both | {name: getattr(first, name) for name in fields})
    columns = [f"{model._meta.db_table}.{model._meta.get_field(name).column}" for name in constraint.fields]
    assert constraint.name in said or said == f"UNIQUE constraint failed: {', '.join(columns)}"


@pytest.mark.django_db
@pytest.mark.parametrize(("model", "field"), _unique_fields())
def test_a_unique_field_refuses_the_second_row(model, field):
    first = make(model, **{field.name: _value(field)})
    assert field.column in _refused(model, **{field.name: getattr(first, field.name)})


@pytest.mark.django_db
def test_a_coding_is_never_changed():
    coding = make(Coding)
    for change in ({"outcome": "minus"}, {"code": -1}, {"sure": True}, {"reason": "It was wrong."}):
        with pytest.raises(IntegrityError, match="never changed"), transaction.atomic():
            Coding.objects.filter(pk=coding.pk).update(**change)
    coding.created_by = make(User)
    coding.save(update_fields=["created_by"])
