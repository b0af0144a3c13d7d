from django.db import migrations


def mark_campaigns(apps, schema_editor):
    """Write down in which tool the campaigns are labelled that were handed over before the column was there."""
    campaigns = apps.get_model("annotation", "Campaign").objects
    bridges = apps.get_model("annotation", "LabelStudioBridge").objects
    campaigns.filter(pk__in=bridges.values("campaign")).update(labelled_in="label_studio")


class Migration(migrations.Migration):
    dependencies = [("annotation", "0002_campaign_labelled_in")]

    operations = [migrations.RunPython(mark_campaigns, migrations.RunPython.noop)]
