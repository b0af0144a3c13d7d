"""Seeds of images; a request gets the same seed wherever and whenever it is planned."""

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
    """Return a 63-bit seed derived from the study's seed and the identity of the request.

    The model is not part of the identity, so two models start the same image from the same noise.
    """
    # `phrase` (attribute set and name) was added later: prompts without a phrase keep their seeds.
    identity = "\x1f".join((str(study_seed), template, condition, group, attribute, *phrase, str(index)))
    return int.from_bytes(hashlib.sha256(identity.encode()).digest()[:8], "big") >> 1
