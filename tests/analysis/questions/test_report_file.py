"""report.html of a study that asks declared questions: every table with intervals, counts and reasons, and plots."""

import io
import json
import re

import pytest
from django.core.management import call_command
from django.urls import reverse

from analysis.results import reports
from analysis.results.parameters import parameters_of
from annotation.kinds.questions import ChoiceQuestion, CodedAnswer, TextQuestion
from annotation.kinds.stimuli import Stimuli
from annotation.models import Annotation
from generation.models import Image
from studies.models import StudyGroup
from tests.analysis.questions.campaigns import Given, images_of, label, open_campaign, people
from tests.analysis.questions.every_kind import answer_every_kind
from tests.analysis.questions.kinds import PAIR, RANKING, RUBRIC, both, kind, scale

pytestmark = pytest.mark.django_db
HOSTILE = "</td><script>alert(1)</script><img src=x onerror=alert(2)>\"'"


def analyzed(folder) -> str:
    call_command("analyze", study="isles", output=folder, resamples=100, stdout=io.StringIO())
    return " ".join((folder / "report.html").read_text(encoding="utf-8").split())


def section(page: str, kind) -> str:
    """Return the section of the report about one campaign."""
    return page.split(f"<h2>{kind.name}</h2>")[1].split("<h2>")[0]


def words(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def test_every_question_of_every_campaign_has_its_tables(study, tmp_path):
    answer_every_kind(study)
    page = analyzed(tmp_path / "results")
    summary = json.loads((tmp_path / "results" / "summary.json").read_text())
    for declared, line in zip((PAIR, RANKING, RUBRIC), summary["questions"], strict=True):
        part = section(page, declared)
        for question, asked in zip(declared.questions, line["questions"], strict=True):
            about = part.split(f"<h3>{question.label['en']}</h3>")[1].split("<h3>")[0]
            assert f"{asked['answers']} answers" in words(about)
            assert about.count("<table>") >= 1, question.name
            if question.type != "text":
                assert "95 % interval" in about
        assert f"{line['annotations']} screens answered by 4 annotators, with 24 images." in words(part)
        assert "<h3>Methods</h3>" in part
    assert section(page, RANKING).count("<figure>") == 1
    # Means and shares of two scales, shares of two choices, marked words.
    assert section(page, RUBRIC).count("<figure>") == 2 * 2 + 2 + 1
    assert "<svg" in section(page, PAIR)


def test_numbers_in_the_file_equal_those_of_the_tables(study, tmp_path):
    answer_every_kind(study)
    page = analyzed(tmp_path / "results")
    rows = (tmp_path / "results" / "scales.csv").read_text().splitlines()
    heads = rows[0].split(",")
    whole = next(
        dict(zip(heads, row.split(","), strict=True)) for row in rows[1:] if "rubric,realism,all," in row
    )
    means = section(page, RUBRIC).split("<h3>Realism</h3>")[1].split("<caption>Mean</caption>")[1]
    line = words(means.split("All answers")[1])
    found = f"{float(whole['mean']):.2f} {float(whole['ci_low']):.2f} to {float(whole['ci_high']):.2f}"
    assert line.startswith(found)
    assert "Why values are missing" not in means.split("</table>")[0]


def test_a_missing_number_has_its_reason(study, tmp_path):
    answer_every_kind(study)
    Annotation.objects.exclude(annotator__source_id="p000").update(status="excluded")
    page = analyzed(tmp_path / "results")
    assert "excluded by the lead" in words(section(page, RUBRIC))
    agreement = words(section(page, RUBRIC).split("<caption>Agreement</caption>")[1].split("</table>")[0])
    assert "—" in agreement
    assert "Why values are missing" in agreement
    assert "no unit rated twice" in agreement.split("All answers")[1]


def test_a_report_on_questions_alone_does_not_mention_stereotypes(study, tmp_path):
    answer_every_kind(study)
    page = words(analyzed(tmp_path / "results").split("</header>")[1])
    assert "tereotyp" not in page
    assert "no judgements of images yet" not in page


def test_a_report_on_both_covers_both(marked, tmp_path):
    before = analyzed(tmp_path / "before")
    open_campaign(marked.study, PAIR, [])
    after = analyzed(tmp_path / "after")
    assert "<h2>Pair</h2>" not in before
    assert "There is nothing to measure yet." in section(after, PAIR)
    for page in (before, after):
        assert "names stereotypes about groups of people" in page
        assert "The stereotypical tendency θ" in page


def test_free_text_is_left_out_and_all_else_is_escaped(study, tmp_path):
    StudyGroup.objects.update(display_name=HOSTILE)
    hostile = kind(
        "hostile",
        name=HOSTILE,
        stimuli=Stimuli(medium="image"),
        questions=(
            scale("level"),
            ChoiceQuestion(
                name="shows",
                label=both(HOSTILE),
                answers=tuple(CodedAnswer(code=code, label=both(f"{code} {HOSTILE}")) for code in "ab"),
            ),
            TextQuestion(name="why", label=both(f"Why? {HOSTILE}")),
        ),
        unit="image",
        measures=("means", "group_differences", "shares", "model_differences", "texts"),
    )
    images = images_of(study, models=[HOSTILE, "birch"], prompts=2)
    annotators = people(study, 3)
    campaign = open_campaign(study, hostile, annotators)

    def answer(person, shown):
        yield Given.of("level", rating=1 + person)
        yield Given.of("shows", code="ab"[person % 2])
        yield Given.of("why", text=f"my secret {HOSTILE}")

    label(campaign, [[image] for image in images], annotators, answer)
    page = analyzed(tmp_path / "results")
    assert Image.objects.filter(model_label=HOSTILE).exists()
    assert page.count("&lt;script&gt;") > 10
    assert "<script" not in page
    assert "<img" not in page
    assert "secret" not in page
    assert "12 answers · what people wrote is on the page Questions" in words(page)


def test_the_page_offers_the_same_file(study, analyst, analyst_client, tmp_path):
    answer_every_kind(study)
    page = analyzed(tmp_path / "results")
    parameters = parameters_of(study, resamples=100)
    reports.compute_report(study=study, parameters=parameters, by=analyst)
    answer = analyst_client.get(reverse("analysis:report", kwargs={"study": "isles"}))
    assert section(" ".join(answer.content.decode().split()), RUBRIC) == section(page, RUBRIC)
