"""The pairs that a study's resource lists, as rows of a release and as the roles that judgements have."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.releases.tables.lookups import ImageTable
from studies.models import Study
from studies.protocol import attribute_roles

_COUNTS = [
    f"{where}_{answer}" for where in ("in_region", "out_region") for answer in ("stereotype", "not", "unsure")
]
_NUMBERS = ["rating_1", "rating_2", "rating_3"]


def rows(study: Study) -> dict[str, list[Any]]:
    """Return columns of `associations`, by group and attribute."""
    stereotypes = set(_stereotypes(study).values_list("pk", flat=True))
    listed = study.associations.order_by().values_list(
        "group__name", "attribute__text", "pk", *_COUNTS, *_NUMBERS, "offensiveness_stored"
    )
    # Sorted here, because databases sort text by different rules.
    pairs = sorted(listed, key=lambda row: (row[0], row[1]))
    columns: dict[str, list[Any]] = {
        "identity_group": [row[0] for row in pairs],
        "attribute": [row[1] for row in pairs],
        "role": [
            attribute_roles.STEREOTYPE if row[2] in stereotypes else attribute_roles.RANDOM for row in pairs
        ],
    }
    for index, name in enumerate([*_COUNTS, *_NUMBERS, "offensiveness"], start=3):
        columns[name] = [row[index] for row in pairs]
    return columns


def stereotype_pairs(study: Study, images: ImageTable, highest: int) -> NDArray[np.int64]:
    """Return every stereotype as one number, group code × highest + attribute key, sorted."""
    codes = {name: code for code, name in enumerate(images.groups.to_pylist())}
    pairs = _stereotypes(study).values_list("group__name", "attribute")
    numbers = [codes[group] * highest + attribute for group, attribute in pairs if group in codes]
    return np.sort(np.array(numbers, dtype=np.int64))


def _stereotypes(study: Study) -> Any:
    return attribute_roles.stereotypes_of(study, study.associations.all())
