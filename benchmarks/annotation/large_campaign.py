"""An open campaign of a million screens on PostgreSQL, in a few minutes because the database generates the rows.

300,000 images, 1,000,000 screens of five attributes, 1,000,000 answers (5,000,000 judgements) of 500 annotators on
60 days, in the middle of the work: some of the screens are complete, some begun, most untouched. A quota rule,
checks, reports, invitations, quality events, jobs and a generation run are included, so that every page has rows.
"""

import json
from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from accounts.models import Annotator, AnnotatorProfile, User
from annotation.assignment.quotas import AT_LEAST, Member, Rule, TaskRules
from annotation.campaigns.planning.standard_rules import set_standard_rules
from annotation.models import Campaign, CampaignAttribute, Enrolment, Instrument, Invitation, QuotaRule
from catalog.models import Attribute
from generation.models import GenerationRun, PromptTemplate
from studies.models import Study, StudyAssociation, StudyGroup, StudyMembership

STUDY, CAMPAIGN, LEAD = "large", "marking", "bench"
IMAGES, SCREENS, ANSWERS = 300_000, 1_000_000, 1_000_000
ON_SCREEN, WANTED = 5, 3
_GROUPS, _ATTRIBUTES, _ANNOTATORS, _DAYS = 135, 400, 500, 60
# Screens with three answers, with two, with one; the rest is untouched.
_COMPLETE, _TWO, _ONE = 250_000, 100_000, 50_000
_GOLD, _GOLD_ANSWERS_EACH = 200, 20
_REGIONS = ("North Isles", "South Isles", "High Plains", "Low Coast")

