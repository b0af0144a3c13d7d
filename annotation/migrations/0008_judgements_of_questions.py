import functools
import operator

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Q

from foundation.database.online import AddUncheckedConstraint, AllowNull, AtOnce


def one_value():
    columns = ("present", "rating", "code", "rank", "text")
    return functools.reduce(
        operator.or_, (Q(**{f"{column}__isnull": column != value for column in columns}) for value in columns)
    )


class Migration(migrations.Migration):
    """Let judgements answer any question; changes definitions only, so that it takes moments whatever is stored."""

    dependencies = [
        ('annotation', '0007_task_stimuli'),
        ('catalog', '0001_initial'),
    ]

    operations = [
        # First: while the table of judgements is locked there is nothing left to work out.
        migrations.CreateModel(
            name='Point',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('x', models.FloatField()),
                ('y', models.FloatField()),
                ('judgement', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='points', to='annotation.judgement')),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=Q(x__gte=0, y__gte=0, x__lte=1, y__lte=1), name='point_inside_image')],
            },
        ),
        AtOnce(
            'judgement',
            [
                migrations.RemoveConstraint(model_name='judgement', name='judgement_is_mark_or_rating'),
                migrations.AddField(
                    model_name='judgement',
                    name='question',
                    field=models.CharField(db_default=models.Value('attribute'), default='attribute', max_length=40),
                ),
                migrations.AddField(
                    model_name='judgement',
                    name='code',
                    field=models.CharField(blank=True, max_length=40, null=True),
                ),
                migrations.AddField(
                    model_name='judgement',
                    name='rank',
                    field=models.SmallIntegerField(blank=True, null=True),
                ),
                migrations.AddField(
                    model_name='judgement',
                    name='text',
                    field=models.TextField(blank=True, null=True),
                ),
                migrations.AddField(
                    model_name='judgement',
                    name='stimulus',
                    field=models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='judgements', to='annotation.taskstimulus'),
                ),
                AllowNull(
                    model_name='judgement',
                    name='attribute',
                    field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='catalog.attribute'),
                ),
                migrations.AlterField(
                    model_name='judgement',
                    name='rating',
                    field=models.SmallIntegerField(blank=True, null=True),
                ),
                AddUncheckedConstraint(
                    model_name='judgement',
                    constraint=models.CheckConstraint(condition=one_value() & (Q(rank__isnull=True) | Q(rank__gte=1)), name='judgement_has_one_value'),
                ),
                AddUncheckedConstraint(
                    model_name='judgement',
                    constraint=models.CheckConstraint(
                        condition=Q(attribute__isnull=True, question__gt='')
                        | Q(attribute__isnull=False, question='attribute', stimulus__isnull=True)
                        & (Q(present__isnull=False) | Q(rating__isnull=False, rating__gte=1, rating__lte=5)),
                        name='judgement_of_attribute_is_mark_or_rating',
                    ),
                ),
            ],
        ),
    ]
