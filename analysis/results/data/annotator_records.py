"""Data about annotators besides their labels: answers to checks, and the details that they chose to give.

Profiles are the most sensitive data here. They are read only here, for annotators whose labels count, and are passed on
only as memberships in groups of people (`analysis.results.tables.groupings`), never by annotator.
"""

from collections.abc import Collection, Sequence

import numpy as np
import pandas as pd

from accounts.models import AnnotatorProfile
from accounts.profile_codes import codes
from annotation.assignment import gold_and_repeats
from annotation.assignment.campaign_quotas import own_values
from annotation.assignment.quotas import normalise, profile_of
from annotation.models import Annotation, Campaign
from annotation.quality.flags import flags_of
from studies.models import Study

_AT_ONCE = 500  # keys in one query


def profiles(
    campaigns: Sequence[Campaign], annotators: pd.DataFrame, counted: Collection[int]
) -> pd.DataFrame:
    """Annotators' details about themselves: annotator, field, value; one row per value with a code, by its name.

    `annotators` (id, key) names them; `counted` are the ids of annotators whose labels count. Nothing is read about
    others.
    """
    keys = dict(zip(annotators["id"], annotators["key"], strict=True))
    worked = Annotation.objects.filter(campaign__in=campaigns).values("annotator")
    described = AnnotatorProfile.objects.filter(annotator__in=worked).values_list("annotator", flat=True)
    annotator_ids = sorted(set(described) & set(map(int, counted)))
    rows: list[tuple[str, str, str]] = []
    for begin in range(0, len(annotator_ids), _AT_ONCE):
        batch = AnnotatorProfile.objects.filter(annotator__in=annotator_ids[begin : begin + _AT_ONCE])
        for values in batch.order_by("annotator").values("annotator", *AnnotatorProfile.FIELDS):
            key = keys[values.pop("annotator")]
            for field, stated_codes in profile_of(values).items():
                rows += [(key, field, name) for name in _names(field, stated_codes)]
    return pd.DataFrame(rows, columns=["annotator", "field", "value"], dtype=object)


def depicted(study: Study) -> pd.DataFrame:
    """The details that annotators of each identity group would give: identity_group, nationality, region.

    A group has a row for every possible name of its nationality (its own, its country's), as in quota rules.
    """
    rows: list[tuple[str, str | None, str | None]] = []
    for group in study.groups.order_by("name"):
        codes_of_group = own_values(group)
        region = next(iter(_names("region_of_origin", codes_of_group["region"])), None)
        rows += [(group.name, name, region) for name in _names("nationality", codes_of_group["nationality"])]
    return pd.DataFrame(rows, columns=["identity_group", "nationality", "region"], dtype=object)


def _names(field: str, stated_codes: Collection[str]) -> list[str]:
    """Return the English names of codes in lower case, as used in results."""
    labels = (codes.label(field, code, language="en") for code in stated_codes if code != codes.UNCODED)
    return sorted(map(normalise, labels))


def gold_answers(campaigns: Sequence[Campaign], annotators: pd.DataFrame) -> pd.DataFrame:
    """Answers to gold tasks: kind of campaign, annotator, whether they are right."""
    rows = [
        (str(campaign.kind), answer.annotator_id, answer.correct)
        for campaign in campaigns
        for answer in gold_and_repeats.gold_answers(campaign)
    ]
    return _keyed(rows, ["kind", "annotator", "correct"], annotators)


def repeats(campaigns: Sequence[Campaign], annotators: pd.DataFrame) -> pd.DataFrame:
    """Repeated answers: kind of campaign, annotator, the first answer and the later one."""
    rows = [
        (str(campaign.kind), pair.annotator_id, int(pair.first), int(pair.second))
        for campaign in campaigns
        for pair in gold_and_repeats.repeat_pairs(campaign)
    ]
    return _keyed(rows, ["kind", "annotator", "first", "again"], annotators)


def flags(campaigns: Sequence[Campaign], annotators: pd.DataFrame) -> pd.DataFrame:
    """Annotators who miss a quality rule, one row per person: annotator, the measures in one text, and the reason."""
    measures: dict[int, list[str]] = {}
    reasons: dict[int, list[str]] = {}
    for campaign in campaigns:
        for person, missed_rules in flags_of(campaign).items():
            measures.setdefault(person, []).extend(flag.measure for flag in missed_rules)
            reasons.setdefault(person, []).extend(flag.words for flag in missed_rules)
    rows = [
        (person, " ".join(dict.fromkeys(names)), "; ".join(dict.fromkeys(reasons[person])))
        for person, names in measures.items()
    ]
    return _keyed(rows, ["annotator", "flags", "reasons"], annotators)


def _keyed(rows: Sequence[tuple[object, ...]], columns: list[str], annotators: pd.DataFrame) -> pd.DataFrame:
    """The rows of known annotators, with their keys instead of ids."""
    frame = pd.DataFrame(rows, columns=columns)
    keys = pd.Series(annotators["key"].to_numpy(dtype=object), index=annotators["id"].to_numpy(np.int64))
    frame["annotator"] = keys.reindex(frame["annotator"].astype(np.int64)).to_numpy(dtype=object)
    return frame[frame["annotator"].notna()].reset_index(drop=True)