# The annotator of slot s of screen t: three different people, alternately women and men.
_WHO = "(({t}) * 7 + ({s}) * 167) % {annotators}"
# Answer number i (from 0) is the {s}-th of screen {t} (from 0).
_PLACES = """
    SELECT i, CASE WHEN i < {three} THEN i % {complete}
                   WHEN i < {three} + {two} THEN {complete} + (i - {three}) % {pairs}
                   ELSE {complete} + {pairs} + i - {three} - {two} END AS t,
           CASE WHEN i < {three} THEN i / {complete}
                WHEN i < {three} + {two} THEN (i - {three}) / {pairs} ELSE 0 END AS s
    FROM generate_series(0, {answers} - 1) i
"""
# Ascending, which suits the index.
_KEY = """
    CREATE FUNCTION pg_temp.key(number bigint) RETURNS uuid LANGUAGE sql IMMUTABLE
    AS $$ SELECT lpad(to_hex(number), 32, '0')::uuid $$
"""
_MOMENT = "now() - interval '{days} days' + (i * {days}.0 / {answers}) * interval '1 day'"
_STATEMENTS = (
    """INSERT INTO generation_image (id, public_id, study_id, group_id, condition, model_label, prompt, sha256, file,
           source_name, width, height, provenance, retracted_reason)
       SELECT i, pg_temp.key(i), {study}, {group} + (i - 1) % {groups}, 'default',
              CASE WHEN i % 2 = 0 THEN 'model one' ELSE 'model two' END, 'A photo of a person',
              lpad(to_hex(i), 64, '0'), to_hex(i) || '.png', '', 512, 512, '{{}}', ''
       FROM generate_series(1, {images}) i""",
    """INSERT INTO generation_generationrequest (run_id, template_id, group_id, prompt, index, seed, outcome, reason,
           image_id, cost, held_attempt)
       SELECT {run}, {template}, {group} + (i - 1) % {groups}, 'A photo of a person', i, i,
              CASE WHEN i % 50 = 0 THEN 'refused' ELSE 'done' END, '', CASE WHEN i % 50 = 0 THEN NULL ELSE i END, 0, 0
       FROM generate_series(1, {images}) i""",
    """INSERT INTO annotation_task (id, public_id, campaign_id, image_id, screen, wanted, held, quota_mix, withdrawn,
           purpose, sensitive)
       SELECT t + 1, pg_temp.key(t + 1), {campaign}, t % {images} + 1, t / {images}, {wanted},
              CASE WHEN t < {complete} THEN 3 WHEN t < {complete} + {pairs} THEN 2
                   WHEN t < {complete} + {pairs} + {one} THEN 1 ELSE 0 END,
              CASE WHEN t < {complete} THEN CASE WHEN t % 2 = 0 THEN '{mix3a}' ELSE '{mix3b}' END
                   WHEN t < {complete} + {pairs} THEN '{mix2}'
                   WHEN t < {complete} + {pairs} + {one} THEN CASE WHEN t % 2 = 0 THEN '{mix1a}' ELSE '{mix1b}' END
                   ELSE '{mix0}' END,
              false, 'label', false
       FROM generate_series(0, {screens} - 1) t""",
    """INSERT INTO annotation_task (id, public_id, campaign_id, image_id, screen, wanted, held, quota_mix, withdrawn,
           purpose, sensitive)
       SELECT {screens} + i, pg_temp.key({screens} + i), {campaign}, i, 0, 0, 0, '', false, 'gold', false
       FROM generate_series(1, {gold}) i""",
    """INSERT INTO annotation_taskattribute (task_id, attribute_id, position)
       SELECT t, {attribute} + (t * 5 + p) % {attributes}, p
       FROM generate_series(1, {screens} + {gold}) t, generate_series(0, {on} - 1) p""",
    """INSERT INTO annotation_knownanswer (task_id, attribute_id, present, ratings, accepted, explanation)
       SELECT a.task_id, a.attribute_id, a.position = 0, '[]', '[]', '' FROM annotation_taskattribute a
       WHERE a.task_id > {screens}""",
    """INSERT INTO annotation_assignment (id, public_id, task_id, annotator_id, state, purpose, slot, leased_at,
           expires_at, ended_at)
       SELECT i + 1, pg_temp.key(i + 1), t + 1, {annotator} + {who}, 'submitted', 'label', s, {moment}, {moment},
              {moment} FROM ({places}) p""",
    """INSERT INTO annotation_annotation (id, submission_id, campaign_id, task_id, annotator_id, assignment_id,
           instrument_id, revision, is_latest, status, status_reason, none_of_the_above, justification,
           active_seconds, submitted_at)
       SELECT i + 1, pg_temp.key(i + 1), {campaign}, t + 1, {annotator} + {who}, i + 1, {instrument}, 1, true,
              'accepted', '', i % 3 = 0, '', 5 + (i * 37 % 400) / 10.0, {moment} FROM ({places}) p""",
    """INSERT INTO annotation_judgement (annotation_id, attribute_id, present)
       SELECT i + 1, {attribute} + ((t + 1) * 5 + n) % {attributes}, i % 3 <> 0 AND (i * 7 + n * 13 + t) % 8 = 0
       FROM ({places}) p, generate_series(0, {on} - 1) n""",
    """INSERT INTO annotation_assignment (id, public_id, task_id, annotator_id, state, purpose, slot, leased_at,
           expires_at, ended_at)
       SELECT {answers} + 1 + i, pg_temp.key({answers} + 1 + i), {screens} + i % {gold} + 1, {annotator} + i / {each},
              'submitted', 'gold', NULL, now(), now(), now() FROM generate_series(0, {annotators} * {each} - 1) i""",
    """INSERT INTO annotation_annotation (id, submission_id, campaign_id, task_id, annotator_id, assignment_id,
           instrument_id, revision, is_latest, status, status_reason, none_of_the_above, justification,
           active_seconds, submitted_at)
       SELECT {answers} + 1 + i, pg_temp.key({answers} + 1 + i), {campaign}, {screens} + i % {gold} + 1,
              {annotator} + i / {each}, {answers} + 1 + i, {instrument}, 1, true, 'gold', '', false, '',
              12, now() - interval '1 hour'
       FROM generate_series(0, {annotators} * {each} - 1) i""",
    """INSERT INTO annotation_judgement (annotation_id, attribute_id, present)
       SELECT a.id, k.attribute_id, k.present = (a.id % 9 <> 0) FROM annotation_annotation a
       JOIN annotation_knownanswer k ON k.task_id = a.task_id WHERE a.id > {answers}""",
    # Everybody has an open assignment of an unanswered screen.
    """INSERT INTO annotation_assignment (id, public_id, task_id, annotator_id, state, purpose, slot, leased_at,
           expires_at)
       SELECT 2 * {answers} + i, pg_temp.key(2 * {answers} + i), {screens} - i, {annotator} + i, 'leased', 'label', 0,
              now(), now() + interval '1 hour' FROM generate_series(0, {annotators} - 1) i""",
    """UPDATE annotation_task SET held = 1, quota_mix = CASE WHEN ({screens} - id) % 2 = 0 THEN '{mix1a}' ELSE
           '{mix1b}' END WHERE id > {screens} - {annotators} AND id <= {screens}""",
    """INSERT INTO annotation_qualityevent (enrolment_id, measure, action, value, threshold, rests_on, ending,
           ended_at)
       SELECT e.id, 'median_seconds', 'warn', 1, 2, 40, CASE WHEN n = 0 THEN '' ELSE 'recovered' END,
              CASE WHEN n = 0 THEN NULL ELSE now() END
       FROM annotation_enrolment e, generate_series(0, 9) n WHERE e.id % 2 = 0""",
    """INSERT INTO annotation_imagereport (image_id, annotator_id, campaign_id, reason, details, state)
       SELECT (i * 100 - 1) % {images} + 1, {annotator} + i % {annotators}, {campaign}, 'broken', '', 'open'
       FROM generate_series(1, 500) i""",
    """INSERT INTO studies_auditentry (study_id, action, subject, details, is_sealed)
       SELECT {study}, 'campaign.paused', 'campaign:{campaign}', '{{}}', true FROM generate_series(1, 100000) i""",
    """INSERT INTO jobs_job (kind, title, arguments, queue, team, study_id, state, step, steps_done, message, error,
           error_code, attempts, deaths, cancel_requested, worker, created_at, finished_at, result)
       SELECT 'generate', 'Generate images', '{{}}', 'default', '', {study}, 'succeeded', '', 0, '', '', '', 1, 0,
              false, '', now(), now(), '{{}}' FROM generate_series(1, 100000) i""",
)
_TABLES = (
    "generation_image",
    "annotation_task",
    "annotation_taskattribute",
    "annotation_assignment",
    "annotation_annotation",
    "annotation_judgement",
)


