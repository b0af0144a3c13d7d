"""Seeds of images, derived so that a request has the same one wherever and whenever it is planned."""

import hashlib


def image_seed(
    *,
    study_seed: int,
    template: str,
    condition: str,
    index: int,
    group: str = "",
    attribute: str = "",
    phrase: tuple[str, ...] = (),
) -> int:
    """Return 63 bits from the study's seed and what identifies the request.

    The model is not part of it: two models asked for the same image start from the same noise.
    """
    # `phrase` (its attribute set and name) came later: prompts without one keep the seeds they had.
    identity = "\x1f".join((str(study_seed), template, condition, group, attribute, *phrase, str(index)))
    return int.from_bytes(hashlib.sha256(identity.encode()).digest()[:8], "big") >> 1
