"""Hand-written schemas of the calls of Prolific's API in use: any other call is answered with 400."""

from typing import Any

import jsonschema

_ID = {"type": "string", "minLength": 1, "maxLength": 100}
_AMOUNT = {"type": "integer", "minimum": 1}
_FILTERS = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "filter_id": _ID,
            "selected_values": {"type": "array", "items": {"type": "string"}},
            "selected_range": {"type": "object"},
        },
        "required": ["filter_id"],
        "additionalProperties": False,
    },
}


def _closed(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


_ACTION = _closed(
    ["action"],
    action={
        "enum": ["AUTOMATICALLY_APPROVE", "MANUALLY_REVIEW", "REQUEST_RETURN", "FIXED_SCREEN_OUT_PAYMENT"]
    },
    fixed_screen_out_reward=_AMOUNT,
    slots=_AMOUNT,
    return_reason={"type": "string"},
)
_CODE = _closed(
    ["code", "code_type", "actions"],
    code={"type": "string", "minLength": 1, "maxLength": 128},
    code_type={
        "enum": ["COMPLETED", "FAILED_ATTENTION_CHECK", "NO_CONSENT", "FIXED_SCREENOUT", "OTHER"],
    },
    actor={"enum": ["participant", "researcher"]},
    actions={"type": "array", "items": _ACTION, "minItems": 1},
)

BODIES: dict[str, dict[str, Any]] = {
    "create_study": _closed(
        [
            "name",
            "description",
            "external_study_url",
            "prolific_id_option",
            "completion_codes",
            "total_available_places",
            "estimated_completion_time",
            "reward",
        ],
        name={"type": "string", "minLength": 1, "maxLength": 120},
        internal_name={"type": "string", "maxLength": 200},
        description={"type": "string", "minLength": 1, "maxLength": 10_000},
        external_study_url={"type": "string", "pattern": "^https?://", "maxLength": 1500},
        is_external_study_url_secure={"type": "boolean"},
        prolific_id_option={"enum": ["question", "url_parameters", "not_required"]},
        completion_codes={"type": "array", "items": _CODE, "minItems": 1, "maxItems": 10},
        total_available_places=_AMOUNT,
        estimated_completion_time=_AMOUNT,
        maximum_allowed_time=_AMOUNT,
        reward=_AMOUNT,
        device_compatibility={"type": "array", "items": {"enum": ["desktop", "tablet", "mobile"]}},
        study_labels={"type": "array", "items": {"enum": ["survey", "annotation", "ai_annotation", "other"]}},
        content_warnings={"type": "array", "items": {"enum": ["sensitive", "explicit"]}},
        content_warning_details={"type": "string", "maxLength": 2000},
        submissions_config=_closed([], max_submissions_per_participant={"const": 1}),
        filters=_FILTERS,
        metadata={"type": "object"},
        project=_ID,
    ),
    "transition_study": _closed(["action"], action={"enum": ["PUBLISH", "PAUSE", "START", "STOP"]}),
    "approve": _closed(
        ["submission_ids"],
        submission_ids={"type": "array", "items": _ID, "minItems": 1, "maxItems": 1000},
    ),
    "transition_submission": {
        "oneOf": [
            _closed(["action"], action={"const": "APPROVE"}),
            _closed(
                ["action", "message", "rejection_category"],
                action={"const": "REJECT"},
                message={"type": "string", "minLength": 100},
                rejection_category={
                    "enum": [
                        *("TOO_QUICKLY", "TOO_SLOWLY", "FAILED_INSTRUCTIONS", "INCOMP_LONGITUDINAL"),
                        *("FAILED_CHECK", "LOW_EFFORT", "MALINGERING", "NO_CODE", "BAD_CODE", "NO_DATA"),
                        *("UNSUPP_DEVICE", "OTHER"),
                    ]
                },
            ),
            _closed(
                ["action", "completion_code"],
                action={"const": "COMPLETE"},
                completion_code={"type": "string"},
            ),
        ]
    },
    "create_bonuses": _closed(
        ["study_id", "csv_bonuses"], study_id=_ID, csv_bonuses={"type": "string", "minLength": 3}
    ),
    "pay_bonuses": _closed([]),
    "cost": _closed(["reward", "total_available_places"], reward=_AMOUNT, total_available_places=_AMOUNT),
    "eligible": _closed(["workspace_id", "filters"], workspace_id=_ID, filters=_FILTERS),
    "recruitment_time": _closed(
        [
            *("workspace_id", "filters", "reward", "study_type", "total_available_places"),
            "estimated_completion_time",
        ],
        workspace_id=_ID,
        filters=_FILTERS,
        reward=_AMOUNT,
        study_type={"enum": ["SINGLE", "QUOTA"]},
        total_available_places=_AMOUNT,
        estimated_completion_time=_AMOUNT,
    ),
    "create_secret": _closed(["workspace_id"], workspace_id=_ID),
    "subscribe": _closed(
        ["workspace_id", "event_type", "target_url"],
        workspace_id=_ID,
        event_type={
            "enum": ["submission.status.change", "study.status.change", "study.progress.change"],
        },
        # Prolific accepts only https; tests listen on this machine.
        target_url={"type": "string", "pattern": "^(https://|http://127\\.0\\.0\\.1[:/])"},
    ),
    "confirm": _closed(["secret"], secret={"type": "string", "minLength": 1}),
}


def problem_of(call: str, body: Any) -> str:
    """Return the problem of a call's body; "" if there is none."""
    if call not in BODIES:
        return "" if body is None else "this call takes no body"
    problems = sorted(jsonschema.Draft202012Validator(BODIES[call]).iter_errors(body), key=str)
    return problems[0].message[:300] if problems else ""
