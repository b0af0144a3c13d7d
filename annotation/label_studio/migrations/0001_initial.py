import django.db.models.deletion
import django.db.models.functions.datetime
import uuid
from django.conf import settings
from django.db import migrations, models

MODELS = ("server", "bridge", "project", "task", "user", "annotation", "version", "event")


def rename_content_types(before, after):
    """Return the operation that moves the models' content types, and thus their permissions, to another app."""

    def rename(apps, schema_editor):
        content_types = apps.get_model("contenttypes", "ContentType").objects.using(schema_editor.connection.alias)
        content_types.filter(app_label=before, model__in=[f"labelstudio{name}" for name in MODELS]).update(app_label=after)

    return rename


class Migration(migrations.Migration):
    """Take over tables that migrations of `annotation` made before Label Studio was an app. No table changes."""

    dependencies = [
        ('accounts', '0001_initial'),
        ('annotation', '0004_label_studio_in_its_own_app'),
        ('contenttypes', '0002_remove_content_type_name'),
        ('studies', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunPython(
                    rename_content_types("annotation", "label_studio"), rename_content_types("label_studio", "annotation")
                )
            ],
            state_operations=[
                migrations.CreateModel(
                    name='LabelStudioBridge',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('arrangement', models.CharField(choices=[('shared', 'one project for all'), ('per_slot', 'a project for each annotation a task asks for'), ('per_annotator', 'a project for each annotator')], default='per_slot', max_length=14)),
                        ('public_id', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                        ('address_secret', models.TextField()),
                        ('header_secret', models.TextField()),
                        ('images_until', models.DateTimeField(blank=True, null=True)),
                        ('images_version', models.PositiveIntegerField(default=1)),
                        ('pushed_at', models.DateTimeField(blank=True, null=True)),
                        ('event_at', models.DateTimeField(blank=True, null=True)),
                        ('reconciled_at', models.DateTimeField(blank=True, null=True)),
                        ('problem', models.CharField(blank=True, max_length=60)),
                        ('problem_text', models.CharField(blank=True, max_length=500)),
                        ('problem_at', models.DateTimeField(blank=True, null=True)),
                        ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                        ('campaign', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='label_studio', to='annotation.campaign')),
                        ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ],
                    options={
                        'db_table': 'annotation_labelstudiobridge',
                    },
                ),
                migrations.CreateModel(
                    name='LabelStudioProject',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('slot', models.PositiveSmallIntegerField(blank=True, null=True)),
                        ('external_id', models.BigIntegerField()),
                        ('webhook_id', models.BigIntegerField(blank=True, null=True)),
                        ('configuration', models.CharField(blank=True, max_length=64)),
                        ('gone_at', models.DateTimeField(blank=True, null=True)),
                        ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                        ('annotator', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='label_studio_projects', to='accounts.annotator')),
                        ('bridge', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='projects', to='label_studio.labelstudiobridge')),
                        ('instrument', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.RESTRICT, related_name='+', to='annotation.instrument')),
                    ],
                    options={
                        'db_table': 'annotation_labelstudioproject',
                        'ordering': ['bridge', 'id'],
                    },
                ),
                migrations.CreateModel(
                    name='LabelStudioServer',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('url', models.URLField(max_length=300)),
                        ('token', models.TextField()),
                        ('version', models.CharField(blank=True, max_length=40)),
                        ('checked_at', models.DateTimeField(blank=True, null=True)),
                        ('problem', models.CharField(blank=True, max_length=60)),
                        ('problem_text', models.CharField(blank=True, max_length=500)),
                        ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                        ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='label_studio_servers', to='studies.study')),
                    ],
                    options={
                        'db_table': 'annotation_labelstudioserver',
                        'ordering': ['study', 'id'],
                    },
                ),
                migrations.AddField(
                    model_name='labelstudiobridge',
                    name='server',
                    field=models.ForeignKey(on_delete=django.db.models.deletion.RESTRICT, related_name='bridges', to='label_studio.labelstudioserver'),
                ),
                migrations.CreateModel(
                    name='LabelStudioTask',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('external_id', models.BigIntegerField()),
                        ('images_version', models.PositiveIntegerField(default=1)),
                        ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tasks', to='label_studio.labelstudioproject')),
                        ('task', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='label_studio_tasks', to='annotation.task')),
                    ],
                    options={
                        'db_table': 'annotation_labelstudiotask',
                    },
                ),
                migrations.CreateModel(
                    name='LabelStudioUser',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('external_id', models.BigIntegerField()),
                        ('name', models.CharField(blank=True, max_length=200)),
                        ('forgotten_at', models.DateTimeField(blank=True, null=True)),
                        ('state', models.CharField(choices=[('waiting', 'waiting'), ('mapped', 'mapped to an annotator'), ('ignored', 'left out')], default='waiting', max_length=8)),
                        ('decided_at', models.DateTimeField(blank=True, null=True)),
                        ('seen_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                        ('annotator', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='label_studio_users', to='accounts.annotator')),
                        ('decided_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('invitation', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='label_studio_user', to='annotation.invitation')),
                        ('server', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='users', to='label_studio.labelstudioserver')),
                    ],
                    options={
                        'db_table': 'annotation_labelstudiouser',
                        'ordering': ['server', 'id'],
                    },
                ),
                migrations.CreateModel(
                    name='LabelStudioAnnotation',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('external_id', models.BigIntegerField()),
                        ('external_task', models.BigIntegerField()),
                        ('updated_by', models.BigIntegerField(blank=True, null=True)),
                        ('made_at', models.DateTimeField()),
                        ('changed_at', models.DateTimeField()),
                        ('cancelled', models.BooleanField(default=False)),
                        ('result', models.JSONField(blank=True, default=list)),
                        ('lead_time', models.FloatField(blank=True, null=True)),
                        ('digest', models.CharField(max_length=64)),
                        ('deleted_at', models.DateTimeField(blank=True, null=True)),
                        ('missing', models.CharField(blank=True, choices=[('held', 'until the lead says whether it was deleted'), ('kept', 'for good: the lead keeps what was lost there')], default='', max_length=4)),
                        ('state', models.CharField(choices=[('new', 'not looked at yet'), ('counted', 'counted'), ('surplus', 'surplus: the task had its annotations'), ('further', 'a further answer of the same person: the first counts'), ('excluded', 'kept out by the lead'), ('waiting', 'waiting until the lead says whose it is'), ('consent', 'waiting for consent'), ('flagged', 'sent or changed under another’s name'), ('refused', 'refused'), ('left_out', 'left out: the user is'), ('skipped', 'skipped'), ('deleted', 'deleted there')], default='new', max_length=8)),
                        ('reason', models.CharField(blank=True, max_length=300)),
                        ('chosen', models.CharField(blank=True, default='', max_length=64)),
                        ('chosen_against', models.CharField(blank=True, default='', max_length=64)),
                        ('edit', models.CharField(blank=True, choices=[('open', 'changed by somebody else; the author’s version counts until a lead decides'), ('kept', 'changed by somebody else; a lead kept the author’s version'), ('taken', 'changed or sent by somebody else; a lead accepted that version'), ('restored', 'restored to an earlier version by a lead')], default='', max_length=8)),
                        ('annotation', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='label_studio', to='annotation.annotation')),
                        ('task', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='label_studio_annotations', to='annotation.task')),
                        ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='annotations', to='label_studio.labelstudioproject')),
                        ('given_to', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='annotations_given', to='label_studio.labelstudiouser')),
                        ('user', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='annotations', to='label_studio.labelstudiouser')),
                    ],
                    options={
                        'db_table': 'annotation_labelstudioannotation',
                    },
                ),
                migrations.CreateModel(
                    name='LabelStudioVersion',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('updated_by', models.BigIntegerField(blank=True, null=True)),
                        ('changed_at', models.DateTimeField()),
                        ('cancelled', models.BooleanField(default=False)),
                        ('result', models.JSONField(blank=True, default=list)),
                        ('lead_time', models.FloatField(blank=True, null=True)),
                        ('digest', models.CharField(max_length=64)),
                        ('replaced_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                        ('mirrored', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='versions', to='label_studio.labelstudioannotation')),
                        ('user', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='label_studio.labelstudiouser')),
                    ],
                    options={
                        'db_table': 'annotation_labelstudioversion',
                        'ordering': ['mirrored', 'changed_at', 'digest'],
                    },
                ),
                migrations.CreateModel(
                    name='LabelStudioEvent',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('received_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                        ('action', models.CharField(max_length=60)),
                        ('project', models.BigIntegerField(blank=True, null=True)),
                        ('tasks', models.JSONField(blank=True, default=list)),
                        ('annotations', models.JSONField(blank=True, default=list)),
                        ('done_at', models.DateTimeField(blank=True, null=True)),
                        ('outcome', models.CharField(blank=True, max_length=300)),
                        ('bridge', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='events', to='label_studio.labelstudiobridge')),
                    ],
                    options={
                        'db_table': 'annotation_labelstudioevent',
                        'ordering': ['-id'],
                        'indexes': [models.Index(condition=models.Q(('done_at', None)), fields=['bridge', 'id'], name='label_studio_event_to_do')],
                    },
                ),
                migrations.AddConstraint(
                    model_name='labelstudioproject',
                    constraint=models.UniqueConstraint(condition=models.Q(('gone_at', None)), fields=('bridge', 'external_id'), name='label_studio_project_once'),
                ),
                migrations.AddConstraint(
                    model_name='labelstudioproject',
                    constraint=models.UniqueConstraint(condition=models.Q(('gone_at', None), ('slot__isnull', False)), fields=('bridge', 'slot'), name='label_studio_project_of_slot'),
                ),
                migrations.AddConstraint(
                    model_name='labelstudioproject',
                    constraint=models.UniqueConstraint(condition=models.Q(('annotator__isnull', False), ('gone_at', None)), fields=('bridge', 'annotator'), name='label_studio_project_of_annotator'),
                ),
                migrations.AddConstraint(
                    model_name='labelstudioproject',
                    constraint=models.CheckConstraint(condition=models.Q(('slot__isnull', True), ('annotator__isnull', True), _connector='OR'), name='label_studio_project_of_one_thing'),
                ),
                migrations.AddConstraint(
                    model_name='labelstudioserver',
                    constraint=models.UniqueConstraint(fields=('study', 'url'), name='label_studio_server_once_in_study'),
                ),
                migrations.AddConstraint(
                    model_name='labelstudioserver',
                    constraint=models.CheckConstraint(condition=models.Q(models.Q(('problem', ''), ('problem_text', '')), models.Q(models.Q(('problem', ''), _negated=True), models.Q(('problem_text', ''), _negated=True)), _connector='OR'), name='label_studio_server_problem_said'),
                ),
                migrations.AddConstraint(
                    model_name='labelstudiobridge',
                    constraint=models.CheckConstraint(condition=models.Q(('arrangement__in', ['shared', 'per_slot', 'per_annotator'])), name='label_studio_arrangement_known'),
                ),
                migrations.AddConstraint(
                    model_name='labelstudiobridge',
                    constraint=models.CheckConstraint(condition=models.Q(models.Q(('problem', ''), ('problem_at__isnull', True), ('problem_text', '')), models.Q(models.Q(('problem', ''), _negated=True), models.Q(('problem_text', ''), _negated=True), ('problem_at__isnull', False)), _connector='OR'), name='label_studio_bridge_problem_said'),
                ),
                migrations.AddConstraint(
                    model_name='labelstudiotask',
                    constraint=models.UniqueConstraint(fields=('project', 'task'), name='label_studio_task_once'),
                ),
                migrations.AddConstraint(
                    model_name='labelstudiotask',
                    constraint=models.UniqueConstraint(fields=('project', 'external_id'), name='label_studio_task_one_of_ours'),
                ),
                migrations.AddConstraint(
                    model_name='labelstudiouser',
                    constraint=models.UniqueConstraint(fields=('server', 'external_id'), name='label_studio_user_once'),
                ),
                migrations.AddConstraint(
                    model_name='labelstudiouser',
                    constraint=models.UniqueConstraint(condition=models.Q(('annotator__isnull', False)), fields=('server', 'annotator'), name='label_studio_user_is_one_annotator'),
                ),
                migrations.AddConstraint(
                    model_name='labelstudiouser',
                    constraint=models.CheckConstraint(condition=models.Q(models.Q(('annotator__isnull', False), ('state', 'mapped')), models.Q(('annotator__isnull', True), ('state__in', ['waiting', 'ignored'])), _connector='OR'), name='label_studio_user_mapped_to_somebody'),
                ),
                migrations.AddIndex(
                    model_name='labelstudioannotation',
                    index=models.Index(condition=models.Q(('edit', 'open')), fields=['project'], name='label_studio_edit_open'),
                ),
                migrations.AddIndex(
                    model_name='labelstudioannotation',
                    index=models.Index(fields=['project', 'state'], name='label_studio_by_state'),
                ),
                migrations.AddIndex(
                    model_name='labelstudioannotation',
                    index=models.Index(condition=models.Q(('deleted_at', None)), fields=['task'], name='label_studio_of_task'),
                ),
                migrations.AddConstraint(
                    model_name='labelstudioannotation',
                    constraint=models.UniqueConstraint(fields=('project', 'external_id'), name='label_studio_annotation_once'),
                ),
                migrations.AddConstraint(
                    model_name='labelstudioannotation',
                    constraint=models.CheckConstraint(condition=models.Q(('missing', ''), models.Q(('deleted_at', None), ('missing__in', ['held', 'kept'])), _connector='OR'), name='label_studio_annotation_missing_or_deleted'),
                ),
                migrations.AddConstraint(
                    model_name='labelstudioannotation',
                    constraint=models.CheckConstraint(condition=models.Q(models.Q(('chosen', ''), ('chosen_against', '')), models.Q(models.Q(('chosen', ''), _negated=True), models.Q(('chosen_against', ''), _negated=True)), _connector='OR'), name='label_studio_annotation_chosen_against_something'),
                ),
                migrations.AddConstraint(
                    model_name='labelstudioannotation',
                    constraint=models.CheckConstraint(condition=models.Q(('edit__in', ['', 'open', 'kept', 'taken', 'restored'])), name='label_studio_annotation_edit_known'),
                ),
                migrations.AddConstraint(
                    model_name='labelstudioversion',
                    constraint=models.UniqueConstraint(fields=('mirrored', 'digest'), name='label_studio_version_once'),
                ),
            ],
        )
    ]
