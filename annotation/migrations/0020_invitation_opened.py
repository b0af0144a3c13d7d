from django.db import migrations, models


class Migration(migrations.Migration):
    """Keep when the page of a personal link was first shown."""

    dependencies = [('annotation', '0019_answer_languages_checked')]

    operations = [
        migrations.AddField(
            model_name='invitation', name='opened_at', field=models.DateTimeField(blank=True, null=True)
        ),
    ]
