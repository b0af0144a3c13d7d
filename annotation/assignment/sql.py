"""Hand-written SQL for submitting answers and leasing tasks, each statement with its reason and its cost.

Everything else uses the ORM. The figures are processor time of web server and database together for one
submission with its next task (decision 0024), or for one run of the statement, on PostgreSQL.
"""

# ruff: noqa: S608 -- statements are put together from constants of this module; values are parameters

from accounts.models import AnnotatorProfile

# Loading the facts of a submission ----------------------------------------------------------------------------------

_CONSENT_TEXT = (
    "COALESCE(s.consent_text_id, (SELECT x.id FROM accounts_consenttext x WHERE x.series = 'default'"
    " AND x.translates_id IS NULL ORDER BY x.version DESC LIMIT 1))"
)
_STANDARD_COLUMNS = (
    *("a.annotator_id", "a.purpose", "a.slot", "a.leased_at", "a.expires_at", "a.ended_at"),
    *("c.kind", "c.boxes_required", "c.lease_minutes", "c.seed", "c.opened_at", "c.closed_at"),
    *("c.imported", "c.labelled_in", "c.study_id", "c.options", "c.declaration"),
    *(f"p.{field}" for field in AnnotatorProfile.FIELDS),
)
SUBMISSION_COLUMNS = {column.partition(".")[2]: column for column in _STANDARD_COLUMNS} | {
    "assignment_id": "a.id",
    "assignment_state": "a.state",
    "task_id": "t.id",
    "task_public_id": "t.public_id",
    "campaign_id": "c.id",
    "campaign_state": "c.state",
    "enrolment_state": "e.state",
    "most_screens": "e.most_screens",
    "language": "e.language",
    "offered_languages": "c.offered_languages",
    "agreed": f"""EXISTS (
        SELECT 1 FROM accounts_consent k
        WHERE k.annotator_id = a.annotator_id AND k.withdrawn_at IS NULL AND k.text_id = {_CONSENT_TEXT})""",
    "withdrew": """EXISTS (
        SELECT 1 FROM studies_withdrawal w
        WHERE w.annotator_id = a.annotator_id AND w.study_id = c.study_id AND w.ended_at IS NULL)""",
    "instrument_id": """(
        SELECT i.id FROM annotation_instrument i
        WHERE i.campaign_id = c.id AND i.version = COALESCE(CAST(%(version)s AS integer), i.version)
        ORDER BY i.version DESC LIMIT 1)""",
    "sent_id": "b.id",
    "sent_submission_id": "b.submission_id",
    "sent_annotator_id": "b.annotator_id",
    "sent_assignment_id": "b.assignment_id",
    "sent_revision": "b.revision",
    "sent_status": "b.status",
    "latest_id": "l.id",
    "latest_submission_id": "l.submission_id",
    "latest_revision": "l.revision",
    "latest_status": "l.status",
    "latest_reason": "l.status_reason",
    "leases_to_end": """EXISTS (
        SELECT 1 FROM annotation_assignment o JOIN annotation_task u ON u.id = o.task_id
        WHERE u.campaign_id = c.id AND o.state = 'leased'
        AND (o.expires_at <= %(now)s OR (o.annotator_id = a.annotator_id AND o.id <> a.id)))""",
    "practice_not_passed": """(
        EXISTS (SELECT 1 FROM annotation_practiceround g WHERE g.enrolment_id = e.id)
        AND NOT EXISTS (SELECT 1 FROM annotation_practiceround g WHERE g.enrolment_id = e.id AND g.passed))""",
    "has_rules": """EXISTS (
        SELECT 1 FROM annotation_qualityrule r WHERE r.campaign_id = c.id AND NOT r.standard)""",
}
# Reason: all that `annotation.answers.submission_rules` decides on, and whether the next task can be leased in the same
# transaction, in one round trip.
LOAD_SUBMISSION = f"""
    SELECT {", ".join(f"{expression} AS {name}" for name, expression in SUBMISSION_COLUMNS.items())}
    FROM annotation_assignment a
    JOIN accounts_annotator n ON n.id = a.annotator_id
    JOIN annotation_task t ON t.id = a.task_id
    JOIN annotation_campaign c ON c.id = t.campaign_id
    JOIN studies_study s ON s.id = c.study_id
    JOIN annotation_enrolment e ON e.campaign_id = c.id AND e.annotator_id = a.annotator_id
    LEFT JOIN accounts_annotatorprofile p ON p.annotator_id = a.annotator_id
    LEFT JOIN annotation_annotation b ON b.submission_id = %(submission)s
    LEFT JOIN annotation_annotation l ON l.assignment_id = a.id AND l.is_latest
    WHERE a.public_id = %(public_id)s AND n.user_id = %(user)s
"""
# The enrolment first, as in every verb: requests of one annotator are processed one after the other.
LOCK_SUBMISSION = " FOR UPDATE OF e, a"

