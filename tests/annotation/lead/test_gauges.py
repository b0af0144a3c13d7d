"""What a Prometheus scraper reads of campaigns, and the alert rules that go with it."""

import re

import yaml

from annotation.models import Annotation
from tests.project.test_layout import ROOT


def test_answers_and_leases_are_told_without_names(admin_client, answered):
    """`answered` is a campaign with answers of two annotators."""
    lines = admin_client.get("/metrics").content.decode()
    values = dict(line.rsplit(" ", 1) for line in lines.splitlines() if line.startswith("stereoscope_"))
    answers = Annotation.objects.count()
    assert float(values["stereoscope_answers_recent"]) == answers > 0
    assert float(values["stereoscope_campaigns_open"]) == 1
    assert 0 <= float(values["stereoscope_last_answer_age_seconds"]) < 300
    assert "stereoscope_leases_open" in values
    assert answered.slug not in lines


def test_alert_rules_ask_for_metrics_that_exist(admin_client, answered):
    rules = yaml.safe_load((ROOT / "docker" / "alerts.yaml").read_text(encoding="utf-8"))
    expressions = [rule["expr"] for group in rules["groups"] for rule in group["rules"]]
    told = admin_client.get("/metrics").content.decode()
    for name in {name for expression in expressions for name in re.findall(r"stereoscope_\w+", expression)}:
        assert f"# TYPE {name} " in told
