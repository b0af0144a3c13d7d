"""What every table stores about annotators, and what happens to it when somebody is erased.

A test compares this with the models: a new table or field fails until it is declared here. Erasing, the download of
one's own data and the table in docs/operate/personal-data.md are made from it.
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
    """Return the declarations of all tables, those of outside tools included."""
    of_tools = chain.from_iterable(tool.personal_tables() for tool in integrations.registered())
    return (*PEOPLE, *CAMPAIGNS, *PANELS, *JOBS, *STUDIES, *of_tools)


def blank(model: str) -> dict[str, Any]:
    """Return what the fields of a table's rows that stay are set to."""
    return next(dict(table.blank) for table in tables() if table.model == model)


def about_people() -> tuple[PersonalTable, ...]:
    """Return the tables that store anything about annotators."""
    return tuple(table for table in tables() if table.erasing is not Erasing.NOTHING)


__all__ = ["Erasing", "PersonalTable", "about_people", "blank", "tables"]
