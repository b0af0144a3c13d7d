"""The campaign metrics that a Prometheus scraper reads."""

from annotation.models import Annotation


def test_gauges_of_answers_and_leases_contain_no_names(admin_client, answered):
    """`answered` is a campaign with answers of two annotators."""
    lines = admin_client.get("/metrics").content.decode()
    values = dict(line.rsplit(" ", 1) for line in lines.splitlines() if line.startswith("stereoscope_"))
    answers = Annotation.objects.count()
    assert float(values["stereoscope_answers_recent"]) == answers > 0
    assert float(values["stereoscope_campaigns_open"]) == 1
    assert 0 <= float(values["stereoscope_last_answer_age_seconds"]) < 300
    assert "stereoscope_leases_open" in values
    assert answered.slug not in lines
