"""What a lead may choose of a release, validated once."""

from collections.abc import Iterable
from typing import Any

from analysis.releases.contents import FORMATS, LABEL_STUDIO, TABLE_FORMATS, ReleaseParameters
from analysis.releases.documents import licences
from foundation.errors import DomainError

K = 5
LEAST_K, MOST_K = 2, 1_000
# A licence is the owner's to choose: until then nobody has been allowed anything.
LICENCE = licences.DEFAULT


def parameters_of(
    *,
    k: int = K,
    formats: Iterable[str] = FORMATS,
    licence: str = LICENCE,
    include_justifications: bool = False,
    leave_out_people: bool = False,
    with_images: bool = True,
) -> ReleaseParameters:
    """Return checked parameters; raise DomainError naming what is wrong."""
    chosen = {*formats} - (set() if with_images else {"images"})
    unknown = sorted(chosen - set(FORMATS))
    if unknown:
        raise _invalid("format", f"There is no format “{unknown[0]}”; choose from {', '.join(FORMATS)}.")
    if LABEL_STUDIO in chosen:
        chosen.add("parquet")  # what it is made from
    if not chosen & set(TABLE_FORMATS):
        raise _invalid("format", f"A release needs its tables in one of {', '.join(TABLE_FORMATS)}.")
    if not LEAST_K <= k <= MOST_K:
        raise _invalid("k", f"k must be a whole number from {LEAST_K} to {MOST_K:,}, not {k:,}.")
    licence = " ".join(licence.split())
    if not licence or len(licence) > 200:
        raise _invalid("licence", "Name a licence of 1 to 200 characters, such as CC-BY-4.0.")
    ordered = tuple(one for one in FORMATS if one in chosen)
    return ReleaseParameters(
        k=k,
        formats=ordered,
        licence=licence,
        include_justifications=include_justifications,
        leave_out_people=leave_out_people,
    )


def restored(stored: dict[str, Any]) -> ReleaseParameters:
    """Return parameters as a job or a release stored them."""
    return parameters_of(**stored)


def _invalid(field: str, message: str) -> DomainError:
    return DomainError("invalid_parameter", message, fields={field: message})
