from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0020_label_studio_allowed_is_chosen"),
    ]

    operations = [
        migrations.RemoveField(
            model_name="labelstudioannotation",
            name="allowed",
        ),
    ]
