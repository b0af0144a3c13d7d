from django.db import migrations, models

from foundation.database.online import AddIndexOnline


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("generation", "0011_answer_count_triggers")]

    operations = [
        AddIndexOnline(
            model_name="answer",
            index=models.Index(fields=["run", "outcome", "id"], name="answer_run_outcome_id"),
        ),
        migrations.RemoveIndex(model_name="answer", name="answer_run_counts"),
    ]
