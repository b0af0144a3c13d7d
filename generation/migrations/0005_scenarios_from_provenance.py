"""Experiment, scenario and factors of what was imported from the PAIRS tree, where only the provenance has them."""

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

from foundation.database.online import CheckConstraintOfAllRows

_AT_ONCE = 1_000


def fill_from_provenance(apps: StateApps, editor: BaseDatabaseSchemaEditor) -> None:
    image_model = apps.get_model("generation", "Image")
    images = image_model.objects.filter(provenance__has_key="variant", scenario="").only("provenance", "group")
    filled = []
    for image in images.iterator(chunk_size=_AT_ONCE):
        image.experiment = str(image.provenance.get("experiment", ""))[:60]
        image.scenario = str(image.provenance.get("scenario", ""))[:120]
        if image.scenario:
            filled.append(image)
    image_model.objects.bulk_update(filled, ["experiment", "scenario"], batch_size=_AT_ONCE)
    groups = apps.get_model("studies", "StudyGroup").objects.filter(pk__in={image.group_id for image in filled})
    for group in groups:
        race, _, gender = group.name.rpartition("_")
        if race and gender in {"man", "woman"} and not group.factors:
            group.factors = {"race": race, "gender": gender}
            group.save(update_fields=["factors"])


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("generation", "0004_scenarios")]

    operations = [
        migrations.RunPython(fill_from_provenance, migrations.RunPython.noop, elidable=True),
        CheckConstraintOfAllRows("image", "image_of_experiment_has_scenario"),
    ]
