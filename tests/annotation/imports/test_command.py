"""`import_annotations` on the command line."""

import io

import pytest
from django.core.management import call_command

from annotation.management.commands.import_annotations import Command
from annotation.models import Annotation, Campaign
from foundation.errors import DomainError

COLUMNS = ["image=file", "group=people", "attribute=word", "annotator=worker", "present=answer"]
ROWS = ["file,people,word,worker,answer", "a.png,Velmari,kite,w1,ja", "a.png,Velmari,drum,w1,vielleicht"]


def run(*arguments: object) -> tuple[int, str, str]:
    """Run the command as from a terminal; return exit code, standard output and standard error."""
    out, err = io.StringIO(), io.StringIO()
    command = Command(stdout=out, stderr=err)
    command.requires_system_checks = []
    command._called_from_command_line = True
    try:
        command.run_from_argv(["manage.py", "import_annotations", *map(str, arguments)])
    except SystemExit as stopped:
        return int(stopped.code or 0), out.getvalue(), err.getvalue()
    return 0, out.getvalue(), err.getvalue()


@pytest.fixture
def keep_connection(monkeypatch):
    """A command closes its connections when it ends; the test's transaction lives in one."""
    from django.db import connections

    monkeypatch.setattr(connections, "close_all", lambda: None)


def test_a_table_with_its_own_words_is_imported(db, table, tmp_path, keep_connection):
    file = table(*ROWS)
    code, out, _ = run(
        file,
        "--study",
        "Pilot",
        "--map",
        *COLUMNS,
        "--value",
        "ja=yes",
        "--output",
        tmp_path / "out",
        "--campaign",
        "First",
    )
    assert code == 0
    assert "2 rows read = 1 kept + 0 repaired + 1 rejected" in out
    assert "present is “vielleicht”" in (tmp_path / "out" / "rejected.csv").read_text(encoding="utf-8")
    assert Campaign.objects.get().name == "First"
    assert Annotation.objects.count() == 1


def test_a_domain_error_exits_with_1_and_one_sentence(db, table, keep_connection):
    code, _, err = run(table(*ROWS), "--study", "Pilot", "--map", *COLUMNS, "--resource", "Nowhere")
    assert (code, err) == (1, "There is no resource named “Nowhere” (--resource).\n")
    code, _, err = run(
        table(*ROWS), "--study", "Pilot", "--map", *COLUMNS, "--value", "x=yes", "--campaign", "c" * 121
    )
    assert code == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["--map", "picture=file"],
        ["--map", *COLUMNS, "--image-size", "big"],
        ["--map", *COLUMNS, "--value", "ja=perhaps"],
        ["--map", *COLUMNS, "--box-format", "round"],
        [],
    ],
)
def test_a_wrong_command_line_exits_with_2(arguments, db, table, keep_connection, capsys):
    assert run(table(*ROWS), "--study", "Pilot", *arguments)[0] == 2


def test_a_name_too_long_for_the_database_is_refused(db, table):
    file = table(*ROWS)
    options = {"study": "Pilot", "map": COLUMNS, "value": ["ja=yes"]}
    with pytest.raises(DomainError, match="name of the model is longer than 120"):
        call_command("import_annotations", file, model="m" * 121, **options)
    with pytest.raises(DomainError, match="name of the campaign is longer than 120"):
        call_command("import_annotations", file, campaign="c" * 121, **options)
    assert not Campaign.objects.exists()
