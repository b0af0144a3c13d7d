"""Rows of an earlier release, without building it."""

from dataclasses import asdict

import numpy as np

from accounts.models import User
from analysis.models import Release
from analysis.releases.key_sets import pack
from analysis.releases.parameters import ReleaseParameters
from studies.models import Study
from tests.analysis.releases.documents.example_release import CHANGED


def past_release(study: Study, by: User, *, version: int = 2) -> Release:
    """Store the second release of a study, with changes since the first and without files."""
    return Release.objects.create(
        study=study,
        version=version,
        parameters=ReleaseParameters(licence="CC-BY-4.0").as_json(),
        inputs_digest="ab" * 32,
        key=b"key",
        facts={
            "format": 1,
            "rows": {"judgements": 6, "ratings": 1, "annotators": 2},
            "annotations": {},
            "guidelines": {},
            "last_day": "2026-03-01",
            "changes": asdict(CHANGED),
        },
        annotations=b"",
        annotators=pack(np.zeros(1, dtype=bool)),
        images=b"",
        built_by=by,
    )
