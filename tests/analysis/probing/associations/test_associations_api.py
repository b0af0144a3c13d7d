"""Associations of a run's model over HTTP: those of the latest results, filtered, page by page."""

import pytest

from analysis.models import AssociationScore, Scorer
from analysis.results import reports
from analysis.results.parameters import parameters_of
from analysis.results.probing.scored_pairs import scored_pairs
from generation.models import ProbeRun
from studies.models import StudyMembership
from tests.analysis.probing.isles import PLANTED, isles, probe
from tests.annotation.api.test_labelling import Browser

pytestmark = pytest.mark.django_db


@pytest.fixture
def probed(lead, analyst, tmp_path):
    study = isles(lead, tmp_path)
    probe(study)
    StudyMembership.objects.create(study=study, user=analyst, role=StudyMembership.Role.ANALYST)
    return study


@pytest.fixture
def computed(probed, analyst):
    reports.compute_report(study=probed, parameters=parameters_of(probed, resamples=100), by=analyst)
    return probed


@pytest.fixture
def reader(analyst):
    return Browser(analyst, ["read"])


def address(study, query=""):
    run = ProbeRun.objects.filter(study=study).first()
    return f"studies/{study.slug}/probe-runs/{run.pk}/associations/?{query}"


def rows_of(study, reader, query=""):
    return reader.get(address(study, f"page_size=500&{query}")).json()["results"]


def test_associations_are_those_of_the_table(computed, reader):
    table = computed.reports.first().rows("associations")
    rows = rows_of(computed, reader)
    assert len(rows) == min(500, len(table)) > 0
    assert all(row[name] == table[0][name] for row in rows[:1] for name in row)


def test_planted_associations_are_found_by_the_exact_test(computed, reader):
    rows = rows_of(computed, reader, "significant=exact&descriptor=kite+maker")
    assert {row["word"] for row in rows} == set(PLANTED["kite maker"])
    assert all(row["significant_exact"] for row in rows)
    assert rows_of(computed, reader, "significant=exact&word=unsaid") == []
    refused = reader.get(address(computed, "significant=perhaps"))
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "filter_unknown")


def test_scores_of_classifiers_are_in_the_row_of_their_pair(probed, analyst, reader):
    scorer = Scorer.objects.create(
        study=probed, kind="sentiment", model_id="mood", model_label="mood", configuration="mood"
    )
    for place, pair in enumerate(scored_pairs(probed)):
        AssociationScore.objects.create(
            scorer=scorer, key=f"{place}", text=pair.text, label="NEGATIVE", score=0.9
        )
    reports.compute_report(study=probed, parameters=parameters_of(probed, resamples=100), by=analyst)
    rows = rows_of(probed, reader, "significant=exact")
    assert {row["sentiment"] for row in rows} == {"negative"}


def test_every_association_is_on_one_page(computed, reader):
    whole, rows, following = rows_of(computed, reader), [], f"/api/v1/{address(computed, 'page_size=3')}"
    while following and len(rows) < len(whole):
        page = reader.client.get(following).json()
        rows += page["results"]
        following = page["next"]
    assert rows[: len(whole)] == whole


def test_associations_of_other_models_are_not_listed(computed, reader):
    ProbeRun.objects.update(model_label="another")
    assert rows_of(computed, reader) == []


def test_without_results_it_says_so(probed, reader):
    refused = reader.get(address(probed))
    assert (refused.status_code, refused.json()["error"]["code"]) == (404, "no_results")


def test_strangers_get_404(computed, stranger, lead):
    assert Browser(stranger, ["read"]).get(address(computed)).status_code == 404
    assert Browser(lead, ["annotate"]).get(address(computed)).status_code == 403
