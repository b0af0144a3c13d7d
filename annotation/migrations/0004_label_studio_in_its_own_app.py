from django.db import migrations

# In this order, a table is never named by one that is still there.
MODELS = ("Version", "Event", "Task", "Annotation", "User", "Project", "Bridge", "Server")


class Migration(migrations.Migration):
    """Leave the tables of Label Studio to `annotation.label_studio`, whose first migration takes them as they are."""

    dependencies = [("annotation", "0003_campaigns_in_label_studio")]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[migrations.DeleteModel(f"LabelStudio{name}") for name in MODELS]
        )
    ]
