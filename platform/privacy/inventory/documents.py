"""The table in docs/operate/personal-data.md, written by `make docs`."""

from collections.abc import Iterator

from django.apps import apps

from privacy.inventory import PersonalTable, about_people


class InventoryDocument:
    """The inventory of personal data as a Markdown table."""

    @staticmethod
    def markdown(*, options: bool = False) -> str:  # noqa: ARG004 - `make docs` asks every table so
        lines = ["| table | about annotators | when somebody is erased |", "|---|---|---|"]
        for table in about_people():
            fields = ", ".join(f"`{name}`" for name in [*table.about.split(), *table.mentions.split()])
            lines.append(f"| {_name(table)} | {fields} | {' '.join(_effect(table))} |")
        return "\n".join(lines)


def _name(table: PersonalTable) -> str:
    return str(apps.get_model(table.model)._meta.verbose_name_plural)


def _effect(table: PersonalTable) -> Iterator[str]:
    yield f"{table.erasing.value.capitalize()}."
    if table.mentions:
        yield f"Names in {', '.join(f'`{name}`' for name in table.mentions.split())} are replaced."
    if table.reason:
        yield table.reason
