"""Which address of its picture a task in a Label Studio was sent with."""

from typing import ClassVar

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies: ClassVar = [("annotation", "0016_label_studio_forgotten")]

    operations: ClassVar = [
        migrations.AddField(
            model_name="labelstudiotask",
            name="images_version",
            field=models.PositiveIntegerField(default=1),
        ),
    ]
