import django.db.models.deletion
from django.db import migrations, models
from django.db.models import F, Q
from django.db.models.functions import Coalesce

from foundation.database.online import AllowNull, AtOnce


class Migration(migrations.Migration):
    """Let known answers be about questions. Leads write few of them, so that their table is small."""

    dependencies = [
        ('annotation', '0010_study_kinds'),
        ('catalog', '0001_initial'),
    ]

    operations = [
        AtOnce(
            'knownanswer',
            [
                migrations.RemoveConstraint(model_name='knownanswer', name='known_answer_is_mark_or_ratings'),
                migrations.AddField(
                    model_name='knownanswer', name='accepted', field=models.JSONField(blank=True, default=list)
                ),
                migrations.AddField(
                    model_name='knownanswer',
                    name='question',
                    field=models.CharField(db_default=models.Value('attribute'), default='attribute', max_length=40),
                ),
                migrations.AddField(
                    model_name='knownanswer',
                    name='stimulus',
                    field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='annotation.taskstimulus'),
                ),
                AllowNull(
                    model_name='knownanswer',
                    name='attribute',
                    field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='catalog.attribute'),
                ),
                migrations.AddConstraint(
                    model_name='knownanswer',
                    constraint=models.UniqueConstraint(
                        F('task'),
                        F('question'),
                        Coalesce('stimulus', 0),
                        condition=Q(attribute__isnull=True),
                        name='known_answer_once_per_question',
                    ),
                ),
                migrations.AddConstraint(
                    model_name='knownanswer',
                    constraint=models.CheckConstraint(
                        condition=Q(attribute__isnull=False, stimulus__isnull=True, accepted=[])
                        & (Q(present__isnull=False, ratings=[]) | Q(present__isnull=True) & ~Q(ratings=[]))
                        | Q(attribute__isnull=True, present__isnull=True, ratings=[]) & ~Q(accepted=[]),
                        name='known_answer_is_mark_ratings_or_accepted',
                    ),
                ),
            ],
        ),
    ]
