import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [
        ('annotation', '0006_campaign_declaration'),
        ('generation', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='TaskStimulus',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveSmallIntegerField()),
                ('text', models.TextField(blank=True)),
                ('image', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='task_stimuli', to='generation.image')),
                ('task', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='stimuli', to='annotation.task')),
            ],
            options={
                'ordering': ['task', 'position'],
                'constraints': [
                    models.UniqueConstraint(fields=('task', 'position'), name='task_stimulus_place_taken_once'),
                    models.CheckConstraint(condition=Q(image__isnull=False, text='') | Q(image__isnull=True) & ~Q(text=''), name='task_stimulus_is_image_or_text'),
                ],
            },
        ),
    ]