@transaction.atomic
def make() -> Campaign:
    """Create the study and its campaign with all rows; PostgreSQL only."""
    now = timezone.now()
    lead = User.objects.create_user(LEAD, password="for this minute only")
    study = Study.objects.create(
        name="Large", slug=STUDY, seed=1, frozen_at=now, description="To be measured."
    )
    StudyMembership.objects.create(study=study, user=lead, role=StudyMembership.Role.LEAD)
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
    campaign = Campaign.objects.create(
        study=study,
        slug=CAMPAIGN,
        name="Marking",
        kind="stereotype_marking",
        state=Campaign.State.OPEN,
        seed=1,
        opened_at=now,
        options={"pay_amount": 12, "gold_share": 0.05},
    )
    CampaignAttribute.objects.bulk_create(
        CampaignAttribute(campaign=campaign, group=group, attribute=attribute, role="stereotype")
        for number, group in enumerate(groups)
        for attribute in attributes[number : number + 16]
    )
    set_standard_rules(campaign)
    QuotaRule.objects.create(
        campaign=campaign, kind="at_least", field="gender", k=1, values=["man"], negated=True
    )
    _fill(study, campaign, groups[0], attributes[0], _people(campaign))
    return campaign


def _people(campaign: Campaign) -> list[Annotator]:
    annotators = Annotator.objects.bulk_create(Annotator() for _ in range(_ANNOTATORS))
    AnnotatorProfile.objects.bulk_create(
        AnnotatorProfile(annotator=annotator, gender=("woman", "man")[number % 2], nationality="Velmari")
        for number, annotator in enumerate(annotators)
    )
    links = Invitation.objects.bulk_create(
        Invitation(campaign=campaign, label=f"Person {n}", token_hash=f"{n:064x}", limit=1)
        for n in range(4 * _ANNOTATORS)
    )
    Enrolment.objects.bulk_create(
        Enrolment(campaign=campaign, annotator=annotator, invitation=link)
        for annotator, link in zip(annotators, links, strict=False)
    )
    return annotators


