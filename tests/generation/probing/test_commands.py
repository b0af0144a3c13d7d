"""The command `probe`: plan, count, ask, resume."""

import pytest
from django.core.management import call_command

from foundation.errors import DomainError
from generation.models import Answer, ProbeRun
from jobs.models import Job
from tests.generation.probing.probing_study import QUESTIONS

pytestmark = pytest.mark.django_db


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "trades.toml"
    path.write_bytes(QUESTIONS)
    return str(path)


def probe(study, file, *more):
    call_command("probe", "--study", study.name, "--probe-set", file, *more)


def test_the_command_asks_the_questions(scenarios, file, capsys):
    probe(scenarios, file, "--backend", "script", "--runs", "1", "--orders", "published")
    assert capsys.readouterr().out.endswith("16 answers.\n")
    asked = ProbeRun.objects.get()
    assert (asked.probe_set, asked.orders, asked.runs) == ("trades", "published", 1)


def test_a_dry_run_only_counts(scenarios, file, capsys):
    probe(scenarios, file, "--dry-run", "--price-in", "1", "--price-out", "2", "--budget", "20")
    said = capsys.readouterr().out
    assert said.startswith("48 answers, 48 still to ask in 48 requests.\n")
    assert "0.00 spent so far." in said
    assert not ProbeRun.objects.exists()


def test_a_limit_and_the_same_command_again(scenarios, file, capsys):
    probe(scenarios, file, "--limit", "10")
    assert capsys.readouterr().out.endswith("10 answers, 38 left to ask.\n")
    probe(scenarios, file)
    assert Answer.objects.filter(outcome="done").count() == 48


def test_failed_requests_are_asked_again_on_request(scenarios, file, capsys):
    probe(scenarios, file)
    Answer.objects.filter(pk=Answer.objects.first().pk).update(outcome="failed", text="")
    probe(scenarios, file, "--retry-failed")
    assert "1 failed requests are repeated." in capsys.readouterr().out
    assert not Answer.objects.exclude(outcome="done").exists()


def test_the_command_can_leave_the_run_to_a_worker(scenarios, file, capsys):
    probe(scenarios, file, "--queue")
    assert capsys.readouterr().out == f"Queued as job {Job.objects.get().pk}.\n"
    assert not Answer.objects.exclude(outcome="pending").exists()


def test_parameters_plant_a_bias(scenarios, file):
    probe(scenarios, file, "--param", 'bias={"tall": 0.5}', "--param", "refusal_rate=0")
    assert ProbeRun.objects.get().parameters["bias"] == {"tall": 0.5}


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (["--study", "Nowhere"], "There is no study “Nowhere”"),
        (["--probe-set", "none"], "There is no probe set “none”"),
        (["--param", "warmth"], "Write --param as NAME=VALUE"),
    ],
)
def test_errors_are_reported_in_one_sentence(scenarios, file, wrong, sentence):
    with pytest.raises(DomainError, match=sentence):
        probe(scenarios, file, *wrong)
