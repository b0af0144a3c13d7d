import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [("generation", "0009_answers_of_runs")]

    operations = [
        migrations.CreateModel(
            name="AnswerCount",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "outcome",
                    models.CharField(
                        choices=[
                            ("pending", "pending"),
                            ("done", "done"),
                            ("declined", "declined"),
                            ("failed", "failed"),
                        ],
                        max_length=10,
                    ),
                ),
                ("served_model", models.CharField(blank=True, max_length=200)),
                ("fingerprint", models.CharField(blank=True, max_length=200)),
                ("number", models.BigIntegerField()),
                ("cost_e8", models.BigIntegerField()),
                ("since", models.DateTimeField(blank=True, null=True)),
                (
                    "run",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="counts",
                        to="generation.proberun",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("run", "outcome", "served_model", "fingerprint"), name="answer_count_once"
                    )
                ],
            },
        ),
    ]
