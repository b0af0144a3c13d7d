"""The contents of a built release: the facts from which its documents are written.

`assembly/build.py` fills a `Contents` and passes it, with the folder that already contains data, COCO and image files,
to `documents.write_documents(contents=…, folder=…)`. It depends only on the database and the parameters, and contains
no build time, machine name, database key or person's name.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import PurePosixPath
from typing import Any

from analysis.releases.parameters import ReleaseParameters

FOLDERS = {"parquet": "data", "csv": "csv", "jsonl": "jsonl"}


@dataclass(frozen=True)
class Column:
    """One column of a table. `type`: string, boolean, integer, number or date."""

    name: str
    type: str
    description: str
    nullable: bool = False
    # The meaning of codes, if a column has a fixed set of values.
    values: Mapping[str, str] | None = None
    # Whether every character can be restored from CSV: see `foundation.tables.formulas`.
    exact: bool = False


@dataclass(frozen=True)
class ReleaseTable:
    """One table, and the path of its file in each chosen format (POSIX, relative to the release's root)."""

    name: str
    description: str
    columns: tuple[Column, ...]
    rows: int
    files: Mapping[str, str]


@dataclass(frozen=True)
class ReleasedFile:
    """A file of the release, as checksums and croissant.json name it."""

    path: PurePosixPath
    sha256: str
    bytes: int


@dataclass(frozen=True)
class Guidelines:
    """One version of what annotators read, and the number of counted annotations given under it."""

    version: int
    guidelines: str
    statement: str
    labels: Mapping[str, str]
    since: date
    annotations: int


@dataclass(frozen=True)
class QualityCheck:
    """A threshold of the campaign: annotators who miss it are warned or paused."""

    measure: str
    threshold: float
    minimum: int
    action: str


@dataclass(frozen=True)
class CampaignFacts:
    """One campaign, and its counts. Days are null if nothing counts."""

    slug: str
    name: str
    kind: str  # the key of its `annotation.kinds.declaration.Kind`
    imported: bool
    ids_are_people: bool  # False where an imported id is a screen, or several people share it
    annotators_per_task: int
    attributes_per_screen: int
    boxes_required: bool
    annotations: int
    judgements: int
    ratings: int
    annotators: int
    first_day: date | None
    last_day: date | None
    # Annotations that do not count, by reason (annotation.answers.inclusion.Reason; only reasons that occur).
    not_counted: Mapping[str, int]
    guidelines: tuple[Guidelines, ...]  # newest first; empty for imported labels
    quality_checks: tuple[QualityCheck, ...]
    # Profile fields with quotas. Their values would reveal what somebody stated, for any k.
    quota_fields: tuple[str, ...]
    # Options as annotation.kinds.options.Options names them: pay, pay_amount, gold_share, practice_attempts …
    options: Mapping[str, Any]


@dataclass(frozen=True)
class QuestionCampaignFacts(CampaignFacts):
    """A campaign of declared questions; it has neither judgements of attributes nor ratings of them.

    A separate class, because fields added to `CampaignFacts` would change the digest of releases without such
    campaigns.
    """

    answers: int
    texts: int  # answers in annotators' own words that count, released or not
    declaration: Mapping[str, Any]  # the kind at the time when the campaign was made, as JSON


@dataclass(frozen=True)
class ProbeRunFacts:
    """One model that was asked the questions of a probe set, and how its answers ended. Days are null without any."""

    model: str
    probe_set: str  # as its file in probe_sets/ is called
    backend: str
    done: int
    declined: int
    failed: int
    first_day: date | None
    last_day: date | None


@dataclass(frozen=True)
class StudyFacts:
    """The study, its resource and the consent text."""

    name: str
    slug: str
    description: str
    protocol: str  # machine name
    protocol_name: str
    simulated: bool
    min_raters: int
    rater_pools: str  # separate or summed rater pools
    groups: int
    regions: tuple[str, ...]
    resource: str | None
    resource_citation: str
    resource_licence: str
    invented: bool  # the resource lists peoples that do not exist
    consent_version: str  # "default v1"
    consent: str
    content_notice: str
    support: str


@dataclass(frozen=True)
class ImageFacts:
    """The number of images, the number with a file here, and the reasons why others have none."""

    images: int
    files: int
    without_file: Mapping[str, int]
    models: tuple[str, ...]
    retracted: int  # images of the study that are left out because they were retracted


@dataclass(frozen=True)
class CocoFacts:
    """The contents of coco/boxes.json; boxes on images of unknown size have no pixel coordinates and are left out."""

    annotations: int
    images: int
    categories: int
    left_out: int
    without_file: int = 0  # images whose file is not in the release


@dataclass(frozen=True)
class FieldPrivacy:
    """How one profile field is released."""

    field: str
    kept: str  # as_stated, region, wider_bands or withheld
    stated: int  # people who stated it
    released: int  # people for whom a value is released
    why: str  # one sentence


@dataclass(frozen=True)
class JoinedPrivacy:
    """The table that readers get by joining this release with those before it, person by person."""

    releases: tuple[int, ...]  # versions
    people: int  # people of this release who are in one of these
    smallest: int | None  # people of this release who share the rarest combination over all releases


@dataclass(frozen=True)
class PrivacyReport:
    """How profiles were coarsened. `smallest` is the number of people in the smallest combination released."""

    k: int
    people: int  # annotators who stated anything of themselves
    without_profile: int
    fields: tuple[FieldPrivacy, ...]
    combinations: int  # number of different released combinations, including origin, without the empty one
    smallest: int | None
    suppressed: int  # people who gave details, none of which is released
    kept_share: float | None  # information kept, 0 to 1, by the measure of docs/use/reference/releases.md
    justifications: str  # withheld, released or none_written
    joined: JoinedPrivacy | None = None  # None if there is no earlier release
    left_out: int = 0  # people who are left out of the release because nothing else would protect them

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "fields": [asdict(field) for field in self.fields]}


