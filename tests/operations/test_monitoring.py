"""Alert rules and the dashboard use metrics, labels and values of /metrics, and docs describe them all."""

import json
import re
from datetime import timedelta

import promql_parser
import pytest
import yaml
from django.urls import get_resolver
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from annotation.assignment import leases
from jobs.models import Job
from tests.annotation.conftest import marking  # noqa: F401 - a fixture
from tests.annotation.factories import new_annotator, submit
from tests.project.test_layout import ROOT

ALERTS = yaml.safe_load((ROOT / "docker" / "alerts.yaml").read_text(encoding="utf-8"))
RULES = [rule for group in ALERTS["groups"] for rule in group["rules"]]
DASHBOARD = json.loads((ROOT / "docker" / "dashboard.json").read_text(encoding="utf-8"))
DOCS = (ROOT / "docs" / "operate" / "monitoring.md").read_text(encoding="utf-8")
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
SHOWN = [(panel["title"], target["expr"]) for panel in PANELS for target in panel["targets"]]
QUERIES = [(rule["alert"], rule["expr"]) for rule in RULES] + SHOWN
# Labels that Prometheus adds to each sample, and its own metric.
ADDED_LABELS = {"job", "instance"}


@pytest.fixture
def samples(admin_client, marking):  # noqa: F811
    """Return the samples of /metrics by name, after an event of each kind."""
    leased = leases.next_assignment(campaign=marking, annotator=new_annotator(marking))
    submit(leased)
    now = timezone.now()
    Job.objects.create(
        kind="draw",
        title="Draw",
        state="succeeded",
        started_at=now - timedelta(seconds=3),
        finished_at=now,
    )
    admin_client.get("/healthz")
    by_name = {"up": [{}]}
    for family in text_string_to_metric_families(admin_client.get("/metrics").content.decode()):
        for sample in family.samples:
            if not sample.name.endswith("_created"):
                by_name.setdefault(sample.name, []).append(sample.labels)
    return by_name


def parts(expression: str, kind: type) -> list:
    """Return the parts of a PromQL expression that are of a kind; raises ValueError if it cannot be parsed."""
    collected = []

    def visit(node) -> None:
        if isinstance(node, kind):
            collected.append(node)

    promql_parser.walk(promql_parser.parse(expression), visit)
    return collected


def selectors(expression: str) -> list:
    return parts(expression, promql_parser.VectorSelector)


def test_expressions_select_metrics_labels_and_values_that_exist(samples):
    for title, expression in QUERIES:
        for selector in selectors(expression):
            assert selector.name in samples, title
            labels = samples[selector.name]
            for matcher in selector.matchers.matchers:
                if matcher.name in ADDED_LABELS:
                    continue
                assert all(matcher.name in of_sample for of_sample in labels), title
                if matcher.op == promql_parser.MatchOp.Equal:
                    assert matcher.value in {of_sample[matcher.name] for of_sample in labels}, title


def test_expressions_group_by_labels_that_their_metrics_have(samples):
    for title, expression in QUERIES:
        for aggregate in parts(expression, promql_parser.AggregateExpr):
            names = {
                name for selector in selectors(str(aggregate)) for name in samples[selector.name][0]
            } | ADDED_LABELS
            assert set(aggregate.modifier.labels if aggregate.modifier else ()) <= names, title


def test_patterns_of_routes_match_routes():
    routes = all_routes(get_resolver())
    for title, expression in QUERIES:
        for selector in selectors(expression):
            for matcher in selector.matchers.matchers:
                if matcher.name == "route":
                    for pattern in matcher.value.split("|"):
                        assert any(re.fullmatch(pattern, route) for route in routes), (title, pattern)


def all_routes(resolver, before=""):
    routes = set()
    for pattern in resolver.url_patterns:
        route = before + str(pattern.pattern)
        routes |= all_routes(pattern, route) if hasattr(pattern, "url_patterns") else {route}
    return routes


def test_statuses_of_submissions_in_rules_are_those_that_annotators_are_told(samples):
    (rule,) = [rule for rule in RULES if rule["alert"] == "StereoscopeSubmissionsRefused"]
    stored = {labels["outcome"] for labels in samples["stereoscope_submissions_total"]}
    assert "accepted" in stored
    assert 'outcome!~"accepted|surplus"' in rule["expr"]


def test_every_alert_says_what_is_wrong_and_docs_say_what_to_do():
    for rule in RULES:
        assert rule["labels"]["severity"] in {"page", "ticket"}
        assert re.fullmatch(r"\d+[smh]", rule.get("for", "0s"))
        assert rule["annotations"]["summary"].endswith(".")
        for label in re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"]):
            assert label in ADDED_LABELS or f"by ({label})" in rule["expr"], rule["alert"]
        assert f"| `{rule['alert']}` |" in DOCS
    assert len({rule["alert"] for rule in RULES}) == len(RULES)
    assert set(re.findall(r"^\| `(Stereoscope\w+)` \|", DOCS, re.MULTILINE)) == {
        rule["alert"] for rule in RULES
    }


def test_the_dashboard_is_whole():
    """Panels have unique ids and places, and use a data source that the page chooses."""
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])
    cells = [
        (x, y)
        for panel in DASHBOARD["panels"]
        for place in [panel["gridPos"]]
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(set(cells)) == len(cells)
    assert max(x for x, _ in cells) < 24
    variables = {variable["name"] for variable in DASHBOARD["templating"]["list"]}
    assert set(re.findall(r"\$\{?(\w+)", json.dumps(PANELS))) <= variables
    for panel in PANELS:
        assert panel["datasource"]["uid"] == "${source}"
        for target in panel["targets"]:
            assert 'job="$job"' in target["expr"]


def families(samples) -> set[str]:
    return {re.sub(r"_(bucket|count|sum)$", "", name) for name in samples} - {"up"}


def test_every_metric_is_on_the_dashboard(samples):
    shown = {selector.name for _, expression in SHOWN for selector in selectors(expression)}
    assert families(samples) - {re.sub(r"_(bucket|count|sum)$", "", name) for name in shown} == set()


def test_docs_describe_every_metric_and_no_other(samples):
    described = {
        name
        for names in re.findall(r"^\| ((?:`stereoscope_\w+`(?:, )?)+) \|", DOCS, re.MULTILINE)
        for name in re.findall(r"\w+", names)
    }
    assert described == families(samples)
