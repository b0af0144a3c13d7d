from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("analysis", "0006_scores"),
    ]

    operations = [
        migrations.AddField(
            model_name="report",
            name="last_score",
            field=models.CharField(blank=True, max_length=80),
        ),
        migrations.AlterField(
            model_name="report",
            name="format",
            field=models.PositiveSmallIntegerField(default=4),
        ),
    ]