# Storing an answer --------------------------------------------------------------------------------------------------

# A correction does not change the assignment: the same values are written again.
END_ASSIGNMENT = """
    UPDATE annotation_assignment SET state = %(state)s, slot = %(slot)s, ended_at = %(ended_at)s
    WHERE id = %(assignment)s
"""
INSERT_ANNOTATION = """
    INSERT INTO annotation_annotation (submission_id, campaign_id, task_id, annotator_id, assignment_id,
        instrument_id, revision, is_latest, status, status_reason, none_of_the_above, justification,
        active_seconds, language)
    VALUES (%(submission)s, %(campaign)s, %(task)s, %(annotator)s, %(assignment)s,
        %(instrument)s, %(revision)s, %(is_latest)s, %(status)s, %(reason)s, %(none)s, %(justification)s,
        %(seconds)s, %(language)s)
    RETURNING id
"""
# Tables with the columns that an answer fills.
JUDGEMENT_COLUMNS = "annotation_judgement (annotation_id, attribute_id, present, rating)"
QUESTION_COLUMNS = (
    "annotation_judgement (annotation_id, question, stimulus_id, present, rating, code, rank, text)"
)
BOX_COLUMNS = "annotation_box (judgement_id, x, y, width, height, clipped)"
POINT_COLUMNS = "annotation_point (judgement_id, x, y)"

# Reason: four statements in one, since each costs PostgreSQL a round trip. Not possible on SQLite, which cannot put
# inserts together. Rows are numbered in the order given: the box that was drawn first stays first.
STORE_ANSWER = f"""
    WITH ended AS ({END_ASSIGNMENT}),
    annotation AS ({INSERT_ANNOTATION}),
    judgement AS (
        INSERT INTO {JUDGEMENT_COLUMNS}
        SELECT a.id, j.attribute_id, j.present, %(rating)s::smallint
        FROM annotation a,
             unnest(%(attributes)s::bigint[], %(present)s::boolean[]) WITH ORDINALITY
             AS j(attribute_id, present, number)
        ORDER BY j.number RETURNING id, attribute_id),
    box AS (
        INSERT INTO {BOX_COLUMNS}
        SELECT j.id, b.x, b.y, b.width, b.height, FALSE
        FROM unnest(%(boxed)s::bigint[], %(x)s::float8[], %(y)s::float8[],
                    %(width)s::float8[], %(height)s::float8[]) WITH ORDINALITY
             AS b(attribute_id, x, y, width, height, number)
        JOIN judgement j ON j.attribute_id = b.attribute_id
        ORDER BY b.number)
    SELECT id FROM annotation
"""
# Reason: as above, for answers to declared questions. Question and stimulus tell judgements with a place apart.
STORE_QUESTIONS = f"""
    WITH ended AS ({END_ASSIGNMENT}),
    annotation AS ({INSERT_ANNOTATION}),
    judgement AS (
        INSERT INTO {QUESTION_COLUMNS}
        SELECT a.id, j.question, j.stimulus_id, j.present, j.rating, j.code, j.rank, j.text
        FROM annotation a,
             unnest(%(questions)s::text[], %(stimuli)s::bigint[], %(present_values)s::boolean[],
                    %(rating_values)s::smallint[], %(code_values)s::text[], %(rank_values)s::smallint[],
                    %(text_values)s::text[]) WITH ORDINALITY
             AS j(question, stimulus_id, present, rating, code, rank, text, number)
        ORDER BY j.number RETURNING id, question, stimulus_id),
    box AS (
        INSERT INTO {BOX_COLUMNS}
        SELECT j.id, b.x, b.y, b.width, b.height, FALSE
        FROM unnest(%(box_questions)s::text[], %(box_stimuli)s::bigint[], %(box_x)s::float8[], %(box_y)s::float8[],
                    %(box_width)s::float8[], %(box_height)s::float8[]) WITH ORDINALITY
             AS b(question, stimulus_id, x, y, width, height, number)
        JOIN judgement j ON j.question = b.question AND j.stimulus_id IS NOT DISTINCT FROM b.stimulus_id
        ORDER BY b.number),
    point AS (
        INSERT INTO {POINT_COLUMNS}
        SELECT j.id, p.x, p.y
        FROM unnest(%(point_questions)s::text[], %(point_stimuli)s::bigint[], %(point_x)s::float8[],
                    %(point_y)s::float8[]) WITH ORDINALITY AS p(question, stimulus_id, x, y, number)
        JOIN judgement j ON j.question = p.question AND j.stimulus_id IS NOT DISTINCT FROM p.stimulus_id
        ORDER BY p.number)
    SELECT id FROM annotation
"""

