"""What runs have spent so far: the sum of what their images cost."""

from decimal import Decimal

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps
from django.db.models import Sum

_STEP = Decimal("0.0001")  # as the column


def sum_up(apps: StateApps, editor: BaseDatabaseSchemaEditor) -> None:
    for run in apps.get_model("generation", "GenerationRun").objects.only("pk"):
        cost = run.requests.aggregate(cost=Sum("cost"))["cost"]
        run.spent = (cost or Decimal(0)).quantize(_STEP)
        run.save(update_fields=["spent"])


class Migration(migrations.Migration):

    dependencies = [("generation", "0013_spent_of_runs")]

    operations = [migrations.RunPython(sum_up, migrations.RunPython.noop, elidable=True)]
