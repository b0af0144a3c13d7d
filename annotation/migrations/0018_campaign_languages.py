import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models
from django.db.models import Q

from annotation.models.language_codes import LANGUAGE_CODES
from foundation.database.online import AddUncheckedConstraint, AtOnce


class Migration(migrations.Migration):
    """Keep in which languages campaigns are read; of answers, changes definitions only, which takes moments."""

    dependencies = [
        ('accounts', '0002_consent_translations'),
        ('annotation', '0017_stop_rules_and_notices'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='CampaignLanguage',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('language', models.CharField(max_length=2)),
                ('untranslated_reason', models.CharField(blank=True, max_length=300)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='languages', to='annotation.campaign')),
                ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['campaign', 'language'],
                'constraints': [
                    models.UniqueConstraint(fields=('campaign', 'language'), name='campaign_language_once'),
                    models.CheckConstraint(condition=Q(language__in=LANGUAGE_CODES) & ~Q(language='en'), name='campaign_language_known'),
                ],
            },
        ),
        migrations.AddField(
            model_name='campaign',
            name='offered_languages',
            field=models.JSONField(blank=True, editable=False, null=True),
        ),
        migrations.AddField(
            model_name='instrument',
            name='translations',
            field=models.JSONField(blank=True, db_default=models.Value({}, models.JSONField()), default=dict),
        ),
        migrations.AddField(
            model_name='enrolment',
            name='language',
            field=models.CharField(blank=True, max_length=2, null=True),
        ),
        migrations.AddConstraint(
            model_name='enrolment',
            constraint=models.CheckConstraint(condition=Q(language__isnull=True) | Q(language__in=LANGUAGE_CODES), name='enrolment_language_known'),
        ),
        AtOnce(
            'annotation',
            [
                migrations.AddField(
                    model_name='annotation',
                    name='language',
                    field=models.CharField(blank=True, max_length=2, null=True),
                ),
                AddUncheckedConstraint(
                    model_name='annotation',
                    constraint=models.CheckConstraint(condition=Q(language__isnull=True) | Q(language__in=LANGUAGE_CODES), name='annotation_language_known'),
                ),
            ],
        ),
    ]
