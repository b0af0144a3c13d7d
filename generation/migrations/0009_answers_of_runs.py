from django.db import migrations, models

from foundation.database.online import AddIndexOnline


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("generation", "0008_scenarios_of_requests_hold")]

    operations = [
        AddIndexOnline(
            model_name="answer",
            index=models.Index(
                fields=["run", "outcome", "served_model", "fingerprint", "cost", "finished_at"],
                name="answer_run_counts",
            ),
        ),
        AddIndexOnline(model_name="answer", index=models.Index(fields=["run", "id"], name="answer_run_id")),
        migrations.RemoveIndex(model_name="answer", name="answer_run_outcome"),
    ]