# Taking a place and leasing a task ----------------------------------------------------------------------------------

# Whether a task has not changed since it was chosen.
_AS_CHOSEN = (
    "id = %(task_id)s AND held = %(held)s AND held < wanted AND NOT withdrawn AND quota_mix = %(mix)s"
)
# Reason: a conditional UPDATE is the claim itself; prepared, as it runs for every task given out.
HOLD_PLACE = f"UPDATE annotation_task SET held = held + 1, quota_mix = %(joined)s WHERE {_AS_CHOSEN}"
# Reason: the same for PostgreSQL without waiting for anybody. A task that another annotator is about to take counts as
# taken; and where an UPDATE that lost a race keeps its row locked, this one has locked nothing.
HOLD_PLACE_UNLESS_LOCKED = f"""
    UPDATE annotation_task SET held = held + 1, quota_mix = %(joined)s
    WHERE id = (SELECT id FROM annotation_task WHERE {_AS_CHOSEN} FOR NO KEY UPDATE SKIP LOCKED)
"""
# Reason: finds the lowest free slot and leases in one statement. A label's place was taken before,
# so a slot is free; checks have none. A task whose lease ran out may come back on the same row and public id.
LEASE_TASK = """
    INSERT INTO annotation_assignment (public_id, task_id, annotator_id, state, purpose, slot, leased_at, expires_at)
    SELECT %(public_id)s, %(task)s, %(annotator)s, 'leased', %(purpose)s, {slot}, %(now)s, %(expires_at)s
    WHERE TRUE
    ON CONFLICT (task_id, annotator_id, purpose) DO UPDATE SET state = 'leased', slot = excluded.slot,
        leased_at = excluded.leased_at, expires_at = excluded.expires_at, ended_at = NULL
    RETURNING id, public_id, slot
"""
LEASE_LABEL = LEASE_TASK.format(
    slot="""
        (SELECT MIN(f.slot)
         FROM (SELECT 0 AS slot UNION ALL SELECT g.slot + 1 FROM annotation_assignment g
               WHERE g.task_id = %(task)s AND g.slot IS NOT NULL) f
         WHERE NOT EXISTS (SELECT 1 FROM annotation_assignment h WHERE h.task_id = %(task)s AND h.slot = f.slot))
    """
)
LEASE_CHECK = LEASE_TASK.format(slot="NULL")

# Choosing a task ----------------------------------------------------------------------------------------------------
# Reason: a campaign has up to a million tasks. These read a few index entries each, whatever its size (decision 0005);
# what the ORM makes of them joins and sorts all open tasks. `make bench ARGS=annotation_load` compares 4,000 tasks
# with 100,000.

# The number of an annotator's latest tasks that are searched for an image to continue.
_RECENT = 20
# A task whose lease has ended may be leased to the same annotator again.
_NOT_HAD = (
    "NOT EXISTS (SELECT 1 FROM annotation_assignment m"
    " WHERE m.task_id = t.id AND m.annotator_id = %(annotator)s AND m.state <> 'expired')"
)


