"""Estimates by language in words, for the page and the report."""

from django.template.loader import render_to_string

from analysis.results.schema import BY_LANGUAGE
from analysis.results.summaries.language_rows import language_rows

EMPTY = dict.fromkeys(BY_LANGUAGE["by_language"])


def row(**values):
    return {**EMPTY, **values}


def test_rows_are_named_and_those_of_single_groups_left_to_the_file():
    rows = language_rows(
        [
            row(campaign_kind="stereotype_marking", language="hi", measure="theta_pooled", model="sketch"),
            row(campaign_kind="stereotype_marking", language="hi", measure="theta", identity_group="Velmari"),
            row(language="de", other_language="en", measure="cross_language_agreement"),
            row(campaign="walls", question="calm", language="es", measure="mean"),
            row(language="es", reason="too_few_annotators"),
        ]
    )
    assert [(line["about"], line["languages"], line["words"]) for line in rows] == [
        ("Images · sketch", "Hindi", "θ, pooled"),
        ("", "German and English", "Agreement between languages"),
        ("walls: calm", "Spanish", "Mean"),
        ("", "Spanish", "—"),
    ]


def test_undefined_values_are_shown_with_their_reason():
    lines = language_rows([row(language="es", n=8, annotators=2, reason="too_few_annotators")])
    page = render_to_string("analysis/partials/_languages.html", {"languages": lines})
    assert "Spanish" in page
    assert "few" in page.lower()
