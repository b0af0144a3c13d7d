"""What 0007 allowed to stand unchecked is checked, without keeping anybody waiting."""

from django.db import migrations

from foundation.database.online import CheckConstraintOfAllRows


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("generation", "0007_scenarios_of_requests")]

    operations = [
        CheckConstraintOfAllRows("prompttemplate", "prompt_template_of_experiment_has_scenario"),
        CheckConstraintOfAllRows("generationrequest", "generation_request_of_experiment_has_scenario"),
    ]
