"""The tests that `make test` also runs on PostgreSQL, because the databases differ in what they test.

SQLite and PostgreSQL differ in SQL that is written for one of them, in locks and concurrency, in
constraints and migrations, in bulk inserts, in JSON, text and order, and in whether a failed statement ends the
transaction. `test_on_both.py` finds the modules that depend on these, and fails for a package that has no test here.
docs/develop/decisions/0021-two-databases.md explains why the other tests run only on SQLite.
"""

# Subject -> folders and files.
ON_BOTH = {
    "the engines themselves: constraints, migrations, bulk inserts, keys, order, NUL characters, outages": (
        "tests/foundation/database",
        "tests/front/test_hostile_requests.py",
        "tests/front/test_outages.py",
        "tests/operations/test_pace.py",
        "tests/operations/test_round_trip.py",
        "tests/operations/test_verify.py",
        "tests/project/constraints/test_constraints.py",
        "tests/web/test_keyset.py",
    ),
    "one path through every area: each named page, and a study from its prompts to its measures": (
        "tests/front/test_every_page.py",
        "tests/project/test_planted_truth.py",
    ),
    "people and studies: JSON keys, rows locked": (
        "tests/accounts/sign_in/providers",
        "tests/accounts/test_consent.py",
        "tests/accounts/test_profiles.py",
        "tests/annotation/api/test_members.py",
        "tests/front/studies/test_study_changes.py",
        "tests/privacy/test_erase_by_lead.py",
        "tests/privacy/test_erasure.py",
        "tests/privacy/test_retention.py",
        "tests/studies/membership/test_members.py",
        "tests/studies/protocol",
    ),
    "imports: bulk inserts that leave out what is there": (
        "tests/annotation/imports",
        "tests/catalog/imports",
        "tests/generation/imports",
    ),
    "jobs: leases, queues, killed workers": (
        "tests/jobs/engine",
        "tests/jobs/progress",
        "tests/jobs/run",
        "tests/services/test_killed.py",
        "tests/services/test_places_killed.py",
    ),
    "images and answers of models: requests claimed by several workers, budgets": (
        "tests/generation/probing/batches",
        "tests/generation/probing/test_codings.py",
        "tests/generation/probing/test_execution.py",
        "tests/generation/probing/test_killed.py",
        "tests/generation/probing/test_model_coder.py",
        "tests/generation/probing/test_overrides.py",
        "tests/generation/probing/test_planning.py",
        "tests/generation/probing/test_totals.py",
        "tests/generation/prompts/test_sets.py",
        "tests/generation/runs",
    ),
    "assignment and submission: SQL of each database, locks, people at the same time": (
        "tests/annotation/answers",
        "tests/annotation/assignment",
        "tests/annotation/labelling",
        "tests/annotation/simulation",
    ),
    "campaigns, people and quality: rows locked in order, grouping": (
        "tests/annotation/campaigns/images/test_redraw.py",
        "tests/annotation/campaigns/test_extension.py",
        "tests/annotation/campaigns/test_lifecycle.py",
        "tests/annotation/kinds/test_study_kinds.py",
        "tests/annotation/lead/test_large_campaigns.py",
        "tests/annotation/people",
        "tests/annotation/quality/test_measures.py",
        "tests/annotation/quality/test_rules.py",
        "tests/annotation/recruitment/prolific/test_webhooks.py",
        "tests/annotation/recruitment/test_arrival.py",
        "tests/annotation/recruitment/test_places.py",
    ),
    "Label Studio: advisory locks, labels settled while others arrive": (
        "tests/annotation/label_studio/base",
        "tests/annotation/label_studio/labels",
        "tests/annotation/label_studio/people",
        "tests/annotation/label_studio/pull",
        "tests/annotation/label_studio/push/test_sync.py",
        "tests/services/label_studio/pull/test_reconcile.py",
    ),
    "results and releases: snapshots, readers with SQL of their own, scores inserted twice": (
        "tests/analysis/planning/test_preregistration.py",
        "tests/analysis/releases/assembly",
        "tests/analysis/releases/formats/test_readers.py",
        "tests/analysis/releases/probes/test_readers.py",
        "tests/analysis/releases/questions/test_readers.py",
        "tests/analysis/releases/storage/test_zips.py",
        "tests/analysis/releases/tables",
        "tests/analysis/results/data",
        "tests/analysis/results/test_reports.py",
        "tests/analysis/scoring/steps",
        "tests/analysis/scoring/test_run.py",
        "tests/analysis/scoring/test_vectors.py",
    ),
}
# Files in these folders without writes or locks, which `paths` leaves out.
ON_SQLITE_ALONE = (
    "tests/annotation/answers/test_validation.py",
    "tests/annotation/label_studio/labels/test_convert.py",
)


def chosen() -> list[str]:
    """Return the folders and files as arguments for pytest."""
    folders = sorted(path for paths in ON_BOTH.values() for path in paths)
    return [*folders, *(f"--ignore={path}" for path in ON_SQLITE_ALONE)]
