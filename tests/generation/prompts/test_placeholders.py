"""Templates become the sentences given to a model."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundation.errors import DomainError
from generation.prompts.placeholders import check, render


@pytest.mark.parametrize(
    ("template", "group", "attribute", "said"),
    [
        ("a photo of {id} person", "Velmari", None, "a photo of Velmari person"),
        # Published as it is: an article in plain text stays, right or wrong.
        ("an {id} person", "Velmari", None, "an Velmari person"),
        ("{A_an} {id} person", "Velmari", None, "A Velmari person"),
        ("{A_an} {id} person", "Orsani", None, "An Orsani person"),
        ("A photo of {a_an} {id} {attr} person", "Orsani", "kind", "A photo of an Orsani kind person"),
        ("{a_an} {attr} {id} person", "Velmari", "honest", "an honest Velmari person"),
        ("{a_an} hour with {a_an} {id} person", "European", None, "an hour with a European person"),
        ("{A_an} {id} person described as {attr}", "Ugandan", "tall", "A Ugandan person described as tall"),
        ("{a_an} {id}", "Ukrainian", None, "a Ukrainian"),
        ("{a_an} {id}", "United Kingdom", None, "a United Kingdom"),
        ("{a_an} {id}", "Uruguayan", None, "a Uruguayan"),
        ("{a_an} {id}", "Uyghur", None, "a Uyghur"),
        ("{a_an} {id}", "Uttar Pradeshi", None, "an Uttar Pradeshi"),
        ("{a_an} {id}", "Emirati", None, "an Emirati"),
        ("{a_an} {id}", "Honduran", None, "a Honduran"),
        ("{a_an} “{id}” person", "Irish", None, "an “Irish” person"),
        ("{a_an} very {id} person", "Irish", None, "a very Irish person"),
    ],
)
def test_places_are_filled_and_articles_fit_the_word_that_follows(template, group, attribute, said):
    assert render(template, group=group, attribute=attribute) == said


@given(st.text(st.characters(exclude_characters="{}")))
def test_plain_text_stays_as_it_is(text):
    assert render(text, group="Velmari") == text


def test_braces_in_a_groups_name_are_only_text():
    assert render("{id}!", group="{attr}") == "{attr}!"


@pytest.mark.parametrize(
    ("template", "sentence"),
    [
        (
            "a {nation} person",
            "has {nation}, which is not one of the placeholders {id}, {attr}, {phrase}, {person}, "
            "{singular}, {plural}, {a_an}, {A_an}",
        ),
        ("a {} person", "has {}, which is not one of"),
        ("a {ID} person", "has {ID}, which is not"),
        ("a {id person", "has a “{” without the matching brace"),
        ("a id} person", "has a “}” without the matching brace"),
        ("a {{id}} person", "has a “{” without the matching brace"),
    ],
)
def test_unknown_placeholders_are_refused_by_name(template, sentence):
    for read in (check, lambda text: render(text, group="Velmari")):
        with pytest.raises(DomainError) as refusal:
            read(template)
        assert sentence in refusal.value.message


def test_an_article_needs_a_word_after_it():
    with pytest.raises(DomainError, match="has a placeholder for an article with no word after it"):
        render("{id} is {a_an} !", group="Velmari")


def test_a_prompt_with_attr_needs_an_attribute():
    with pytest.raises(DomainError, match="has no value for"):
        render("{id} {attr}", group="Velmari")


def test_the_places_of_a_template_are_known():
    assert check("{A_an} {id} person described as {attr}") == {"A_an", "id", "attr"}
