"""Scorers planned before vectors were kept as float32 say that theirs are float16, and are found by that again."""

import hashlib
import json

from django.db import migrations


def _digest(scorer, label):
    text = json.dumps([scorer.kind, scorer.model_id, scorer.parameters], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256((text + label).encode()).hexdigest()


def name_float16(apps, schema_editor):
    scorers = apps.get_model("analysis", "Scorer").objects.using(schema_editor.connection.alias)
    for scorer in scorers.filter(parameters__has_key="precision").exclude(parameters__has_key="vectors"):
        # Whether somebody had chosen the label is only in the digest.
        label = next((text for text in ("", scorer.model_label) if _digest(scorer, text) == scorer.configuration), None)
        scorer.parameters = scorer.parameters | {"vectors": "float16"}
        if label is not None:
            scorer.configuration = _digest(scorer, label)
        scorer.save(update_fields=["parameters", "configuration"])


class Migration(migrations.Migration):

    dependencies = [
        ("analysis", "0010_encoder_vector_type"),
    ]

    operations = [
        migrations.RunPython(name_float16, migrations.RunPython.noop),
    ]
