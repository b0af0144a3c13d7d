"""The database refuses to change a coding: what an answer was taken to say, by whom and why, stays on record.

Who made it may be set to null when an account is erased. SQLite drops a trigger with the table that Django makes anew
for a changed column: a migration that changes one creates the trigger again.
"""

from django.db import migrations

COLUMNS = "answer_id, coder, version, source, outcome, code, span, sure, reason, created_at"
SQLITE = f"""
CREATE TRIGGER coding_never_changed BEFORE UPDATE OF {COLUMNS} ON generation_coding
BEGIN SELECT RAISE(ABORT, 'a coding is appended, never changed'); END
"""
POSTGRESQL = f"""
CREATE FUNCTION generation_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'a coding is appended, never changed' USING ERRCODE = 'integrity_constraint_violation'; END $$;
CREATE TRIGGER coding_never_changed BEFORE UPDATE OF {COLUMNS} ON generation_coding
FOR EACH ROW EXECUTE FUNCTION generation_refuse_change()
"""


def create(apps, editor):
    editor.execute(POSTGRESQL if editor.connection.vendor == "postgresql" else SQLITE)


def drop(apps, editor):
    if editor.connection.vendor == "postgresql":
        editor.execute("DROP TRIGGER coding_never_changed ON generation_coding")
        editor.execute("DROP FUNCTION generation_refuse_change()")
    else:
        editor.execute("DROP TRIGGER coding_never_changed")


class Migration(migrations.Migration):

    dependencies = [("generation", "0002_probes")]

    operations = [migrations.RunPython(create, drop)]
