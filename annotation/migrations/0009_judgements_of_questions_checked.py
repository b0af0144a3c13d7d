from django.db import migrations, models
from django.db.models import Q
from django.db.models.functions import Coalesce

from foundation.database.online import AddIndexOnline, AddUniqueIndexOnline, CheckConstraintOfAllRows


class Migration(migrations.Migration):
    """Check the judgements there are, and index those of the new kind, while annotators go on working."""

    atomic = False

    dependencies = [('annotation', '0008_judgements_of_questions')]

    operations = [
        CheckConstraintOfAllRows('judgement', 'judgement_has_one_value'),
        CheckConstraintOfAllRows('judgement', 'judgement_of_attribute_is_mark_or_rating'),
        AddIndexOnline(
            model_name='judgement',
            index=models.Index(condition=Q(stimulus__isnull=False), fields=['stimulus'], name='judgement_of_stimulus'),
        ),
        AddUniqueIndexOnline(
            model_name='judgement',
            constraint=models.UniqueConstraint(
                models.F('annotation'),
                models.F('question'),
                Coalesce('stimulus', 0),
                Coalesce('code', models.Value('')),
                condition=Q(attribute__isnull=True),
                name='judgement_once_per_question',
            ),
        ),
    ]
