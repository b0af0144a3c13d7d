"""Pages of all attributes, one attribute and one image, with annotators' answers."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.core.paginator import Page, Paginator
from django.db.models import Exists, OuterRef

from analysis.pages.captions import captioned
from analysis.pages.examples import answers_of, judged_images, with_boxes
from analysis.pages.machine_answers import scores_of
from analysis.pages.results_page import ResultsPage, Row, results_page
from analysis.pages.table_page import Order, table_page
from analysis.plots.figures.judgements import attribute_plot
from analysis.results.schema import MARKING
from annotation.answers.inclusion import counted
from annotation.models import Judgement, TaskAttribute
from foundation.errors import NotFound
from generation.images.signed_urls import FULL
from generation.models import Image
from studies.models import StudyGroup

IMAGES_A_PAGE = 24
ORDERS = {
    "share": Order("marked most often", "share"),
    "least": Order("marked least often", "share", largest=False),
    "shown": Order("shown most often", "shown"),
    "agreement": Order("least agreement", "alpha_value", largest=False),
    "rating": Order("highest mean rating", "mean_rating"),
    "name": Order("alphabet", "attribute", largest=False),
}


@results_page("analysis/results/attributes.html")
def attributes(page: ResultsPage) -> dict[str, Any]:
    """Show every attribute that annotators were asked about, over all groups."""
    totals: dict[str, Row] = {}
    for row in page.rows("likelihood"):
        line = totals.setdefault(
            row["attribute"],
            {"attribute": row["attribute"], "shown": 0, "marked": 0, "stereotype": 0, "random": 0},
        )
        line["shown"] += row["shown"]
        line["marked"] += row["marked"]
        line[row["role"]] += 1
    alpha = page.agreement(MARKING, "attribute", "krippendorff_alpha_nominal")
    by_attribute = {row["scope_value"]: row for row in alpha}
    visual = {row["attribute"]: row for row in page.table("visual_attributes")}
    for name, line in totals.items():
        line |= {"alpha": by_attribute.get(name), "rating": visual.get(name)}
        line["share"] = line["marked"] / line["shown"]
        line["alpha_value"] = line["alpha"]["value"] if line["alpha"] else None
        line["mean_rating"] = line["rating"]["mean"] if line["rating"] else None
    return {"found": table_page(page.request, list(totals.values()), ORDERS, name="attribute")}


@results_page("analysis/results/attribute.html")
def attribute(page: ResultsPage, attribute: str) -> dict[str, Any]:
    """Show one attribute: its likelihood by group and, for a chosen group, each image's answers."""
    likelihood_rows = [row for row in page.rows("likelihood") if row["attribute"] == attribute]
    rated = next((row for row in page.table("visual_attributes") if row["attribute"] == attribute), None)
    if not likelihood_rows and rated is None:
        raise NotFound(
            "attribute_not_found", f"There are no results of an attribute “{attribute}” in this study."
        )
    alpha = page.agreement(MARKING, "attribute", "krippendorff_alpha_nominal")
    chosen = page.groups.get(page.request.GET.get("group", ""))
    pictures = _images_shown_with(page, chosen, attribute) if chosen else None
    return {
        "attribute": attribute,
        "attribute_query": f"?{urlencode({'attribute': attribute})}{page.and_model}",
        "rows": [
            row | {"name": page.names.get(row["identity_group"], row["identity_group"])}
            for row in sorted(likelihood_rows, key=lambda row: -row["likelihood"])
        ],
        "largest": max((row["ci_high"] or row["likelihood"] for row in likelihood_rows), default=1),
        "plot": attribute_plot(likelihood_rows, page.names, attribute) if likelihood_rows else None,
        "alpha": next((row for row in alpha if row["scope_value"] == attribute), None),
        "rated": rated,
        "ratings": _ratings(page, attribute) if rated else [],
        "chosen": chosen,
        "pictures": pictures,
        "units": _units(page, list(pictures.object_list), attribute) if pictures else [],
    }


@results_page("analysis/results/image.html")
def image(page: ResultsPage, image: UUID) -> dict[str, Any]:
    """Show one image with every annotator's answers and boxes."""
    images = Image.objects.select_related("group").filter(study=page.study, retracted_at=None)
    picture = images.filter(public_id=image).first()
    if picture is None or picture.group is None:
        raise NotFound("image_not_found", "This image is not in the study, or was retracted.")
    judged = [row for row in page.rows("likelihood") if row["identity_group"] == picture.group.name]
    answers = answers_of(page, [picture], [row["attribute"] for row in judged])
    example = with_boxes(page, [picture], size=FULL)[0]
    scores = scores_of(page, picture)
    table = [
        {
            **row,
            "scores": [scores[scorer].get(row["attribute"]) for scorer in scores],
            "cells": [
                _answers_in_words(answers[str(image), row["attribute"]], drawer.pseudonym)
                for drawer in example.drawers
            ],
        }
        for row in judged
        if (str(image), row["attribute"]) in answers
    ]
    asked_attributes = [row["attribute"] for row in table]
    return {
        "image": picture,
        "example": example,
        "table": table,
        "scorers": list(scores),
        "described": captioned(page, [picture], asked_attributes)[0],
    }


def _answers_in_words(answers: list[Any], pseudonym: str) -> str:
    """Return one annotator's answers for one unit in words; imported data may have several."""
    words = ["yes" if answer.present else "no" for answer in answers if answer.pseudonym == pseudonym]
    return ", ".join(words)


def _units(page: ResultsPage, images: Sequence[Image], attribute: str) -> list[Row]:
    answers = answers_of(page, images, [attribute])
    return [
        {"example": example, "answers": answers[str(example.image.public_id), attribute]}
        for example in with_boxes(page, images, attribute=attribute)
        if (str(example.image.public_id), attribute) in answers
    ]


def _images_shown_with(page: ResultsPage, group: StudyGroup, attribute: str) -> Page[Image]:
    """Return a page of the group's images that were shown with the attribute."""
    shown_with_it = TaskAttribute.objects.filter(task__image=OuterRef("pk"), attribute__text=attribute)
    images = judged_images(page, group).filter(Exists(shown_with_it))
    return Paginator(images, IMAGES_A_PAGE).get_page(page.request.GET.get("page"))


def _ratings(page: ResultsPage, attribute: str) -> list[Row]:
    """Return the ratings of the attribute that count now, with annotators' pseudonyms."""
    return [
        {"pseudonym": pseudonym, "rating": rating, "justification": justification}
        for campaign in page.rating_campaigns
        for pseudonym, rating, justification in Judgement.objects.filter(
            annotation__in=counted(campaign), attribute__text=attribute
        )
        .order_by("pk")
        .values_list("annotation__annotator__pseudonym", "rating", "annotation__justification")
    ]
