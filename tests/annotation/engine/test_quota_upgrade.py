"""A platform of an earlier version, with quotas and people at work, is brought up to date by `migrate`."""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
# What somebody runs whose platform is older: a study, a rule in words, and a task that a woman holds.
EARLIER = """
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

targets = [("annotation", "0017_label_studio_image_versions"), ("accounts", "0001_initial"),
           ("studies", "0002_protocol_mcas"), ("generation", "0005_requests_written_by_the_job")]
MigrationExecutor(connection).migrate(targets)
executor = MigrationExecutor(connection)
get = executor.loader.project_state(targets).apps.get_model
study = get("studies", "Study").objects.create(name="Isles", slug="isles", seed=1)
group = get("studies", "StudyGroup").objects.create(study=study, name="Kenyan", display_name="Kenyan", iso_code="KEN")
image = get("generation", "Image").objects.create(
    study=study, group=group, sha256="0" * 64, file="images/0.png", width=9, height=9)
campaign = get("annotation", "Campaign").objects.create(
    study=study, slug="c", name="C", kind="stereotype_marking", seed=1, state="open", opened_at="2030-01-01T00:00Z")
rules = get("annotation", "QuotaRule").objects
rules.create(campaign=campaign, kind="at_least", field="gender", k=1, values=["women"])
rules.create(campaign=campaign, kind="at_least", field="nationality", k=1, matches_group="nationality", values=[])
task = get("annotation", "Task").objects.create(campaign=campaign, image=image, wanted=2, quota_mix="2/-/0:0")
for gender, nationality in [("weiblich", "Kenianerin"), ("Mann", "")]:
    annotator = get("accounts", "Annotator").objects.create(pseudonym=gender)
    get("accounts", "AnnotatorProfile").objects.create(annotator=annotator, gender=gender, nationality=nationality)
    get("annotation", "Enrolment").objects.create(campaign=campaign, annotator=annotator)
    if gender == "weiblich":
        get("annotation", "Assignment").objects.create(task=task, annotator=annotator, state="leased", slot=0,
            leased_at="2030-01-01T00:00Z", expires_at="2099-01-01T00:00Z")
"""
NOW = """
from annotation.models import Assignment, Task
from annotation.quota_rules import quotas_of
from annotation.slots import mix_of, profiles_of

task = Task.objects.select_related("campaign__study", "image").get()
holder = Assignment.objects.get().annotator_id
print("mix", task.quota_mix == mix_of(quotas_of(task.campaign), task, [profiles_of([holder])[holder]]))
"""


def manage(folder, *arguments):
    environment = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=environment | {"STEREOSCOPE_VAR": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_tasks_with_quotas_are_seen_by_codes_after_an_upgrade(tmp_path):
    earlier = manage(tmp_path, "shell", "-c", EARLIER)
    assert earlier.returncode == 0, earlier.stderr
    migrated = manage(tmp_path, "migrate")
    assert migrated.returncode == 0, migrated.stderr
    (database,) = tmp_path.rglob("*.sqlite3")
    with sqlite3.connect(database) as rows:
        rules = rows.execute('SELECT field, "values" FROM annotation_quotarule ORDER BY id').fetchall()
        people = rows.execute(
            "SELECT gender, nationality FROM accounts_annotatorprofile ORDER BY id"
        ).fetchall()
    assert rules == [("gender", '["woman"]'), ("nationality", "[]")]
    assert people == [("woman", "KEN"), ("man", "")]
    assert "mix True" in manage(tmp_path, "shell", "-c", NOW).stdout
