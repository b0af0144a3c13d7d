"""Prompts and requests know their experiment and scenario; changes definitions only, so that it takes moments."""

from django.db import migrations, models

from foundation.database.online import AddUncheckedConstraint, AtOnce


def _fields(model_name: str) -> list[migrations.AddField]:
    return [
        migrations.AddField(
            model_name=model_name,
            name=name,
            field=models.CharField(blank=True, db_default="", default="", max_length=length),
        )
        for name, length in (("experiment", 60), ("scenario", 120))
    ]


def _constraint(model_name: str, name: str) -> AddUncheckedConstraint:
    return AddUncheckedConstraint(
        model_name=model_name,
        constraint=models.CheckConstraint(condition=models.Q(experiment="") | ~models.Q(scenario=""), name=name),
    )


class Migration(migrations.Migration):
    dependencies = [("generation", "0006_overrides")]

    operations = [
        AtOnce(
            "prompttemplate",
            [
                *_fields("prompttemplate"),
                _constraint("prompttemplate", "prompt_template_of_experiment_has_scenario"),
            ],
        ),
        AtOnce(
            "generationrequest",
            [
                *_fields("generationrequest"),
                _constraint("generationrequest", "generation_request_of_experiment_has_scenario"),
            ],
        ),
    ]