def _mixes() -> dict[str, str]:
    """Return the quota rule's summary of screens held by these women (1) and men (0)."""
    rules = TaskRules((Rule(AT_LEAST, "gender", 1, frozenset({"man"}), negated=True),))
    held_by_mix = {"mix0": "", "mix1a": "1", "mix1b": "0", "mix2": "10", "mix3a": "101", "mix3b": "010"}
    return {
        name: rules.mix([Member((gender == "1",), ()) for gender in people], WANTED)
        for name, people in held_by_mix.items()
    }


def _fill(
    study: Study, campaign: Campaign, group: StudyGroup, attribute: Attribute, people: list[Annotator]
) -> None:
    instrument = Instrument.objects.create(campaign=campaign, guidelines="Tick what you see.")
    template = PromptTemplate.objects.create(study=study, text="A photo of a person from {id}")
    run = GenerationRun.objects.create(study=study, backend="sketch", model_label="model one", seed=1)
    sizes: dict[str, Any] = {
        "study": study.pk,
        "campaign": campaign.pk,
        "instrument": instrument.pk,
        "template": template.pk,
        "run": run.pk,
        "group": group.pk,
        "attribute": attribute.pk,
        "annotator": people[0].pk,
        "annotators": len(people),
        "groups": _GROUPS,
        "attributes": _ATTRIBUTES,
        "images": IMAGES,
        "screens": SCREENS,
        "answers": ANSWERS,
        "on": ON_SCREEN,
        "wanted": WANTED,
        "days": _DAYS,
        "gold": _GOLD,
        "each": _GOLD_ANSWERS_EACH,
        "complete": _COMPLETE,
        "pairs": _TWO,
        "one": _ONE,
        "three": 3 * _COMPLETE,
        "two": 2 * _TWO,
        **_mixes(),
    }
    sizes["places"] = _PLACES.format(**sizes)
    sizes["moment"] = _MOMENT.format(**sizes)
    sizes["who"] = _WHO.format(t="t", s="s", **sizes)
    with connection.cursor() as cursor:
        # Skip foreign keys, which are correct by construction: checking them row by row takes most of the time.
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(_KEY)
        indexes = _drop_indexes(cursor)
        for statement in _STATEMENTS:
            cursor.execute(statement.format(**sizes))
        for index in indexes:  # faster for all rows at once than row by row
            cursor.execute(index)
        for table in _TABLES:
            cursor.execute(
                f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), (SELECT MAX(id) FROM {table}))"
            )


def _drop_indexes(cursor: Any) -> list[str]:
    """Drop the indexes of the large tables that no constraint needs; return the statements that create them again."""
    cursor.execute(
        "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = ANY(%s)"
        " AND indexname NOT IN (SELECT conname FROM pg_constraint)",
        [list(_TABLES)],
    )
    inserted_rows = cursor.fetchall()
    for name, _ in inserted_rows:
        cursor.execute(f'DROP INDEX "{name}"')
    return [key for _, key in inserted_rows]


def settle() -> None:
    """Do the work of autovacuum for a table after large growth: update statistics and the visibility map."""
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")


def main() -> None:
    """Create it in the database of `DATABASE_URL` and print the campaign."""
    campaign = make()
    settle()
    print(json.dumps({"campaign": campaign.pk}))
