"""The page of a run's answers: filters, pages, unchanged text, each with the coding that counts."""

import re

import pytest
from django.http import QueryDict
from django.urls import reverse

from generation.models import Coding
from generation.pages.probing.answer_pages import ProbeAnswerFilter, answer_page
from tests.generation.pages.test_runs import text_of

pytestmark = pytest.mark.django_db
HOSTILE = "<script>alert(1)</script> **bold** [x](http://evil.example)\n{{ 7|add:7 }}"


def answers_url(run, **query):
    url = reverse("generation:answers", args=[run.study.slug, run.pk])
    return f"{url}?{'&'.join(f'{name}={value}' for name, value in query.items())}"


def keys_on(client, run, **query) -> list[int]:
    page = client.get(answers_url(run, **query)).content.decode()
    return [int(key) for key in re.findall(r"answers/(\d+)/", page)]


def recode(answer, coder, outcome, code, *, sure=True, version="9"):
    source = f"{coder} {outcome} {version}" if coder in ("person", "override") else ""
    return Coding.objects.create(
        answer=answer, coder=coder, version=version, source=source, outcome=outcome, code=code, sure=sure
    )


def test_every_answer_is_on_exactly_one_page(asked, lead_client):
    url, keys = answers_url(asked), []
    while url:
        answer = lead_client.get(url)
        keys += [line.answer.pk for line in answer.context["lines"]]
        following = answer.context["page"].next
        url = answers_url(asked).partition("?")[0] + following if following else ""
    assert keys == list(asked.answers.order_by("-pk").values_list("pk", flat=True))


@pytest.mark.parametrize(
    ("query", "number"),
    [
        ({"question": "trades.trade"}, 32),
        ({"question": "trades.story"}, 16),
        ({"scenario": "bridge"}, 24),
        ({"group": "tall_orsani"}, 12),
        ({"order": "reversed"}, 16),
        ({"code": "1"}, 16),
        ({"coded": "minus"}, 16),
        ({"code": "1", "group": "short_orsani"}, 0),
        ({"outcome": "failed"}, 0),
        ({"outcome": "no-such"}, 48),
    ],
)
def test_answers_are_filtered(asked, lead_client, query, number):
    assert len(keys_on(lead_client, asked, **query)) == number


def test_text_is_searched_in_any_case(asked, lead_client):
    answer = asked.answers.earliest("pk")
    asked.answers.filter(pk=answer.pk).update(text="Under 100 % of the LANTERNS.")
    assert keys_on(lead_client, asked, text="lanterns") == [answer.pk]
    assert keys_on(lead_client, asked, text="100+%25") == [answer.pk]


def test_people_count_before_rules_and_new_rules_before_old(asked, lead_client):
    first, second = asked.answers.filter(order="published")[:2]
    recode(first, "person", "both", 0)
    recode(second, "rules", "other", 0, sure=False)
    recode(first, "rules", "other", 0, version="10")
    assert keys_on(lead_client, asked, coded="both") == [first.pk]
    assert keys_on(lead_client, asked, coded="other") == [second.pk]
    assert second.pk in keys_on(lead_client, asked, sure="no")
    assert first.pk not in keys_on(lead_client, asked, sure="no")


@pytest.mark.parametrize(
    ("people", "counts"),
    [
        (["both"], "both"),
        (["both", "refused"], "minus"),  # two people who disagree decide nothing: the rules count
        (["both", "refused", "both"], "both"),
        (["both", "refused", "other"], "other"),
    ],
)
def test_a_majority_of_people_counts(asked, lead_client, people, counts):
    answer = asked.answers.filter(image__group__name="short_orsani", order="published").first()
    for number, outcome in enumerate(people):
        recode(answer, "person", outcome, 0, version=f"A-{number}")
    for outcome in {"minus", *people}:
        assert (answer.pk in keys_on(lead_client, asked, coded=outcome)) == (outcome == counts)
    page = lead_client.get(answers_url(asked, group="short_orsani"))
    (line,) = [line for line in page.context["lines"] if line.answer.pk == answer.pk]
    assert line.coding.outcome == counts


def test_an_override_counts_above_everything(asked, lead_client):
    answer = asked.answers.filter(order="published").first()
    Coding.objects.create(
        answer=answer,
        coder="override",
        version="1",
        source="1",
        outcome="refused",
        code=0,
        sure=True,
        reason="x",
    )
    for number in range(3):
        recode(answer, "person", "both", 0, version=f"A-{number}")
    assert keys_on(lead_client, asked, coded="refused") == [answer.pk]
    assert answer.pk not in keys_on(lead_client, asked, coded="both")


