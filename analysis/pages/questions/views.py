"""Answers to declared questions: a page for each campaign that asks them."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Page, Paginator
from django.db.models import Q

from analysis.pages.results_page import ResultsPage, results_page
from analysis.plots.plot import Plot
from analysis.results.data.exclusions import WORDS
from analysis.results.summaries.questions.estimate_tables import (
    QuestionPart,
    QuestionSource,
    Row,
    other_condition,
)
from analysis.results.summaries.questions.parts import parts_of, plot_of
from annotation.answers.inclusion import counted
from annotation.kinds.declaration import Kind
from annotation.kinds.registry import kind_of
from annotation.models import Campaign, Judgement
from foundation.errors import NotFound

TEXTS_A_PAGE = 50
FEW_TEXTS = 5
QUESTION_PLOTS = ("strengths", "means", "shares", "words")


@dataclass(frozen=True)
class QuestionSection:
    """A question with its parts. `texts`: the texts that annotators wrote; None for other types of answer."""

    line: Row
    parts: list[QuestionPart]
    query: str
    texts: Page[Judgement] | None


@results_page("analysis/results/questions.html")
def questions(page: ResultsPage) -> dict[str, Any]:
    """Show the answers to each question of a campaign, or to `question` in the address with all texts."""
    if not page.questions:
        return {"campaign": None}
    chosen = line_of(page)
    campaign, kind = _declared(page, chosen)
    only = page.request.GET.get("question")
    if only is not None and only not in {line["name"] for line in chosen["questions"]}:
        raise NotFound("question_not_found", f"This campaign does not have a question “{only}”.")
    shown = [line for line in chosen["questions"] if only is None or line["name"] == only]
    return {
        "campaign": chosen,
        "condition": other_condition(chosen),
        "kind": kind,
        "only": only,
        "answered": [
            QuestionSection(
                line=line,
                parts=parts_of(_source(page, chosen, kind, line)),
                query="?" + urlencode({"campaign": chosen["campaign"], "question": line["name"]}),
                texts=_texts(page, campaign, line["name"], few=only is None)
                if line["type"] == "text" and campaign is not None
                else None,
            )
            for line in shown
        ],
        "not_counted": [
            (WORDS.get(reason, reason), number) for reason, number in chosen["not_counted"].items()
        ],
    }


def line_of(page: ResultsPage) -> Row:
    """Return the summary of the campaign in the address, or of the first."""
    slug = page.request.GET.get("campaign", page.questions[0]["campaign"])
    for line in page.questions:
        if line["campaign"] == slug:
            return line
    raise NotFound("campaign_not_found", f"These results have no campaign “{slug}” that asks questions.")


def the_plot(page: ResultsPage, name: str) -> Plot | None:
    """Return a plot of the question in the address."""
    if not page.questions:
        return None
    chosen = line_of(page)
    _, kind = _declared(page, chosen)
    question = page.request.GET.get("question", "")
    line = next((line for line in chosen["questions"] if line["name"] == question), None)
    return None if line is None else plot_of(_source(page, chosen, kind, line), name)


def _declared(page: ResultsPage, line: Row) -> tuple[Campaign, Kind]:
    for campaign in page.campaigns:
        if campaign.slug == line["campaign"]:
            return campaign, kind_of(campaign)
    raise NotFound("campaign_not_found", "The campaign was deleted after these results were computed.")


def _source(page: ResultsPage, chosen: Row, kind: Kind, line: Row) -> QuestionSource:
    def rows(table: str) -> list[Row]:
        equal = {"campaign": chosen["campaign"], "question": line["name"]}
        return [row for row in page.table(table) if equal.items() <= row.items()]

    return QuestionSource(rows, kind.question(line["name"]), line["measures"], page.names)


def _texts(page: ResultsPage, campaign: Campaign, question: str, *, few: bool) -> Page[Judgement]:
    """Return the texts that count now, without texts withdrawn since the report."""
    left_out = page.report.parameters["without_annotators"]
    person = Q(annotation__annotator__pseudonym__in=left_out) | Q(
        annotation__annotator__source_id__in=left_out
    )
    texts = Judgement.objects.filter(question=question, annotation__in=counted(campaign).values("pk"))
    texts = texts.exclude(person) if left_out else texts
    texts = texts.select_related("stimulus__image__group").prefetch_related(
        "annotation__task__stimuli__image__group"
    )
    pages = Paginator(texts.order_by("pk"), FEW_TEXTS if few else TEXTS_A_PAGE)
    return pages.get_page(None if few else page.request.GET.get("page"))
