from django.db import migrations

from foundation.database.online import CheckConstraintOfAllRows


class Migration(migrations.Migration):
    """Check the languages of the answers there are, while annotators go on working."""

    atomic = False

    dependencies = [('annotation', '0018_campaign_languages')]

    operations = [CheckConstraintOfAllRows('annotation', 'annotation_language_known')]
