"""The tones in which states are shown."""

TONES: dict[str, tuple[str, ...]] = {
    "quiet": (
        "draft",
        "planned",
        "waiting",
        "queued",
        "pending",
        "closed",
        "archived",
        "skipped",
        "expired",
        "blank",
        "cancelled",
        "superseded",
    ),
    "active": ("open", "running", "generating", "leased", "annotating", "current", "active"),
    "good": (
        "done",
        "finished",
        "succeeded",
        "complete",
        "completed",
        "accepted",
        "released",
        "ready",
        "full",
    ),
    "warn": ("paused", "stuck", "surplus", "flagged", "retrying", "draining", "interrupted"),
    "bad": ("failed", "refused", "rejected", "excluded", "revoked", "withdrawn", "lost", "retracted"),
}

_TONE_OF_STATE = {state: tone for tone, states in TONES.items() for state in states}


def tone_of(state: str) -> str:
    """Return the tone of a state, `quiet` for unknown states."""
    return _TONE_OF_STATE.get(state.lower(), "quiet")
