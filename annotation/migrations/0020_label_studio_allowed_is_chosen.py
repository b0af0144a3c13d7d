"""What a lead let count becomes the choice of the version that stood there."""

from django.db import migrations
from django.db.models import F


def chosen(apps, _schema_editor):
    rows = apps.get_model("annotation", "LabelStudioAnnotation").objects.filter(allowed=True)
    # What was wiped has no digest, and nothing that could count.
    rows.exclude(digest="").update(chosen=F("digest"), chosen_against=F("digest"), edit="taken")


def allowed(apps, _schema_editor):
    rows = apps.get_model("annotation", "LabelStudioAnnotation").objects
    rows.exclude(chosen="").filter(chosen=F("digest"), chosen_against=F("digest")).update(allowed=True)


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0019_label_studio_versions"),
    ]

    operations = [migrations.RunPython(chosen, allowed)]
