from django.db import migrations, models

from foundation.database.online import AtOnce


class Migration(migrations.Migration):
    """Alone, as each of the next two: who waits for one table that people work with must not hold another."""

    dependencies = [('annotation', '0005_kinds_by_key')]

    operations = [
        AtOnce(
            'campaign',
            [
                migrations.AddField(
                    model_name='campaign',
                    name='declaration',
                    field=models.JSONField(blank=True, editable=False, null=True),
                ),
            ],
        ),
    ]
