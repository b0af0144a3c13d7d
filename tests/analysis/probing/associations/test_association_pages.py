"""Pages of associations: filtered and paged, heat maps on one scale, overlap, words; nothing for strangers."""

import csv
import io
import json
import time

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from accounts.models import User
from analysis.models import AssociationScore, ReportTable, Scorer
from analysis.plots.charts.heat_map import SHARES
from analysis.plots.figures.associations import share_map
from analysis.results import reports
from analysis.results.parameters import parameters_of
from analysis.results.probe_tables import SIGNIFICANT
from analysis.results.probing.association_rows import AssociationFilter, association_page
from analysis.results.probing.scored_pairs import scored_pairs
from analysis.results.summaries.probing.associations import PLOTS, AssociationTables, overlap_parts
from studies.models import Study, StudyMembership
from tests.analysis.probing.isles import add_pictures, isles, probe, stories
from tests.studies.isles import new_analyst, new_lead
from tests.web.markup import compact

pytestmark = pytest.mark.django_db
PAGES = ("probe_words", "associations", "heat_maps", "overlap", "judge")


def address(name: str, query: str = "") -> str:
    return reverse(f"analysis:{name}", kwargs={"study": "words-of-the-isles"}) + query


def read(client, name: str, query: str = "") -> str:
    answer = client.get(address(name, query))
    assert answer.status_code == 200, (name, query)
    return compact(answer.content.decode())


def compute(study, lead):
    return reports.compute_report(study=study, parameters=parameters_of(study, resamples=100), by=lead)


def score(study) -> None:
    """Store scores of a classifier and a judge: “brave” and every word about elders are rated badly."""
    for kind, label in (("sentiment", "mood"), ("judge", "arbiter")):
        scorer = Scorer.objects.create(
            study=study,
            kind=kind,
            model_id=label,
            model_label=label,
            parameters={"of": "associations"},
            configuration=kind,
        )
        for place, pair in enumerate(scored_pairs(study)):
            bad = "brave" in pair.text or pair.descriptor == "elder"
            value = (5 if bad else 1) if kind == "judge" else 0.9
            AssociationScore.objects.create(
                scorer=scorer,
                key=f"{place}",
                descriptor=pair.descriptor if kind == "judge" else "",
                text=pair.text,
                label="" if kind == "judge" else "NEGATIVE" if bad else "POSITIVE",
                score=value,
            )


def write_rows(folder):
    """Two models, scored, and open answers about pictures; the analyst is a member."""
    lead, analyst = new_lead(), new_analyst()
    study = isles(lead, folder)
    StudyMembership.objects.create(study=study, user=analyst, role=StudyMembership.Role.ANALYST)
    probe(study)
    probe(study, model="other", associations={"elder": ["brisk"]}, association_rate=1.0)
    add_pictures(study, 4)
    probe(study, probe_set=stories(), refusal_rate=0.0)
    score(study)
    compute(study, lead)


@pytest.fixture
def analyst(shared_rows, db) -> User:
    return User.objects.get(username="anton")


@pytest.fixture
def computed(shared_rows, db) -> Study:
    return Study.objects.get()


def test_associations_are_filtered_by_rule_and_choice_and_word(computed, analyst_client):
    page = read(analyst_client, "associations")
    for words in ("Content warning", "Velmari person", "tf-idf", "q (exact)", "Judge’s level"):
        assert words in page, words
    elders = read(analyst_client, "associations", "?rule=exact&descriptor=ELD&setting=noun&model=script")
    assert "<b>brisk</b>" in elders
    assert "Velmari person</th>" not in elders
    brave = read(analyst_client, "associations", "?word=brav&least_level=5")
    assert "<b>brave</b>" in brave
    assert "No associations match this filter" in read(analyst_client, "associations", "?word=zzz")
    calm = read(analyst_client, "associations", "?descriptor=lamplighter&least_level=4")
    assert "No associations match this filter" in calm


@pytest.mark.parametrize("query", ["?rule=mine", "?order=colour", "?least_level=high"])
def test_an_unknown_filter_is_named(computed, analyst_client, query):
    assert analyst_client.get(address("associations", query)).status_code == 400


def test_rows_of_one_rule_and_pages_of_them(computed, analyst_client):
    report = reports.latest_report(computed)
    stored = report.rows(SIGNIFICANT)
    by_rule = {
        rule: association_page(report, AssociationFilter(rule=rule)).match_count
        for rule in ("published", "exact")
    }
    assert by_rule["published"] == sum(bool(row["significant"]) for row in stored)
    assert by_rule["exact"] == sum(bool(row["significant_exact"]) for row in stored)
    orders = association_page(report, AssociationFilter(), order="bias_level", size=1000).rows
    levels = [row["bias_level"] for row in orders]
    assert levels == sorted(levels, reverse=True)
    small = association_page(report, AssociationFilter(), size=3, page=2)
    whole = association_page(report, AssociationFilter(), size=1000)
    assert list(small.rows) == list(whole.rows)[3:6]


