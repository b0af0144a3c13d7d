from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("analysis", "0009_release_profiles"),
    ]

    operations = [
        # Every vector that is there was rounded.
        migrations.AddField(
            model_name="encoder",
            name="vector_type",
            field=models.CharField(default="float16", max_length=10),
        ),
        migrations.AlterField(
            model_name="encoder",
            name="vector_type",
            field=models.CharField(default="float32", max_length=10),
        ),
        migrations.RemoveConstraint(model_name="encoder", name="encoder_unique"),
        migrations.AddConstraint(
            model_name="encoder",
            constraint=models.UniqueConstraint(
                fields=("architecture", "pretrained", "revision", "precision", "vector_type"),
                name="encoder_unique",
            ),
        ),
        migrations.AddConstraint(
            model_name="encoder",
            constraint=models.CheckConstraint(
                condition=models.Q(("vector_type__in", ("float32", "float16"))),
                name="encoder_vector_type_known",
            ),
        ),
    ]
