"""How the headline and the ranking of groups change with the choices made."""

from collections.abc import Iterator

import pandas as pd

from analysis.annotator_groupings import Grouping
from analysis.loading import StudyData
from analysis.metrics.compare_annotator_groups import TOO_FEW_ANNOTATORS
from analysis.metrics.judgements import Judgements
from analysis.metrics.sensitivity import ANNOTATOR_GROUP, BASELINE, Sensitivity, sensitivity
from analysis.parameters import Parameters


def scenarios(
    data: StudyData,
    parameters: Parameters,
    judgements: Judgements,
    annotators: pd.DataFrame,
    found: list[Grouping],
) -> Sensitivity:
    """The scenarios a study's labels allow; `annotators` is the table that says who is flagged."""
    asked = bool(judgements.cell_is_none.any())
    flagged = annotators.loc[annotators["flags"].notna(), "annotator"]
    keys = data.annotators.set_index("pseudonym")["key"]
    members = [one.memberships for one in found if len(one.memberships)]
    return sensitivity(
        judgements,
        data.associations,
        none_of_the_above=parameters.none_of_the_above if asked else "ignore",
        min_stereotypes=parameters.min_stereotypes,
        flagged=list(keys.reindex(flagged)),
        annotator_groups=pd.concat(members, ignore_index=True) if members else None,
    )


def with_folded(table: pd.DataFrame, found: list[Grouping]) -> pd.DataFrame:
    """The table of scenarios, and for each field with groups too small to show that there are some."""
    return pd.concat([table, *_folded(table, found)], ignore_index=True)


def _folded(table: pd.DataFrame, found: list[Grouping]) -> Iterator[pd.DataFrame]:
    kept = ["model", "statistic", "baseline"]
    base = table.loc[table["scenario"] == BASELINE, kept]
    for one in found:
        if one.folded:
            yield base.assign(
                scenario=ANNOTATOR_GROUP, scenario_value=one.field, reason=TOO_FEW_ANNOTATORS
            ).reindex(columns=table.columns)
