"""The SQL of measures of annotators’ work. `measures` fills in which answers are measured and compared."""

# For each answer, the number of answers of its unit and of equal ones, itself included, in one pass over the answers
# whatever the planner's estimates.
AGREEMENT = """
    SELECT q.annotator_id, AVG((q.same - 1.0) / (q.given - 1)), COUNT(DISTINCT q.id)
    FROM (SELECT o.id, o.annotator_id, o.submitted_at,
                 COUNT(*) OVER (PARTITION BY {unit}, j.attribute_id) AS given,
                 COUNT(*) OVER (PARTITION BY {unit}, j.attribute_id, {code}) AS same
          FROM ({everybody}) o
          JOIN annotation_task t ON t.id = o.task_id
          JOIN annotation_judgement j ON j.annotation_id = o.id {join}) q
    WHERE q.given > 1 AND {asked}
    GROUP BY q.annotator_id
"""
MEDIAN = """
    SELECT q.annotator_id, AVG(q.seconds), MAX(q.number)
    FROM (SELECT m.annotator_id, m.active_seconds AS seconds,
                 ROW_NUMBER() OVER (PARTITION BY m.annotator_id ORDER BY m.active_seconds) AS place,
                 COUNT(*) OVER (PARTITION BY m.annotator_id) AS number
          FROM ({mine}) m WHERE m.active_seconds IS NOT NULL) q
    WHERE 2 * q.place BETWEEN q.number AND q.number + 2
    GROUP BY q.annotator_id
"""
STRAIGHT = """
    SELECT g.annotator_id, 1.0 * MAX(g.number) / SUM(g.number), SUM(g.number)
    FROM (SELECT p.annotator_id, p.answer, COUNT(*) AS number FROM ({answers}) p
          GROUP BY p.annotator_id, p.answer) g
    GROUP BY g.annotator_id
"""
SINGLE = """
    SELECT m.annotator_id, {code} AS answer
    FROM ({mine}) m JOIN annotation_judgement j ON j.annotation_id = m.id {join}
"""
# Bits of the ticked places; -1 if all are ticked.
PATTERNS = """
    SELECT m.annotator_id, m.id,
           CASE WHEN COUNT(*) = SUM(CASE WHEN j.present THEN 1 ELSE 0 END) THEN -1
                ELSE SUM(CASE WHEN j.present THEN CAST(1 AS BIGINT) << a.position ELSE 0 END) END AS answer
    FROM ({mine}) m
    JOIN annotation_judgement j ON j.annotation_id = m.id
    JOIN annotation_taskattribute a ON a.task_id = m.task_id AND a.attribute_id = j.attribute_id
    GROUP BY m.annotator_id, m.id
"""
# For each annotator and answer: how often they gave it, how often it was due on units that others answered too, and
# on how many units they stand alone.
DUE = """
    SELECT q.annotator_id, COUNT(DISTINCT q.id), SUM(CASE WHEN q.given = 1 THEN 1 ELSE 0 END), {sums}
    FROM (SELECT o.id, o.annotator_id, o.submitted_at, {code} AS code,
                 COUNT(*) OVER (PARTITION BY {unit}, j.attribute_id) AS given, {counts}
          FROM ({everybody}) o
          JOIN annotation_task t ON t.id = o.task_id
          JOIN annotation_judgement j ON j.annotation_id = o.id {join}) q
    WHERE {asked}
    GROUP BY q.annotator_id
"""
DUE_COUNT = (
    "SUM(CASE WHEN {code} = {value} THEN 1 ELSE 0 END) OVER (PARTITION BY {unit}, j.attribute_id) AS n{value}"
)
DUE_SUM = """
    SUM(CASE WHEN q.code = {value} THEN 1 ELSE 0 END),
    SUM(CASE WHEN q.given > 1 THEN (q.n{value} - CASE WHEN q.code = {value} THEN 1.0 ELSE 0.0 END) / (q.given - 1)
        ELSE 0.0 END)
"""
USUAL = """
    SELECT r.annotator_id, {code}, COUNT(*)
    FROM ({latest}) r JOIN annotation_judgement j ON j.annotation_id = r.id {join}
    GROUP BY r.annotator_id, {code}
"""
