from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):

    dependencies = [("generation", "0012_answers_by_outcome")]

    operations = [
        migrations.AddField(
            model_name="generationrun",
            name="spent",
            field=models.DecimalField(db_default=0, decimal_places=4, default=0, max_digits=14),
        ),
        migrations.AddConstraint(
            model_name="generationrun",
            constraint=models.CheckConstraint(condition=Q(spent__gte=0), name="generation_run_spent_not_negative"),
        ),
    ]
