from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("analysis", "0006_report_format_8"),
    ]

    operations = [
        migrations.AlterField(
            model_name="report",
            name="format",
            field=models.PositiveSmallIntegerField(default=9),
        ),
    ]
