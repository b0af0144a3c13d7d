"""Roles are frozen when a campaign opens: studies frozen so far took both pools of raters together, and keep that."""

from django.db import migrations
from django.db.models import Exists, OuterRef, Q


def keep_summed_pools(apps, schema_editor):
    Study = apps.get_model("studies", "Study")
    StudyAssociation = apps.get_model("studies", "StudyAssociation")
    rated = StudyAssociation.objects.filter(
        Q(in_region_stereotype__isnull=False) | Q(out_region_stereotype__isnull=False), study=OuterRef("pk")
    )
    Study.objects.filter(Exists(rated), frozen_at__isnull=False).update(rater_pools="summed")


class Migration(migrations.Migration):
    dependencies = [("studies", "0003_rater_pools")]

    operations = [migrations.RunPython(keep_summed_pools, migrations.RunPython.noop)]
