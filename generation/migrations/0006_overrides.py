from importlib import import_module

from django.db import migrations, models
from django.db.models import Q

appended = import_module("generation.migrations.0003_codings_are_appended")


def create_trigger(apps, editor):
    """SQLite drops the trigger with the table that Django makes anew for a constraint."""
    if editor.connection.vendor == "sqlite":
        editor.execute("DROP TRIGGER IF EXISTS coding_never_changed")
        editor.execute(appended.SQLITE)


class Migration(migrations.Migration):

    dependencies = [("generation", "0005_scenarios_from_provenance")]

    operations = [
        migrations.RunPython(migrations.RunPython.noop, create_trigger),
        migrations.AlterField(
            model_name="coding",
            name="coder",
            field=models.CharField(
                choices=[
                    ("rules", "rules"),
                    ("model", "model"),
                    ("person", "person"),
                    ("override", "override"),
                ],
                max_length=10,
            ),
        ),
        migrations.RemoveConstraint(model_name="coding", name="coding_of_a_person_has_source"),
        migrations.AddConstraint(
            model_name="coding",
            constraint=models.CheckConstraint(
                condition=Q(coder__in=["person", "override"]) & ~Q(source="")
                | Q(coder__in=["rules", "model"], source=""),
                name="coding_of_a_person_has_source",
            ),
        ),
        migrations.AddConstraint(
            model_name="coding",
            constraint=models.CheckConstraint(
                condition=~Q(coder="override") | Q(code__isnull=False) & ~Q(reason=""),
                name="coding_override_has_reason",
            ),
        ),
        migrations.RunPython(create_trigger, migrations.RunPython.noop),
    ]
