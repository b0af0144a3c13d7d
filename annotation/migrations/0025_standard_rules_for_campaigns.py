from django.db import migrations

# As annotation.standard_rules had them then.
STANDARD = {
    "stereotype_marking": (("median_seconds", 2.0, 20), ("variety", 0.15, 20), ("gold_accuracy", 0.6, 5)),
    "attribute_likert": (("median_seconds", 1.0, 20), ("variety", 0.15, 20), ("gold_accuracy", 0.5, 10)),
}


def add(apps, schema_editor):
    """Give campaigns that people work in, or will, the rules that only warn, but for what their lead asks already."""
    Campaign = apps.get_model("annotation", "Campaign")
    QualityRule = apps.get_model("annotation", "QualityRule")
    for campaign in Campaign.objects.filter(state__in=["draft", "open", "paused"], imported=False):
        asked = set(QualityRule.objects.filter(campaign=campaign).values_list("measure", flat=True))
        QualityRule.objects.bulk_create(
            QualityRule(
                campaign=campaign,
                measure=measure,
                threshold=threshold,
                minimum=minimum,
                action="warn",
                standard=True,
            )
            for measure, threshold, minimum in STANDARD[campaign.kind]
            if measure not in asked
        )


def remove(apps, schema_editor):
    apps.get_model("annotation", "QualityRule").objects.filter(standard=True).delete()


class Migration(migrations.Migration):
    dependencies = [("annotation", "0024_standard_quality_rules")]
    operations = [migrations.RunPython(add, remove)]
