"""What a lead can do about a problem with Label Studio: one text for each code."""

from collections.abc import Mapping

_AGAIN = (
    "Existing labels stay. Stereoscope tries again automatically. If the problem persists, ask the person who runs "
    "Label Studio."
)
_ADVICE: Mapping[str, str] = {
    "unreachable": _AGAIN,
    "timeout": _AGAIN,
    "busy": _AGAIN,
    "server_error": _AGAIN,
    "garbage": "Check the address, and whether another program answers at the address.",
    "wrong_url": "Disconnect this address and connect the right one.",
    "token_wrong": "Enter another token under “Change the token” on this Label Studio’s page. Existing labels stay.",
    "legacy_tokens_off": "Enter a personal access token under “Change the token” on this Label Studio’s page, "
    "or switch legacy tokens on and check again.",
    "too_old": "Ask the person who runs Label Studio for a newer version; then check again.",
    "forbidden": "Use the token of a person who may change projects in Label Studio.",
    "gone": "Push again. Anything missing in Label Studio is created again. Existing labels stay in Stereoscope.",
    "refused": "Push again. If Label Studio refuses again, send the sentence above to the person who runs "
    "Label Studio.",
    "address_refused": "Ask the operator of this server to allow the address.",
    "sdk_missing": "Ask the operator of this server to install Label Studio’s client.",
    "sealed_unreadable": "Enter the token again under “Change the token” on this Label Studio’s page.",
    "tasks_unreadable": "Delete these tasks in Label Studio by their numbers and push again, or ask the "
    "person who runs Label Studio.",
    "tasks_changed": "Restore the data in Label Studio, or delete these tasks from Label Studio and push again.",
}


def what_to_do(code: str) -> str:
    """Return the advice for a problem with this code; "" if there is no problem or no advice."""
    return _ADVICE.get(code, "")