def test_a_rare_outcome_is_found_without_scanning(asked):
    rare = asked.answers.earliest("pk")
    asked.answers.filter(pk=rare.pk).update(outcome="declined", text="")
    found = answer_page(
        asked, ProbeAnswerFilter(outcome="declined"), query=QueryDict(), size=5, seconds=0, window=10
    )
    assert ([answer.pk for answer in found.page], found.stopped) == ([rare.pk], False)


def test_an_answer_is_shown_unchanged(asked, lead_client):
    answer = asked.answers.filter(order="published").first()
    asked.answers.filter(pk=answer.pk).update(text=HOSTILE)
    url = reverse("generation:answer", args=[asked.study.slug, asked.pk, answer.pk])
    for address in (answers_url(asked, text="evil"), url):
        page = lead_client.get(address).content.decode()
        assert "<script>alert" not in page
        assert "&lt;script&gt;alert(1)&lt;/script&gt; **bold** [x](http://evil.example)" in page
        assert "{{ 7|add:7 }}" in page


def test_an_answer_names_question_option_rule_and_span(asked, lead_client):
    answer = asked.answers.filter(order="reversed", image__group__name="tall_orsani").first()
    url = reverse("generation:answer", args=[asked.study.slug, asked.pk, answer.pk])
    page = text_of(lead_client.get(url))
    assert "Is this person a kite maker or a lamplighter? Choose only one." in page
    assert "plus lamplighter counts +1" in page
    assert "read from “lamplighter”" in page


def test_a_warning_comes_before_the_first_page(asked, lead_client):
    page = lead_client.get(answers_url(asked)).content.decode()
    assert '<details class="content-warning"' in page
    assert not re.search(r'<details class="content-warning"[^>]*\bopen\b', page)
    filtered = lead_client.get(answers_url(asked, code="1")).content.decode()
    assert re.search(r'<details class="content-warning"[^>]*\bopen\b', filtered)


def test_a_search_that_runs_out_of_time_continues_where_it_stopped(asked):
    rare = asked.answers.earliest("pk")
    asked.answers.filter(pk=rare.pk).update(text="A rare word.")
    filters, query, pages = ProbeAnswerFilter(text="rare"), QueryDict(), 0
    while True:
        found = answer_page(asked, filters, query=query, size=5, seconds=0, window=10)
        pages += 1
        if not found.stopped:
            break
        assert len(found.page) == 0
        query = QueryDict(found.page.next.removeprefix("?"))
    assert [answer.pk for answer in found.page] == [rare.pk]
    assert pages == 5


def test_strangers_cannot_open_an_answer(asked, analyst_client, stranger_client):
    answer = asked.answers.earliest("pk")
    urls = [answers_url(asked), reverse("generation:answer", args=[asked.study.slug, asked.pk, answer.pk])]
    assert [analyst_client.get(url).status_code for url in urls] == [200, 200]
    assert [stranger_client.get(url).status_code for url in urls] == [404, 404]


class TestOverride:
    @pytest.fixture
    def answer(self, asked):
        return asked.answers.filter(order="published", image__group__name="tall_orsani").first()

    @pytest.fixture
    def url(self, asked, answer):
        return reverse("generation:answer", args=[asked.study.slug, asked.pk, answer.pk])

    def test_a_lead_overrides_a_coding_with_a_reason(self, asked, answer, url, lead_client):
        sent = lead_client.post(url, {"outcome": "both", "reason": "It names both."}, follow=True)
        assert (
            "Your coding is saved. Your coding counts instead of all other codings of this answer."
            in text_of(sent)
        )
        assert "It names both." in text_of(sent)
        assert keys_on(lead_client, asked, coded="both") == [answer.pk]
        assert answer.codings.count() == 2

    @pytest.mark.parametrize("body", [{"outcome": "both"}, {"outcome": "nonsense", "reason": "x"}])
    def test_missing_fields_are_reported(self, answer, url, lead_client, body):
        assert lead_client.post(url, body).status_code == 400
        assert answer.codings.count() == 1

    def test_an_answer_without_a_choice_has_no_override(self, asked, lead_client):
        story = asked.answers.filter(question="story").first()
        url = reverse("generation:answer", args=[asked.study.slug, asked.pk, story.pk])
        assert "Override" not in text_of(lead_client.get(url))
        assert lead_client.post(url, {"outcome": "both", "reason": "x"}).status_code == 400
        assert not story.codings.exists()

    def test_only_a_lead_overrides(self, answer, url, analyst_client, stranger_client):
        body = {"outcome": "both", "reason": "x"}
        assert [c.post(url, body).status_code for c in (analyst_client, stranger_client)] == [403, 404]
        assert "Override" not in text_of(analyst_client.get(url))
