"""Whether the annotator ids of an imported campaign identify people, by the rule of metrics.md in SQL.

`analysis.metrics.data.annotator_ids` has the same rule for tables; tests check that both give the same result.
"""

from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections

from annotation.answers.inclusion import counted
from annotation.kinds.registry import kind_of
from annotation.models import Campaign

MOST_REPEATED = 0.05  # share of judgements about a unit that the same id had judged before
MOST_ON_A_SINGLE_IMAGE = 0.5  # share of ids

_IMAGES_EACH = """
    SELECT COUNT(*), SUM(CASE WHEN i.images = 1 THEN 1 ELSE 0 END)
    FROM (SELECT COUNT(DISTINCT t.image_id) AS images
          FROM ({everybody}) m JOIN annotation_task t ON t.id = m.task_id
          GROUP BY m.annotator_id) i
"""
_JUDGED = """
    SELECT SUM(d.judged), SUM(d.judged - 1)
    FROM (SELECT COUNT(*) AS judged FROM ({everybody}) m
          JOIN annotation_task t ON t.id = m.task_id
          JOIN annotation_judgement j ON j.annotation_id = m.id
          GROUP BY m.annotator_id, t.image_id, j.attribute_id) d
"""


def ids_usable(campaign: Campaign, *, using: str = DEFAULT_DB_ALIAS) -> bool:
    """Return whether each id belongs to one person; always true for campaigns that were labelled here."""
    if not campaign.imported:
        return True
    if not kind_of(campaign).rates_attributes:
        people, on_one_image = _row(_IMAGES_EACH, campaign, using)
        images = campaign.tasks.using(using).order_by().values("image").distinct().count()
        if images > 1 and (on_one_image or 0) > MOST_ON_A_SINGLE_IMAGE * people:
            return False
    judged, repeated = _row(_JUDGED, campaign, using)
    return float(repeated or 0) <= MOST_REPEATED * float(judged or 0)


def _row(query: str, campaign: Campaign, using: str) -> tuple[Any, ...]:
    everybody = counted(campaign).order_by().values("id", "annotator_id", "task_id")
    sql, values = everybody.query.sql_with_params()
    with connections[using].cursor() as cursor:
        cursor.execute(query.format(everybody=sql), values)
        return tuple(cursor.fetchone())
