import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("annotation", "0021_remove_label_studio_allowed")]

    operations = [
        migrations.CreateModel(
            name="CampaignSnapshot",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("subject", models.CharField(max_length=20)),
                ("argument", models.CharField(blank=True, max_length=40)),
                ("value", models.JSONField(blank=True, null=True)),
                ("format", models.PositiveSmallIntegerField(default=0)),
                ("counted_at", models.DateTimeField(blank=True, null=True)),
                ("seconds", models.FloatField(default=0)),
                ("claimed_until", models.DateTimeField(blank=True, null=True)),
                (
                    "campaign",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="snapshots",
                        to="annotation.campaign",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("campaign", "subject", "argument"), name="campaign_snapshot_once_of_a_subject"
                    ),
                    models.CheckConstraint(
                        condition=Q(value__isnull=True, counted_at__isnull=True)
                        | Q(value__isnull=False, counted_at__isnull=False),
                        name="campaign_snapshot_has_its_moment",
                    ),
                    models.CheckConstraint(
                        condition=Q(seconds__gte=0), name="campaign_snapshot_seconds_not_negative"
                    ),
                ],
            },
        ),
    ]
