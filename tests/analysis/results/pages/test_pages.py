"""The analyst's pages: access, content and number of queries."""

import re

import pytest
from django.test import Client

from accounts.models import Annotator, User
from analysis.models import Report
from analysis.results import reports
from analysis.results.parameters import parameters_of
from analysis.results.reports import compute_report
from annotation.models import Annotation
from studies.membership import break_glass
from tests.analysis.results.pages.labelled_study import PAGES, address, every_address, write_study
from tests.web.markup import compact

pytestmark = pytest.mark.usefixtures("shared_rows")


def write_rows(folder):
    write_study()


def test_every_page_answers(marked, report, analyst_client):
    for url in every_address(marked):
        assert analyst_client.get(url).status_code == 200, url


def test_leads_see_results_too_and_administrators_by_break_glass(marked, report, lead_client):
    assert lead_client.get(address("overview")).status_code == 200
    administrator, root = Client(), User.objects.create_superuser("root", password="a long password")
    administrator.force_login(root)
    assert administrator.get(address("overview")).status_code == 403
    break_glass.open_study(study=marked.study, by=root, reason="The lead cannot open the results.")
    assert administrator.get(address("overview")).status_code == 200


def test_strangers_and_annotators_see_nothing(marked, report, stranger_client, annotator):
    annotator_client = Client()
    annotator_client.force_login(annotator.user)
    for client in (stranger_client, annotator_client):
        for url in every_address(marked):
            answer = client.get(url)
            assert answer.status_code == 404
            assert b"Velmari" not in answer.content
        assert client.post(address("compute")).status_code == 404
        assert client.post(address("compare_compute")).status_code == 404
        for url in ("/api/v1/studies/isles/results/", "/api/v1/studies/isles/results/tendency.csv"):
            assert client.get(url).status_code == 404
    assert Client().get(address("overview")).status_code == 302
    assert Client().get("/api/v1/studies/isles/results/").status_code == 401


def test_the_overview_shows_the_headline_and_missing_parts(marked, report, analyst_client):
    page = " ".join(analyst_client.get(address("overview")).content.decode().split())
    assert "5.00" in page  # the pooled θ of test_analyze_command
    assert "only stereotypes were marked" in page
    assert "These labels come from simulated annotators" not in page


def test_a_simulated_study_says_so_on_every_page(marked, analyst, analyst_client):
    marked.study.simulated = True
    marked.study.save()
    compute_report(study=marked.study, parameters=parameters_of(marked.study, resamples=200), by=analyst)
    for page in PAGES:
        assert (
            "These labels come from simulated annotators"
            in analyst_client.get(address(page)).content.decode()
        )


def test_later_judgements_are_announced_and_recomputing_counts_them(marked, report, analyst_client):
    newcomer = Annotator.objects.create()
    task = marked.images["v1"].tasks.get()
    task.wanted = 4
    task.save()
    annotation = marked.submit(task, newcomer, 3, none=False)
    for item in task.task_attributes.all():
        annotation.judgements.create(attribute=item.attribute, present=True)
    assert "4 judgements were added after" in " ".join(
        analyst_client.get(address("groups")).content.decode().split()
    )
    analyst_client.post(address("compute"), {"resamples": "200"})
    assert "added after" not in analyst_client.get(address("groups")).content.decode()
    row = next(
        row
        for row in Report.objects.latest("pk").rows("likelihood")
        if (row["identity_group"], row["attribute"]) == ("Velmari", "tall hat")
    )
    assert (row["marked"], row["shown"]) == (5, 7)


def test_groups_are_filtered_by_the_address(marked, report, analyst_client):
    page = analyst_client.get(address("groups") + "?q=vel").content.decode()
    assert "Velmari" in page
    assert "Orsani" not in page
    assert "No such group" in analyst_client.get(address("groups") + "?q=nobody").content.decode()


def test_an_order_by_offensiveness_shows_offensiveness_first_and_on_the_map(marked, report, analyst_client):
    page = analyst_client.get(address("groups") + "?order=offensiveness")
    assert page.context["measure"].key == "offensiveness"
    heads = re.findall(r'data-key="(\w+)"', page.content.decode())
    assert heads[:2] == ["group", "offensiveness"]
    assert heads.count("offensiveness") == 1
    chosen = analyst_client.get(address("groups") + "?order=offensiveness&map=theta")
    assert chosen.context["measure"].key == "theta"


def test_boxes_name_the_attribute_they_mark(marked, report, analyst_client):
    page = analyst_client.get(address("group", group="Velmari")).content.decode()
    assert re.findall(r'class="box-name"[^>]*>([^<]+)<', page)


@pytest.mark.parametrize("page", ["groups", "overview"])
def test_a_page_with_both_says_what_smoothing_is(marked, report, analyst_client, page):
    assert compact(analyst_client.get(address(page)).content.decode()).count("θ smoothed adds a small") >= 1


def test_a_group_shows_everybodys_boxes(marked, report, analyst_client):
    page = analyst_client.get(address("group", group="Velmari")).content.decode()
    for annotator in marked.annotators.values():
        assert annotator.pseudonym in page
    # v1: six boxes (p 2, q 2, r 1), v2: two of q; each is a halo and a line
    assert page.count('class="box-halo"') == 7


