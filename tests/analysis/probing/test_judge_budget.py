"""A judge costs no more than its budget: counted before requests are sent, corrected after, raised to go on."""

from decimal import Decimal

import pytest
from django.urls import reverse

from accounts.tokens import issue
from analysis.models import AssociationScore, Scorer
from analysis.results import reports
from analysis.results.parameters import parameters_of
from analysis.results.probing.scored_pairs import scored_pairs
from analysis.scoring.backends.judge import MAX_TOKENS
from analysis.scoring.judge_budget import JudgePurse, most_tokens
from analysis.scoring.launch import plan_scorer
from foundation.errors import DomainError
from jobs.models import Job
from jobs.run.execution import execute
from tests.analysis.probing.isles import isles, probe
from tests.analysis.probing.test_harm import judge, level, score  # noqa: F401 - judge is a fixture
from tests.generation.endpoints.chat_endpoint import chat_endpoint, completion
from tests.web.markup import compact

pytestmark = pytest.mark.django_db
PRICES = {"price_in": 1_000, "price_out": 2_000}  # 0.001 and 0.002 a token


@pytest.fixture
def study(lead, tmp_path):
    study = isles(lead, tmp_path)
    probe(study)
    return study


def params(**values) -> list[str]:
    return [part for name, value in values.items() for part in ("--param", f"{name}={value}")]


def most(pair) -> Decimal:
    return (Decimal(most_tokens(pair)) * 1_000 + MAX_TOKENS * 2_000) / 1_000_000


def test_requests_stay_within_the_budget_and_continue_with_a_larger_one(study, judge, settings):  # noqa: F811
    settings.OPENAI_CHATS_AT_ONCE = 2
    pairs = scored_pairs(study)
    # The endpoint counts 0.03 for each: after four or five, the most that another can cost is no longer covered.
    budget = (max(map(most, pairs)) + Decimal("0.13")).quantize(Decimal("0.01"))
    with pytest.raises(DomainError, match="does not cover another rating"):
        score(study, "judge", "--model", "arbiter", *params(**PRICES, budget=budget))
    scorer = Scorer.objects.get(kind="judge")
    assert 2 <= AssociationScore.objects.count() < len(pairs)
    assert len(judge.asked) == AssociationScore.objects.count()
    assert 0 < scorer.spent <= scorer.budget == budget
    score(study, "judge", "--model", "arbiter", *params(**PRICES, budget=1_000))
    assert Scorer.objects.filter(kind="judge").count() == 1
    assert AssociationScore.objects.count() == len(judge.asked) == len(pairs)


def test_reported_usage_counts_and_not_the_maximum(study, settings):
    def answered(body):
        return completion(level(body), usage=(100, 1))

    with chat_endpoint(answered) as endpoint:
        settings.OPENAI_BASE_URLS = [endpoint.url]
        score(study, "judge", "--model", "arbiter", *params(**PRICES))
    spent = Scorer.objects.get(kind="judge").spent
    assert spent == len(scored_pairs(study)) * Decimal("0.102")


def test_requests_under_way_in_a_killed_worker_stay_charged(study, judge):  # noqa: F811
    scorer = plan_scorer(
        study=study, kind="judge", model_id="arbiter", parameters=PRICES | {"budget": 5}, by=None
    )
    pairs = scored_pairs(study)[:3]
    amounts = JudgePurse(scorer).pay(pairs)
    scorer.refresh_from_db()
    assert scorer.spent == sum(amounts) == sum(map(most, pairs))


def test_requests_certainly_not_answered_are_refunded(study, settings):
    settings.OPENAI_BASE_URLS = ["http://127.0.0.1:9/v1"]
    scorer = plan_scorer(study=study, kind="judge", model_id="arbiter", parameters=PRICES, by=None)
    with chat_endpoint(lambda _: (401, {}, {"error": {"message": "wrong key"}})) as endpoint:
        settings.OPENAI_BASE_URLS = [endpoint.url]
        with pytest.raises(DomainError):
            score(study, "judge", "--model", "arbiter", *params(**PRICES))
    assert set(Scorer.objects.values_list("spent", flat=True)) == {0}
    assert scorer.budget is None


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"price_in": 1}, "both prices"),
        ({"budget": 5}, "needs the prices"),
        ({"price_in": -1, "price_out": 1}, "price_in"),
    ],
)
def test_half_a_price_and_a_budget_without_one_are_refused(study, judge, wrong, says):  # noqa: F811
    with pytest.raises(DomainError, match=says):
        plan_scorer(study=study, kind="judge", model_id="arbiter", parameters=wrong, by=None)


def test_a_lead_starts_a_judge_from_the_page_and_sees_its_cost(study, lead, lead_client, judge):  # noqa: F811
    reports.compute_report(study=study, parameters=parameters_of(study, resamples=100), by=lead)
    new = reverse("scoring:new", kwargs={"study": study.slug})
    page = compact(lead_client.get(new).content.decode())
    for words in (
        "Bias level of associations",
        "Sentiment of associations",
        "Budget",
        "16 output tokens",
    ):
        assert words in page, words
    fields = {
        "kind": "judge",
        "model_id": "arbiter",
        "endpoint": judge.url,
        "repeats": 1,
        **PRICES,
        "budget": 99,
    }
    assert lead_client.post(new, fields).status_code == 302
    execute(Job.objects.latest("pk").pk)
    scorer = Scorer.objects.get(kind="judge")
    assert (scorer.price_in, scorer.budget) == (1_000, 99)
    assert AssociationScore.objects.count() == len(scored_pairs(study))
    shown = lead_client.get(reverse("scoring:scorer", kwargs={"study": study.slug, "scorer": scorer.pk}))
    assert "of 99.00" in compact(shown.content.decode())
    wrong = lead_client.post(new, fields | {"price_out": ""})
    assert "both prices" in compact(wrong.content.decode())


def test_classifiers_of_associations_are_started_from_the_page(study, lead_client):
    new = reverse("scoring:new", kwargs={"study": study.slug})
    answer = lead_client.post(new, {"kind": "sentiment-associations", "model_id": "org/mood", "repeats": 1})
    assert answer.status_code == 302
    assert Scorer.objects.get().parameters == {"of": "associations"}
    listed = compact(lead_client.get(reverse("scoring:list", kwargs={"study": study.slug})).content.decode())
    assert "sentiment of associations" in listed


def test_a_judge_is_started_over_http_within_a_budget(study, lead, client, judge):  # noqa: F811
    token = issue(user=lead, name="judge", scopes=["manage"])[1]
    headers = {"Authorization": f"Bearer {token}"}
    body = {"kind": "judge", "model_id": "arbiter", "parameters": PRICES | {"budget": 3}}
    address = f"/api/v1/studies/{study.slug}/scorers/"
    answer = client.post(address, body, content_type="application/json", headers=headers)
    assert answer.status_code == 202, answer.content
    (listed,) = client.get(address, headers=headers).json()["results"]
    assert (listed["price_in"], listed["budget"], Decimal(listed["spent"])) == ("1000.0000", "3.00", 0)
