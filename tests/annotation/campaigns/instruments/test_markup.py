"""The markup allowed in guidelines; no other text becomes markup."""

import re

import pytest
from django.utils.html import escape
from hypothesis import given
from hypothesis import strategies as st

from annotation.campaigns.instruments.markup import as_html


def test_paragraphs_keep_their_lines():
    assert as_html("One\ntwo\n\nThree") == "<p>One<br>\ntwo</p>\n<p>Three</p>"


def test_headings_and_lists_of_examples():
    text = "## Examples\n- a **tall hat**\n• a *paper* lantern\n\n3. look\n4. tick"
    assert as_html(text).replace("\n", "") == (
        "<h2>Examples</h2><ul><li>a <strong>tall hat</strong></li><li>a <em>paper</em> lantern</li></ul>"
        '<ol start="3"><li>look</li><li>tick</li></ol>'
    )


def test_a_paragraph_that_begins_with_a_label_explains_that_answer():
    html = as_html("Agree: it can be seen.\n\nNote: look twice.", ["Agree"])
    assert html == (
        '<p class="explains"><strong>Agree:</strong> it can be seen.</p>\n<p>Note: look twice.</p>'
    )


@pytest.mark.parametrize("plain", ["3 * 4 * 5", "***", "** **", "#hat", "-5 degrees", "1.5 metres"])
def test_stars_signs_and_numbers_that_mean_nothing_stay_as_written(plain):
    assert as_html(plain) == f"<p>{plain}</p>"


@pytest.mark.parametrize(
    "plain",
    [
        "[more](https://example.org)",
        "![](https://example.org/a.png)",
        "<https://example.org>",
        "> it",
        "`it`",
    ],
)
def test_other_markdown_stays_as_written(plain):
    assert as_html(plain) == f"<p>{escape(plain)}</p>"


def test_a_backslash_keeps_a_star():
    assert as_html(r"x\*y\*z") == "<p>x*y*z</p>"


@given(st.text(alphabet="ab *#-1.<>&\"'/=\n()[]!`_"))
def test_output_has_only_allowed_elements_and_all_are_closed(text):
    html = as_html(text, ["a"])
    rest, opened = html, []
    while "<" in rest:
        tag, rest = rest.partition("<")[2].split(">", 1)
        if tag == "br":
            continue
        if tag.startswith("/"):
            assert opened.pop() == tag[1:]
        else:
            opened.append(tag.split(" ")[0])
            assert re.fullmatch(r'p|h2|ul|ol( start="\d+")?|li|strong|em|p class="explains"', tag)
    assert opened == []
