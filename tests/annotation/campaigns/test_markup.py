"""What leads may write in guidelines, and that nothing they write becomes markup of its own."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.campaigns.instruments.markup import as_html


def test_paragraphs_keep_their_lines():
    assert as_html("One\ntwo\n\nThree") == "<p>One<br>two</p>\n<p>Three</p>"


def test_headings_and_lists_of_examples():
    text = "## Examples\n- a **tall hat**\n- a *paper* lantern\n\n1. look\n2) tick"
    assert as_html(text) == (
        "<h2>Examples</h2>\n<ul><li>a <strong>tall hat</strong></li><li>a <em>paper</em> lantern</li></ul>\n"
        "<ol><li>look</li><li>tick</li></ol>"
    )


def test_a_paragraph_that_begins_with_a_label_explains_that_answer():
    html = as_html("Agree: it can be seen.\n\nNote: look twice.", ["Agree"])
    assert html == (
        '<p class="explains"><strong>Agree:</strong> it can be seen.</p>\n<p>Note: look twice.</p>'
    )


@pytest.mark.parametrize("plain", ["3 * 4 * 5", "x*y*z", "***", "** **", "#hat", "-5 degrees", "1.5 metres"])
def test_stars_signs_and_numbers_that_mean_nothing_stay_as_written(plain):
    assert as_html(plain) == f"<p>{plain}</p>"


@given(st.text(alphabet="ab *#-1.<>&\"'/=\n()[]!`_"))
def test_whatever_is_written_only_the_allowed_elements_come_out_and_each_is_closed(text):
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
            assert tag in {"p", "h2", "ul", "ol", "li", "strong", "em", 'p class="explains"'}
    assert opened == []