@dataclass(frozen=True)
class Changes:
    """Changes since the previous release. All zero, None or empty in the first release."""

    previous: int | None
    annotators_new: int
    annotators_gone: Mapping[str, int]  # by reason: withdrawn, annotator_excluded, simulated, deleted, other
    annotations_added: int
    annotations_removed: Mapping[
        str, int
    ]  # by the reason why they no longer count; deleted if they no longer exist
    images_added: int
    images_removed: Mapping[str, int]  # retracted or deleted
    parameters: Mapping[str, tuple[Any, Any]]  # name: (then, now)
    guidelines_new: Mapping[str, tuple[int, ...]]  # campaign: versions that are new
    campaigns_new: tuple[str, ...]
    rows: Mapping[str, tuple[int, int]]  # table: (then, now)
    annotators_erased: int = 0  # whatever became of their answers


@dataclass(frozen=True)
class PastRelease:
    """An earlier release of the same study, for the changelog; newest first in `Contents.history`."""

    version: int
    last_day: date | None
    inputs_digest: str
    rows: Mapping[str, int]
    changes: Changes


@dataclass(frozen=True)
class Absence:
    """Something that a reader may look for in vain, and the reason."""

    what: str
    why: str


@dataclass(frozen=True)
class Contents:
    """Everything that the documents of a release are written from."""

    version: int
    study: StudyFacts
    parameters: ReleaseParameters
    inputs_digest: str
    # The day of the last counted label, in place of a clock: the same labels give the same bytes.
    last_day: date | None
    first_day: date | None
    campaigns: tuple[CampaignFacts, ...]
    tables: tuple[ReleaseTable, ...]
    images: ImageFacts
    coco: CocoFacts | None
    privacy: PrivacyReport
    changes: Changes
    history: tuple[PastRelease, ...]
    missing: tuple[Absence, ...]
    # Contents of the folder when documents are written: data, csv, jsonl, coco, images.
    files: tuple[ReleasedFile, ...]
    # Models that were asked questions.
    probes: tuple[ProbeRunFacts, ...] = ()

    @property
    def ids_are_people(self) -> bool:
        """Whether every annotator id belongs to one person, in every campaign."""
        return all(campaign.ids_are_people for campaign in self.campaigns)

    @property
    def question_campaigns(self) -> tuple[QuestionCampaignFacts, ...]:
        """The campaigns that ask declared questions."""
        return tuple(c for c in self.campaigns if isinstance(c, QuestionCampaignFacts))

    @property
    def about_attributes(self) -> bool:
        """Whether campaigns ask about attributes; so too of a study that has no campaign yet."""
        return not self.campaigns or len(self.question_campaigns) < len(self.campaigns)

    def table(self, name: str) -> ReleaseTable:
        """The table of that name."""
        return next(table for table in self.tables if table.name == name)
