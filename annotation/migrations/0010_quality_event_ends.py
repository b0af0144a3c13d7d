from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0009_notices"),
    ]

    operations = [
        migrations.AddField(
            model_name="qualityevent",
            name="ended_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="qualityevent",
            name="ending",
            field=models.CharField(
                blank=True,
                choices=[
                    ("recovered", "the threshold is met again"),
                    ("resumed", "the lead let them go on"),
                    ("rule_gone", "the rule was removed"),
                ],
                default="",
                max_length=10,
            ),
        ),
        migrations.AddConstraint(
            model_name="qualityevent",
            constraint=models.UniqueConstraint(
                condition=models.Q(("ended_at", None)),
                fields=("enrolment", "measure", "action"),
                name="quality_event_stands_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="qualityevent",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("ended_at", None), ("ending", "")),
                    models.Q(
                        ("ended_at__isnull", False),
                        models.Q(("ending", ""), _negated=True),
                    ),
                    _connector="OR",
                ),
                name="quality_event_ends_for_a_reason",
            ),
        ),
    ]
