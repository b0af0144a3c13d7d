import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """Know who wrote a text that is shown: a table of its own, so that none that people write to is locked for long."""

    dependencies = [
        ('accounts', '0001_initial'),
        ('annotation', '0011_known_answers_of_questions'),
    ]

    operations = [
        migrations.CreateModel(
            name='CopiedText',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('stimulus', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='copied_text', to='annotation.taskstimulus')),
                ('writer', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='copied_texts', to='accounts.annotator')),
            ],
        ),
    ]
