"""Whoever withdrew stays withdrawn from the studies they took part in, whatever text those have now.

Before, withdrawals were kept with the consents to a series of texts, and a study with another series lost sight of
them. The history names each study that a withdrawal was from; consents taken back without an entry count for
studies that still use their series.
"""

from django.db import migrations
from django.db.models import Max


def _ended_at(apps, annotator_id, series, withdrawn_at):
    """When the person agreed again afterwards, to the default text or to one of the study's own."""
    consents = apps.get_model("accounts", "Consent").objects.filter(
        annotator=annotator_id, withdrawn_at=None, given_at__gt=withdrawn_at, text__series__in=series
    )
    return consents.aggregate(last=Max("given_at"))["last"]


def keep_withdrawals(apps, schema_editor):  # noqa: ARG001
    annotators = apps.get_model("accounts", "Annotator").objects
    consents = apps.get_model("accounts", "Consent").objects
    withdrawals = apps.get_model("accounts", "Withdrawal").objects
    entries = apps.get_model("studies", "AuditEntry").objects.filter(action="consent.withdrawn")
    for study in apps.get_model("studies", "Study").objects.select_related("consent_text"):
        own = study.consent_text.series if study.consent_text else "default"
        latest = dict(entries.filter(study=study).order_by("pk").values_list("details__pseudonym", "at"))
        keys = dict(annotators.filter(pseudonym__in=latest).values_list("pseudonym", "pk"))
        moments = {keys[pseudonym]: moment for pseudonym, moment in latest.items() if pseudonym in keys}
        taken_back = consents.filter(
            annotator__enrolments__campaign__study=study, text__series=own, withdrawn_at__isnull=False
        )
        for person, moment in taken_back.order_by("withdrawn_at").values_list("annotator", "withdrawn_at"):
            if person not in moments or moment > moments[person]:
                moments[person] = moment
        for person, moment in sorted(moments.items()):
            ended_at = _ended_at(apps, person, {own, "default"}, moment)
            withdrawals.create(annotator_id=person, study=study, withdrawn_at=moment, ended_at=ended_at)


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0017_label_studio_image_versions"),
        ("accounts", "0002_withdrawal"),
        ("studies", "0002_protocol_mcas"),
    ]

    operations = [migrations.RunPython(keep_withdrawals, migrations.RunPython.noop)]
