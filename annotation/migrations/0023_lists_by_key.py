import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """Lists are read by key: an index by campaign and id takes the place of the one by campaign alone."""

    dependencies = [("annotation", "0022_snapshots")]

    operations = [
        migrations.AddIndex(
            model_name="annotation",
            index=models.Index(fields=["campaign", "id"], name="annotation_campaign_recent"),
        ),
        migrations.AddIndex(
            model_name="task",
            index=models.Index(fields=["campaign", "id"], name="task_campaign_in_order"),
        ),
        migrations.AlterField(
            model_name="annotation",
            name="campaign",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="annotations",
                to="annotation.campaign",
            ),
        ),
        migrations.AlterField(
            model_name="task",
            name="campaign",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="tasks",
                to="annotation.campaign",
            ),
        ),
    ]