def _from_a_place(tasks: str, condition: str) -> str:
    """Return the query for the first of `tasks` that meet `condition`, from a place between the ends of their ids.

    The ends are two reads of the index; MIN and MAX together would read all of it on PostgreSQL 15.
    """
    alike = f"{tasks} AND {condition}"
    low, high = (
        f"(SELECT t.id FROM annotation_task t WHERE {alike} ORDER BY t.id {way} LIMIT 1)"
        for way in ("ASC", "DESC")
    )
    start = f"(SELECT {low} + CAST(FLOOR(%(place)s * ({high} - {low} + 1)) AS bigint))"
    onwards = f"SELECT t.id FROM annotation_task t WHERE {alike} AND {_NOT_HAD}"
    return f"""
        SELECT t.id, t.held, t.quota_mix FROM annotation_task t
        WHERE t.id = COALESCE(({onwards} AND t.id >= {start} ORDER BY t.id LIMIT 1),
                              ({onwards} ORDER BY t.id LIMIT 1))
    """


class TaskQueries:
    """The statements that look among open tasks; `condition` narrows them."""

    def __init__(self, condition: str = "") -> None:
        tasks = f"t.campaign_id = %(campaign)s AND t.held < t.wanted AND NOT t.withdrawn{condition}"
        # A gold task or a repeat begins no image.
        self.begun = f"""
            SELECT t.id, t.held, t.quota_mix
            FROM (SELECT a.id, s.image_id
                  FROM annotation_assignment a JOIN annotation_task s ON s.id = a.task_id
                  WHERE a.annotator_id = %(annotator)s AND a.purpose = 'label' AND s.campaign_id = %(campaign)s
                  ORDER BY a.id DESC LIMIT {_RECENT}) r
            JOIN annotation_task t ON t.image_id = r.image_id
            WHERE {tasks} AND {_NOT_HAD}
            GROUP BY t.id, t.held, t.quota_mix, t.screen
            ORDER BY MAX(r.id) DESC, t.screen, t.id
        """
        self.level = (
            f"SELECT t.held FROM annotation_task t WHERE {tasks} AND {_NOT_HAD} ORDER BY t.held, t.id LIMIT 1"
        )
        self.mixes = f"""
            WITH RECURSIVE seen(mix) AS (
                SELECT (SELECT t.quota_mix FROM annotation_task t WHERE {tasks} AND t.quota_mix > ''
                        ORDER BY t.quota_mix LIMIT 1)
                UNION ALL
                SELECT (SELECT t.quota_mix FROM annotation_task t WHERE {tasks} AND t.quota_mix > ''
                        AND t.quota_mix > seen.mix ORDER BY t.quota_mix LIMIT 1)
                FROM seen WHERE seen.mix IS NOT NULL)
            SELECT mix FROM seen WHERE mix IS NOT NULL
        """
        self.least_covered = _from_a_place(tasks, "t.held = %(held)s")
        self.of_mix = _from_a_place(tasks, "t.quota_mix > '' AND t.quota_mix = %(mix)s")
        # Of a mix too long to tell who may join, each task has to be tried.
        self.all_of_mix = f"""
            SELECT t.id, t.held, t.quota_mix FROM annotation_task t
            WHERE {tasks} AND t.quota_mix > '' AND t.quota_mix = %(mix)s AND {_NOT_HAD}
            ORDER BY t.id LIMIT 500
        """


ANY_TASK = TaskQueries()
# For an annotator who has reached the daily cap of sensitive tasks.
CALM_TASK = TaskQueries(" AND NOT t.sensitive")

# Checks and caps ----------------------------------------------------------------------------------------------------
# Reason: they run at every turn that may bring a check, and in campaigns with a cap at every task.