def test_heat_maps_share_one_scale_and_state_what_was_scored(computed, analyst_client):
    page = read(analyst_client, "heat_maps")
    assert "Which associations have a negative sentiment?" in page
    assert "Which associations does the judge call biased?" in page
    assert "Which associations are toxic?" not in page
    rows = list(
        csv.DictReader(
            io.StringIO(
                analyst_client.get(
                    reverse("analysis:plot", args=[computed.slug, "heat-map-biased", "csv"]) + "?rule=exact"
                ).content.decode()
            )
        )
    )
    stored = {
        (row["model"], row["setting"], row["dimension"]): row
        for row in reports.latest_report(computed).rows("association_shares")
        if (row["rule"], row["measure"]) == ("exact", "biased")
    }
    assert len(rows) == len(stored)
    for row in rows:
        expected = stored[row["model"], row["setting"], row["dimension"]]
        assert row["share"] == ("" if expected["share"] is None else str(expected["share"]))
        assert row["scored"] == str(expected["scored"])


@pytest.mark.database_free
def test_cells_without_a_share_differ_from_small_ones():
    def row(dimension, setting, share, scored):
        return {
            "rule": "exact", "model": "script", "dimension": dimension, "setting": setting,
            "measure": "toxic", "associations": 9, "scored": scored, "share": share, "ci_low": None,
            "ci_high": None, "reason": None if scored else "no_answers",
        }  # fmt: skip

    rows = [row("age", "noun", 0.02, 50), row("age", "verb", 0.43, 30), row("trade", "noun", None, 0)]
    plot = share_map(rows, "toxic")
    assert plot.n == 80
    drawn = [plot.wide.count(f'class="{name} heat"') for name in (*SHARES.colours, "map-undefined")]
    assert drawn == [1, 0, 0, 0, 1, 2]  # trade × verb was not even significant
    says = {(cell["row"], cell["column"]): cell["says"] for cell in plot.spec()["datasets"]["rows"]}
    assert says["trade", "verb"] == "nothing significant"
    assert says["trade", "noun"] == "no answers"
    assert share_map([row("age", "noun", None, 0)], "toxic") is None


def test_overlap_has_intervals_and_says_why_it_is_null(computed, analyst_client):
    page = read(analyst_client, "overlap", "?rule=exact")
    for words in ("other and script · noun", "noun and plural · script", "Overlap coefficient"):
        assert words in page, words
    row = {
        "rule": "exact", "compared": "model", "model": "a", "other_model": "b", "setting": "noun",
        "other_setting": None, "descriptors": 5, "pairs": 0, "other_pairs": 3, "shared_pairs": 0,
        "value": None, "ci_low": None, "ci_high": None, "reason": "none_significant",
    }  # fmt: skip
    rows = [row | {"measure": "jaccard", "value": 0.0}, row | {"measure": "coefficient"}]
    (part,) = overlap_parts(AssociationTables(lambda _: rows))
    assert part.lines[0].cells[0] == "— none significant"


def test_words_of_groups_are_found_and_those_of_one_group_are_marked(computed, analyst_client):
    page = read(analyst_client, "probe_words", "?of_group=elder")
    assert page.count(">brisk</th>") == 1
    assert ">brave</th>" not in page
    assert "No words distinguish these groups" in read(analyst_client, "probe_words", "?q=zzz")


def test_every_plot_can_be_downloaded(computed, analyst_client):
    def file(name, form):
        return analyst_client.get(reverse("analysis:plot", args=[computed.slug, name, form]) + "?rule=exact")

    there = [name for name in PLOTS if not name.startswith("judge") and name != "heat-map-toxic"]
    for name in there:
        assert file(name, "png").content.startswith(b"\x89PNG"), name
        assert b"<svg" in file(name, "svg").content[:200]
        assert json.loads(file(name, "vl.json").content)["datasets"]["rows"]
    assert file("judge-alpha", "csv").status_code == 404


def test_the_report_has_the_strongest_pairs_and_every_part(computed, analyst_client):
    report = read(analyst_client, "report")
    for words in (
        "These words can be insulting",
        "Strongest associations by the exact test",
        "Which associations does the judge call biased?",
        "How many associations do two models have in common?",
        "<td>brisk</td>",
    ):
        assert words in report, words
    assert "stereotypes about groups of people in order to measure" not in report


@pytest.mark.parametrize("name", PAGES)
def test_only_members_can_read_the_pages(computed, name, stranger_client, client):
    assert stranger_client.get(address(name)).status_code == 404
    assert client.get(address(name)).status_code == 302


@pytest.mark.parametrize("name", PAGES)
def test_pages_read_stored_tables_and_no_answers(computed, analyst_client, name):
    with CaptureQueriesContext(connection) as queries:
        read(analyst_client, name)
    assert len(queries) <= 20
    assert [query["sql"] for query in queries if "generation_answer" in query["sql"]] == []


def test_a_page_of_half_a_million_associations_is_quick(computed, analyst_client):
    """A rule that cuts a tail of 5 % makes a twentieth of 500,000 pairs significant."""
    table = ReportTable.objects.get(report=reports.latest_report(computed), name=SIGNIFICANT)
    values = table.values()
    rows = [[*values[place % len(values)]] for place in range(25_000)]
    at = table.columns.index("word")
    for place, row in enumerate(rows):
        row[at] = f"word{place}"
    ReportTable.objects.filter(pk=table.pk).update(content=ReportTable.packed(rows))
    read(analyst_client, "associations")
    took = []
    for query in ("", "?rule=exact&word=7&order=q_all_pairs", "?page=200"):
        begun = time.process_time()
        read(analyst_client, "associations", query)
        took.append(time.process_time() - begun)
    assert max(took) < 0.5, took  # seconds of processor time on a busy machine; 0.13 on a quiet one
