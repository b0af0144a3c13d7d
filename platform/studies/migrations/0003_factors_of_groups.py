"""Groups know the factors that they combine: black_man has race=black, gender=man."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("studies", "0002_probing_protocols")]

    operations = [
        migrations.AddField(
            model_name="studygroup", name="factors", field=models.JSONField(blank=True, default=dict)
        ),
    ]