def test_withdrawn_labels_vanish_from_the_examples(marked, report, analyst_client):
    q = marked.annotators["q"]
    Annotation.objects.filter(annotator=q).update(status="excluded")
    page = analyst_client.get(address("group", group="Velmari")).content.decode()
    assert q.pseudonym not in page
    assert page.count('class="box-halo"') == 3


def test_the_attribute_page_lists_all_answers(marked, report, analyst_client):
    url = address("attribute", attribute="tall hat") + "?group=Velmari"
    page = compact(analyst_client.get(url).content.decode())
    p = marked.annotators["p"].pseudonym
    assert f'{p}<b class="answer yes">yes</b>' in page  # v1
    assert f'{p}<b class="answer no">no</b>' in page  # v2


def test_the_threshold_explorer_counts_by_the_chosen_rule(marked, report, analyst_client):
    # tall hat 5 4 5, blue scarf 5 5 5, kind 1 3 4 (mean 2.67), clever 2 2 1
    def counted(query: str) -> str:
        page = " ".join(analyst_client.get(address("visual_attributes") + query).content.decode().split())
        return page.split('<p class="result-line">')[1].split("</p>")[0]

    assert counted("").startswith("<strong>2</strong> of 4")
    assert counted("?rule=mean&threshold=2.6").startswith("<strong>3</strong> of 4")
    for wrong in ("nonsense", "nan", "inf", "-inf"):
        assert counted(f"?rule=mean&threshold={wrong}").startswith("<strong>2</strong> of 4")


def test_too_many_labels_for_a_request_are_offered_as_a_release(marked, report, analyst_client, monkeypatch):
    monkeypatch.setattr("analysis.pages.results_page.MOST_LABELS", 10)
    answer = analyst_client.get(address("labels", table="judgements"))
    assert answer.status_code == 409
    assert "Build a release instead" in answer.content.decode()
    page = analyst_client.get(address("overview")).content.decode()
    assert address("labels", table="judgements") not in page
    assert "Build a release of the labels" in page


def test_pages_stop_counting_at_a_limit(marked, analyst, analyst_client, monkeypatch):
    monkeypatch.setattr(reports, "MOST_COUNTED", 7)
    assert "at least 7 judgements" in analyst_client.get(address("overview")).content.decode()
    report = compute_report(
        study=marked.study, parameters=parameters_of(marked.study, resamples=100), by=analyst
    )
    assert reports.judgements_since(report) == 0
    report.last_annotation = 0
    report.save()
    page = analyst_client.get(address("overview")).content.decode()
    assert "At least 7 judgements were added" in " ".join(page.split())


def test_pages_take_few_queries(marked, report, analyst_client, django_assert_max_num_queries):
    for url in every_address(marked):
        with django_assert_max_num_queries(36 if "/labels/" in url else 24, info=url):
            analyst_client.get(url)


def test_only_the_last_reports_are_kept(marked, analyst):
    for seed in range(7):
        parameters = parameters_of(marked.study, resamples=100, seed=seed)
        compute_report(study=marked.study, parameters=parameters, by=analyst)
    assert [report.parameters["seed"] for report in Report.objects.all()] == [6, 5, 4, 3, 2]


def test_the_map_links_a_country_to_its_group_and_ranks_those_without(marked, report, analyst_client):
    assert '<svg class="map' not in analyst_client.get(address("groups")).content.decode()
    group = marked.study.groups.get(name="Velmari")
    group.map_code = "MLT"
    group.save()
    page = analyst_client.get(address("groups") + "?map=stereotypes").content.decode()
    assert 'aria-label="Malta: Velmari 2, n = 24 judgements"' in page
    assert f'<a href="{address("group", group="Velmari")}"' in page
    assert "Groups that are not on the map" in page
    page = analyst_client.get(address("groups") + "?q=orsani").content.decode()
    assert "Malta" not in page
    for name in ("map-theta", "map-offensiveness", "map-stereotypes"):
        spec = analyst_client.get(address("plot", plot=name, format="vl.json")).json()
        assert [row["country"] for row in spec["datasets"]["small"]] == ["Malta"]
    rows = analyst_client.get(address("plot", plot="map-theta", format="csv")).content.decode().splitlines()
    assert rows[1].startswith("MLT,Velmari,")


def test_the_report_of_the_page_is_one_file_with_maps_sensitivity_and_limits(marked, report, analyst_client):
    marked.study.groups.filter(name="Velmari").update(map_code="MLT")
    answer = analyst_client.get(address("report"))
    assert answer["Content-Disposition"] == 'attachment; filename="isles-report.html"'
    page = " ".join(answer.content.decode().split())
    for forbidden in ("<script", "<link", "<a href", "http://", "https://", "url(", "@import"):
        assert forbidden not in page.replace("http://www.w3.org/2000/svg", ""), forbidden
    assert "Malta: Velmari" in page
    assert "Majority vote of each image and attribute" in page
    assert "Limitations" in page
    assert report.inputs_digest in page
    versions = dict(report.summary["versions"])
    assert f"computed with Stereoscope {versions.pop('stereoscope')} (" in page
    for package, version in versions.items():
        assert f"{package} {version}" in page
