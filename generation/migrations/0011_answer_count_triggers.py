"""Triggers count answers, whatever writes them: a page that counts 500,000 rows takes half a second.

PostgreSQL counts once a statement, SQLite, which knows no other triggers, once a row. SQLite drops a trigger with the
table that Django makes anew for a changed column: a migration that changes one creates the triggers again. When answers
are deleted nothing is inserted, since their run may be gone with them.
"""

from django.db import migrations

KEY = "run_id, outcome, served_model, fingerprint"
TABLE = "generation_answercount"
COUNTED = f"{KEY}, cost, finished_at"

FILL = f"""
INSERT INTO {TABLE} ({KEY}, number, cost_e8, since)
SELECT {KEY}, COUNT(*), SUM(CAST(ROUND(cost * 100000000) AS BIGINT)), MIN(finished_at)
FROM generation_answer GROUP BY {KEY}
"""

_GONE = "SELECT {key}, -1 AS number, -CAST(cost * 100000000 AS BIGINT) AS cost_e8, NULL::timestamptz AS since FROM gone"
_NEW = "SELECT {key}, 1 AS number, CAST(cost * 100000000 AS BIGINT) AS cost_e8, finished_at AS since FROM new"
# Always in the order of the key: two transactions never wait for each other's counts.
_UPSERT = f"""
INSERT INTO {TABLE} AS counts ({KEY}, number, cost_e8, since)
SELECT {KEY}, SUM(number), SUM(cost_e8), MIN(since) FROM ({{rows}}) AS changes
GROUP BY {KEY} HAVING SUM(number) <> 0 OR SUM(cost_e8) <> 0 ORDER BY {KEY}
ON CONFLICT ({KEY}) DO UPDATE SET
    number = counts.number + EXCLUDED.number,
    cost_e8 = counts.cost_e8 + EXCLUDED.cost_e8,
    since = LEAST(counts.since, EXCLUDED.since);
"""
_INSERTED = _UPSERT.format(rows=_NEW.format(key=KEY))
_UPDATED = _UPSERT.format(rows=f"{_NEW.format(key=KEY)} UNION ALL {_GONE.format(key=KEY)}")
_DELETED = f"""
UPDATE {TABLE} AS counts SET number = counts.number + changes.number, cost_e8 = counts.cost_e8 + changes.cost_e8
FROM (SELECT {KEY}, SUM(number) AS number, SUM(cost_e8) AS cost_e8
      FROM ({_GONE.format(key=KEY)}) AS each GROUP BY {KEY}) AS changes
WHERE {" AND ".join(f"counts.{name} = changes.{name}" for name in KEY.split(", "))};
"""
POSTGRESQL = "".join(
    f"""
CREATE FUNCTION generation_count_{event}() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN {body} RETURN NULL; END $$;
CREATE TRIGGER answers_counted_{event} AFTER {event.upper()} ON generation_answer
REFERENCING {tables} FOR EACH STATEMENT EXECUTE FUNCTION generation_count_{event}();
"""
    for event, tables, body in (
        ("insert", "NEW TABLE AS new", _INSERTED),
        ("update", "NEW TABLE AS new OLD TABLE AS gone", _UPDATED),
        ("delete", "OLD TABLE AS gone", _DELETED),
    )
)


def _matching(row):
    return " AND ".join(f"{name} = {row}.{name}" for name in KEY.split(", "))


def _cost(row):
    return f"CAST(ROUND({row}.cost * 100000000) AS INTEGER)"


_ADD = f"""
INSERT INTO {TABLE} ({KEY}, number, cost_e8)
SELECT {", ".join(f"NEW.{name}" for name in KEY.split(", "))}, 0, 0
WHERE NOT EXISTS (SELECT 1 FROM {TABLE} WHERE {_matching("NEW")});
UPDATE {TABLE} SET number = number + 1, cost_e8 = cost_e8 + {_cost("NEW")},
    since = MIN(COALESCE(since, NEW.finished_at), COALESCE(NEW.finished_at, since)) WHERE {_matching("NEW")};
"""
_TAKE = f"UPDATE {TABLE} SET number = number - 1, cost_e8 = cost_e8 - {_cost('OLD')} WHERE {_matching('OLD')};"
SQLITE = (
    f"CREATE TRIGGER answers_counted_insert AFTER INSERT ON generation_answer BEGIN {_ADD} END",
    f"CREATE TRIGGER answers_counted_update AFTER UPDATE OF {COUNTED} ON generation_answer BEGIN {_TAKE} {_ADD} END",
    f"CREATE TRIGGER answers_counted_delete AFTER DELETE ON generation_answer BEGIN {_TAKE} END",
)


def create(apps, editor):
    # Beforehand: the triggers' lock keeps writers out until what is there is counted.
    for statement in (POSTGRESQL,) if editor.connection.vendor == "postgresql" else SQLITE:
        editor.execute(statement)
    editor.execute(FILL)


def drop(apps, editor):
    for event in ("insert", "update", "delete"):
        if editor.connection.vendor == "postgresql":
            editor.execute(f"DROP TRIGGER answers_counted_{event} ON generation_answer")
            editor.execute(f"DROP FUNCTION generation_count_{event}()")
        else:
            editor.execute(f"DROP TRIGGER answers_counted_{event}")
    editor.execute(f"DELETE FROM {TABLE}")


class Migration(migrations.Migration):

    dependencies = [("generation", "0010_answer_counts")]

    operations = [migrations.RunPython(create, drop)]
