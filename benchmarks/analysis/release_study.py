"""A study of a million judgements or more, created in some seconds because the database generates the rows.

Answers are in the order in which people give them: every task once, then every task again, so that the answers about
one image are scattered over the table as in a real campaign.
"""

from django.db import connection, transaction
from django.utils import timezone

from accounts.models import Annotator, AnnotatorProfile
from annotation.models import Campaign, Enrolment, Instrument
from catalog.models import Attribute
from generation.models import Image
from studies.models import Study, StudyAssociation, StudyGroup

_GROUPS, _ATTRIBUTES, _ANNOTATORS = 50, 400, 500
_ON_SCREEN, _SCREENS, _EACH = 4, 5, 3
_REGIONS = ("North Isles", "South Isles", "High Plains", "Low Coast")
# A series that both databases support.
_SERIES = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {rows})"
_UUID = {"sqlite": "printf('%032x', {})", "postgresql": "lpad(to_hex({}), 32, '0')::uuid"}


@transaction.atomic
def make(*, judgements: int) -> Study:
    """Create a study with a closed marking campaign of that many judgements, with boxes on every tenth."""
    study = Study.objects.create(name="Large", slug="large", seed=1, description="Made to be measured.")
    groups = StudyGroup.objects.bulk_create(
        StudyGroup(study=study, name=f"People {n}", display_name=f"People {n}", region=_REGIONS[n % 4])
        for n in range(_GROUPS)
    )
    attributes = Attribute.objects.bulk_create(Attribute(text=f"thing {n}") for n in range(_ATTRIBUTES))
    StudyAssociation.objects.bulk_create(
        StudyAssociation(study=study, group=group, attribute=attributes[(8 * number + offset) % _ATTRIBUTES])
        for number, group in enumerate(groups)
        for offset in range(8)
    )
    annotators = Annotator.objects.bulk_create(Annotator() for _ in range(_ANNOTATORS))
    AnnotatorProfile.objects.bulk_create(
        AnnotatorProfile(
            annotator=annotator,
            gender=("Woman", "Man")[number % 2],
            nationality=("Kenya", "Ghana", "Peru", "Japan")[number % 4],
            age_band=AnnotatorProfile.AgeBand.values[number % 6],
        )
        for number, annotator in enumerate(annotators)
    )
    now = timezone.now()
    campaign = Campaign.objects.create(
        study=study,
        slug="marking",
        name="Marking",
        kind="stereotype_marking",
        state=Campaign.State.CLOSED,
        seed=1,
        opened_at=now,
        closed_at=now,
    )
    instrument = Instrument.objects.create(campaign=campaign, guidelines="Tick what you see.")
    Enrolment.objects.bulk_create(
        Enrolment(campaign=campaign, annotator=annotator) for annotator in annotators
    )
    tasks = -(-judgements // (_ON_SCREEN * _EACH))
    images = -(-tasks // _SCREENS)
    Image.objects.bulk_create(
        (
            Image(
                study=study,
                group=groups[n % _GROUPS],
                model_label=("model one", "model two")[n // (2 * _GROUPS) % 2],
                prompt=f"A photo of a person of People {n % _GROUPS}",
                source_name=f"{n}.png",
                width=512,
                height=512,
            )
            for n in range(images)
        ),
        batch_size=2_000,
    )
    _fill(
        {
            "campaign": campaign.pk,
            "instrument": instrument.pk,
            "first_image": Image.objects.filter(study=study).order_by("pk").values_list("pk", flat=True)[0],
            "first_annotator": annotators[0].pk,
            "first_attribute": attributes[0].pk,
        },
        tasks=tasks,
        judgements=judgements,
    )
    return study


def _fill(keys: dict[str, int], *, tasks: int, judgements: int) -> None:
    uuid = _UUID[connection.vendor]
    day = (
        "datetime('2026-05-01', '+' || (i / 20000) || ' days')"
        if connection.vendor == "sqlite"
        else "timestamptz '2026-05-01 00:00+00' + (i / 20000) * interval '1 day'"
    )
    numbers = {**keys, "tasks": tasks, "day": day, "on": _ON_SCREEN, "annotators": _ANNOTATORS}
    # An eighth of the attributes asked about an image is present, and an annotator errs in one of twelve answers.
    numbers["unit"] = f"((i / {_ON_SCREEN}) % {tasks} * {_ON_SCREEN} + i % {_ON_SCREEN})"
    # Every annotator asked boxes every tenth attribute of an image.
    units, boxed = tasks * _ON_SCREEN, (judgements - 1) // _EACH // 10
    numbers |= {"units": units, "boxed": boxed}
    statements = (
        (
            tasks,
            "INSERT INTO annotation_task (id, public_id, campaign_id, image_id, screen, wanted, held, quota_mix,"
            " withdrawn, purpose, sensitive) SELECT i + 1, {uuid}, {campaign}, {first_image} + i / 5, i % 5, 3, 3, '',"
            " false, 'label', false FROM n",
        ),
        (
            tasks * _ON_SCREEN,
            "INSERT INTO annotation_taskattribute (id, task_id, attribute_id, position) SELECT i + 1, i / {on} + 1,"
            " {first_attribute} + i % 400, i % {on} FROM n",
        ),
        (
            tasks * _EACH,
            "INSERT INTO annotation_annotation (id, submission_id, campaign_id, task_id, annotator_id, instrument_id,"
            " revision, is_latest, status, status_reason, none_of_the_above, justification, active_seconds,"
            " submitted_at) SELECT i + 1, {uuid}, {campaign}, i % {tasks} + 1,"
            " {first_annotator} + (i * 7 + i / {tasks}) % {annotators}, {instrument}, 1, true, 'accepted', '',"
            " i % 3 = 0, '', 5 + (i * 37 % 400) / 10.0, {day} FROM n",
        ),
        (
            judgements,
            "INSERT INTO annotation_judgement (id, annotation_id, attribute_id, present) SELECT i + 1, i / {on} + 1,"
            " {first_attribute} + {unit} % 400, ({unit} % 997 * 571 % 997 < 120) <> (i % 991 * 577 % 991 < 80) FROM n",
        ),
        (
            _EACH * boxed,
            "INSERT INTO annotation_box (id, judgement_id, x, y, width, height, clipped) SELECT i + 1,"
            " i / {boxed} * {units} + i % {boxed} * 10 + 1,"
            " (i % 500) / 1000.0, (i % 400) / 1000.0, 0.1 + (i % 300) / 1000.0, 0.25, false FROM n",
        ),
    )
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            # Skip foreign keys, which are correct by construction: checking them row by row takes most of the time.
            cursor.execute("SET LOCAL session_replication_role = replica")
        for rows, statement in statements:
            insertion = statement.format(uuid=uuid.format("i + 1"), **numbers)
            insert, select = insertion.split(" SELECT ", 1)
            cursor.execute(f"{insert} {_SERIES.format(rows=rows)} SELECT {select}")
        if connection.vendor == "postgresql":
            cursor.execute("ANALYZE")
