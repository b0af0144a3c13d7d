"""Reviews of codings by people become tables and a section of the page and the report."""

import csv

import pytest
from django.core.management import call_command
from django.urls import reverse

from analysis.results import reports
from analysis.results.parameters import parameters_of
from generation.models import Answer, Coding
from studies.models import StudyMembership
from tests.analysis.results.output.codebooks import columns_without_meaning
from tests.web.markup import compact

pytestmark = pytest.mark.django_db
CODES = {"plus": 1, "minus": -1}


def say(answer, *outcomes):
    for number, outcome in enumerate(outcomes):
        Coding.objects.create(
            answer=answer,
            coder="person",
            version=f"coder-{number}",
            source=f"{answer.pk}-{number}",
            outcome=outcome,
            code=CODES.get(outcome, 0),
            sure=True,
        )


@pytest.fixture
def reviewed(probed):
    """Newer rules are uncertain about four answers. Two people read those and eight certain ones."""
    answers = list(Answer.objects.order_by("pk"))
    for number, answer in enumerate(answers):
        outcome = answer.codings.get().outcome
        Coding.objects.create(
            answer=answer,
            coder="rules",
            version="2",
            outcome=outcome,
            code=CODES.get(outcome, 0),
            sure=number >= 4,
        )
    for answer in answers[:12]:
        outcome = answer.codings.first().outcome
        say(answer, outcome, outcome)
    turned = answers[4]
    Coding.objects.filter(answer=turned, coder="person").delete()
    say(turned, "both", "other", "both")  # a third decided
    return probed


def read(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_agreement_errors_and_scores_are_written(reviewed, tmp_path):
    call_command("analyze", "--study", reviewed.study.slug, "--output", str(tmp_path), "--resamples", "100")
    assert not columns_without_meaning(tmp_path)
    rows = {
        (row["compared"], row["measure"], row["stratum"]): row for row in read(tmp_path / "pairs_review.csv")
    }
    # 4 of 96 answers were unsure and right; of 92 sure ones 1 of 8 that were read was wrong.
    assert float(rows["rules_people", "error_rate", "all"]["value"]) == pytest.approx(92 / 96 / 8)
    assert rows["rules_people", "error_rate", "unsure"]["value"] == "0.0"
    assert rows["rules_people", "error_rate", "sure"]["answers"] == "92"
    for compared in ("coder_coder", "rules_people"):
        for measure in ("alpha", "kappa"):
            row = rows[compared, measure, "all"]
            assert float(row["value"]) < 1
            assert row["ci_low"] <= row["value"]
            assert row["reviewed"] == "12"
    scores = read(tmp_path / "pairs_review_scores.csv")
    changed = [row for row in scores if float(row["difference"])]
    assert len(changed) == 1
    (row,) = changed
    assert float(row["association"]) - float(row["association_rules"]) == pytest.approx(
        float(row["difference"])
    )
    report = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Review by people" in report
    assert "Errors of the rules" in report


def test_strata_are_those_of_the_rules_that_drew_the_review(reviewed, tmp_path):
    for answer in Answer.objects.all():
        outcome = answer.codings.filter(coder="rules").last().outcome
        Coding.objects.create(
            answer=answer, coder="rules", version="3", outcome=outcome, code=CODES.get(outcome, 0), sure=False
        )
    call_command("analyze", "--study", reviewed.study.slug, "--output", str(tmp_path), "--resamples", "100")
    rows = {(row["measure"], row["stratum"]): row for row in read(tmp_path / "pairs_review.csv")}
    assert rows["error_rate", "unsure"]["answers"] == "4"


def test_the_page_shows_the_review(reviewed, analyst, analyst_client):
    StudyMembership.objects.create(study=reviewed.study, user=analyst, role=StudyMembership.Role.ANALYST)
    parameters = parameters_of(reviewed.study, resamples=100)
    reports.compute_report(study=reviewed.study, parameters=parameters, by=analyst)
    address = reverse("analysis:probes", kwargs={"study": reviewed.study.slug})
    page = compact(analyst_client.get(address).content.decode())
    for words in ("Review by people", "Rules and people · Fleiss’ κ", "Errors of the rules", "Rules alone"):
        assert words in page, words
    assert "3 people coded" in page or "2 people coded" in page
    assert "Review by people" not in compact(analyst_client.get(f"{address}?by=scenario").content.decode())
    table = reverse("analysis:table", kwargs={"study": reviewed.study.slug, "table": "pairs_review"})
    assert b"reversal_rate" in analyst_client.get(table).getvalue()


def test_without_codings_by_people_there_is_no_review(probed, tmp_path):
    call_command("analyze", "--study", probed.study.slug, "--output", str(tmp_path), "--resamples", "100")
    assert not (tmp_path / "pairs_review.csv").exists()
    assert "Review by people" not in (tmp_path / "report.html").read_text(encoding="utf-8")