# Skipped tasks count; a task whose lease has ended may still be leased again.
COUNT_GIVEN = """
    SELECT a.purpose, COUNT(*) FROM annotation_assignment a JOIN annotation_task t ON t.id = a.task_id
    WHERE a.annotator_id = %(annotator)s AND t.campaign_id = %(campaign)s AND a.state <> 'expired'
    GROUP BY a.purpose
"""
NEW_GOLD = f"""
    SELECT t.id, t.sensitive FROM annotation_task t
    WHERE t.campaign_id = %(campaign)s AND t.purpose = 'gold' AND NOT t.withdrawn AND {_NOT_HAD}
    ORDER BY t.id LIMIT 1000
"""
# The latest answers are too recent; the oldest thousand of the others suffice.
OLD_ANSWERS = """
    SELECT t.id, t.sensitive
    FROM (SELECT a.task_id, a.purpose
          FROM annotation_assignment a JOIN annotation_task s ON s.id = a.task_id
          WHERE a.annotator_id = %(annotator)s AND s.campaign_id = %(campaign)s
            AND a.state IN ('submitted', 'surplus')
          ORDER BY a.ended_at DESC, a.id DESC LIMIT 1000000 OFFSET %(after)s) r
    JOIN annotation_task t ON t.id = r.task_id
    WHERE r.purpose = 'label' AND NOT t.withdrawn
      AND NOT EXISTS (SELECT 1 FROM annotation_assignment m WHERE m.task_id = t.id
                      AND m.annotator_id = %(annotator)s AND m.purpose = 'repeat' AND m.state <> 'expired')
    ORDER BY t.id LIMIT 1000
"""
# Every shown sensitive task counts, even if it was skipped or leased again.
COUNT_TODAY = """
    SELECT COUNT(CASE WHEN a.state IN ('leased', 'submitted', 'surplus') THEN 1 END),
           COUNT(CASE WHEN t.sensitive THEN 1 END)
    FROM annotation_assignment a JOIN annotation_task t ON t.id = a.task_id
    WHERE a.annotator_id = %(annotator)s AND t.campaign_id = %(campaign)s AND a.leased_at >= %(midnight)s
"""
# Reason: from the side of the known answers, which are few; a campaign may have 100,000 tasks. CROSS JOIN keeps SQLite
# to this order, which the ORM cannot ask for.
PRACTICE_TASKS = """
    SELECT DISTINCT t.id FROM annotation_knownanswer k CROSS JOIN annotation_task t
    WHERE t.id = k.task_id AND t.campaign_id = %s AND t.purpose = 'practice' AND NOT t.withdrawn
    ORDER BY t.id
"""

# Showing a task -----------------------------------------------------------------------------------------------------

# Reason: read once for each task and process, before its answer can be checked.
SHOWN_ATTRIBUTES = """
    SELECT a.attribute_id, b.text
    FROM annotation_task t
    JOIN annotation_taskattribute a ON a.task_id = t.id
    JOIN catalog_attribute b ON b.id = a.attribute_id
    WHERE t.public_id = %s ORDER BY a.position
"""
_TASK_FACTS = """
           (SELECT MAX(i.version) FROM annotation_instrument i WHERE i.campaign_id = %(campaign)s),
           (SELECT COUNT(*) FROM annotation_assignment a JOIN annotation_task u ON u.id = a.task_id
            WHERE a.annotator_id = %(annotator)s AND a.state IN ('submitted', 'surplus')
            AND u.campaign_id = %(campaign)s),
           (SELECT e.most_screens FROM annotation_enrolment e
            WHERE e.annotator_id = %(annotator)s AND e.campaign_id = %(campaign)s)"""
# Reason: the whole next task in one statement; the ORM needs five.
SHOWN_TASK = f"""
    SELECT t.public_id, m.id, m.public_id, m.file, m.width, m.height, {_TASK_FACTS},
           b.id, b.text
    FROM annotation_task t
    LEFT JOIN generation_image m ON m.id = t.image_id
    JOIN annotation_taskattribute x ON x.task_id = t.id
    JOIN catalog_attribute b ON b.id = x.attribute_id
    WHERE t.id = %(task)s ORDER BY x.position
"""
_STIMULI = """s.id, s.text, m.id, m.public_id, m.file, m.width, m.height
    FROM annotation_task t
    JOIN annotation_taskstimulus s ON s.task_id = t.id
    LEFT JOIN generation_image m ON m.id = s.image_id"""
# Reason: the same for a task of declared questions.
SHOWN_QUESTIONS_TASK = f"""
    SELECT t.public_id, {_TASK_FACTS}, {_STIMULI}
    WHERE t.id = %(task)s ORDER BY s.position
"""
# Reason: as for attributes, read once for each task and process.
SHOWN_STIMULI = f"SELECT {_STIMULI} WHERE t.public_id = %s ORDER BY s.position"
