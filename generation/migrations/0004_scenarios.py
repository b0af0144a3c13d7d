"""Images know their experiment and scenario; changes definitions only, so that it takes moments."""

from django.db import migrations, models

from foundation.database.online import AddUncheckedConstraint, AtOnce


class Migration(migrations.Migration):
    dependencies = [
        ("catalog", "0001_initial"),
        ("generation", "0003_codings_are_appended"),
        ("studies", "0003_factors_of_groups"),
    ]

    operations = [
        AtOnce(
            "image",
            [
                migrations.AddField(
                    model_name="image",
                    name="experiment",
                    field=models.CharField(blank=True, db_default="", default="", max_length=60),
                ),
                migrations.AddField(
                    model_name="image",
                    name="scenario",
                    field=models.CharField(blank=True, db_default="", default="", max_length=120),
                ),
                AddUncheckedConstraint(
                    model_name="image",
                    constraint=models.CheckConstraint(
                        condition=models.Q(experiment="") | ~models.Q(scenario=""),
                        name="image_of_experiment_has_scenario",
                    ),
                ),
            ],
        ),
    ]
