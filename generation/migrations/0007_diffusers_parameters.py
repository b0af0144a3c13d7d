"""Runs of diffusers say of each newer parameter that it was not used: so planning them again finds them."""

from django.db import migrations

ADDED = {
    "config": "",
    "lora": "",
    "lora_scale": 1.0,
    "vae_tiling": False,
    "vae_slicing": False,
    "channels_last": False,
    "compile": False,
}


def add_defaults(apps, schema_editor):
    runs = apps.get_model("generation", "GenerationRun").objects.using(schema_editor.connection.alias)
    for run in runs.filter(backend="diffusers"):
        run.parameters = ADDED | run.parameters
        run.save(update_fields=["parameters"])


class Migration(migrations.Migration):

    dependencies = [
        ("generation", "0006_request_claims"),
    ]

    operations = [
        migrations.RunPython(add_defaults, migrations.RunPython.noop),
    ]
