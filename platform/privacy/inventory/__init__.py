"""The inventory of personal data: what each table stores about annotators, and the effect of erasure on it.

A test compares the inventory with the models and fails for undeclared tables and fields. Erasure, the download of
annotators' own data and the table in docs/operate/personal-data.md use it.
"""

from functools import cache
from itertools import chain
from typing import Any

from annotation import integrations
from privacy.inventory.campaigns import CAMPAIGNS
from privacy.inventory.jobs import JOBS
from privacy.inventory.panels import PANELS
from privacy.inventory.people import PEOPLE
from privacy.inventory.studies import STUDIES
from studies.personal_data import Erasing, PersonalTable


@cache
def tables() -> tuple[PersonalTable, ...]:
    """Return the declarations of all tables, including those of external tools."""
    of_tools = chain.from_iterable(tool.personal_tables() for tool in integrations.registered())
    return (*PEOPLE, *CAMPAIGNS, *PANELS, *JOBS, *STUDIES, *of_tools)


def blank(model: str) -> dict[str, Any]:
    """Return the values to which erasure sets fields of a table's remaining rows."""
    return next(dict(table.blank) for table in tables() if table.model == model)


def about_people() -> tuple[PersonalTable, ...]:
    """Return the tables that store data about annotators."""
    return tuple(table for table in tables() if table.erasing is not Erasing.NOTHING)


__all__ = ["Erasing", "PersonalTable", "about_people", "blank", "tables"]
