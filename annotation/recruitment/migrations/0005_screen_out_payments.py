

from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0021_invitation_letters'),
        ('recruitment', '0004_unread_events'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='recruitment',
            name='screen_out_code',
            field=models.CharField(blank=True, db_default='', max_length=20),
        ),
        migrations.AddField(
            model_name='recruitment',
            name='screen_out_reward',
            field=models.PositiveIntegerField(blank=True, null=True),
        ),
        migrations.AddConstraint(
            model_name='recruitment',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('screen_out_code', ''), ('screen_out_reward__isnull', True)), models.Q(('screen_out_reward__gte', 1), ('screen_out_reward__isnull', False), ('screen_out_reward__lt', models.F('reward')), models.Q(('screen_out_code', ''), _negated=True)), _connector='OR'), name='recruitment_screen_out_below_reward'),
        ),
    ]
