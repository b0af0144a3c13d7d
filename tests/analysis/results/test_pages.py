"""The analyst's pages: who sees them, what they say, and how many queries they take."""

import csv

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import Annotator, AnnotatorProfile, User
from analysis.models import Report
from analysis.plots.maps.country_values import MEASURES
from analysis.results import reports
from analysis.results.parameters import parameters_of
from analysis.results.reports import compute_report
from annotation.models import Annotation, Box, Judgement
from tests.web.markup import compact

PAGES = [
    "overview",
    "groups",
    "attributes",
    "agreement",
    "disagreement",
    "annotator_groups",
    "compare",
    "visual_attributes",
    "annotators",
]


def address(page: str, **places) -> str:
    return reverse(f"analysis:{page}", kwargs={"study": "isles", **places})


def every_address(marked) -> list[str]:
    return [
        *map(address, PAGES),
        *(address("groups") + f"?map={measure}" for measure in MEASURES),
        address("group", group="Velmari"),
        address("disagreement") + "?group=Velmari&by=gender",
        address("disagreement") + "?attribute=drum",
        address("annotators") + "?flagged=1",
        address("attribute", attribute="tall hat"),
        address("attribute", attribute="tall hat") + "?group=Velmari",
        address("attribute", attribute="kind"),
        address("image", image=marked.images["v1"].public_id),
        address("table", table="likelihood"),
        address("archive"),
        address("report"),
        *(address("labels", table=name) for name in ("judgements", "boxes", "ratings")),
        address("plot", plot="theta", format="svg"),
        address("plot", plot="theta", format="csv"),
        address("plot", plot="ranked-theta", format="vl.json"),
    ]


@pytest.fixture
def report(marked, analyst) -> Report:
    return compute_report(
        study=marked.study, parameters=parameters_of(marked.study, resamples=200), by=analyst
    )


def test_every_page_answers(marked, report, analyst_client):
    for url in every_address(marked):
        assert analyst_client.get(url).status_code == 200, url


def test_lead_sees_results_too_and_an_administrator(marked, report, lead_client):
    assert lead_client.get(address("overview")).status_code == 200
    administrator = Client()
    administrator.force_login(User.objects.create_superuser("root", password="a long password"))
    assert administrator.get(address("overview")).status_code == 200


def test_strangers_and_annotators_learn_nothing(marked, report, stranger_client, annotator):
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


def test_before_the_first_report_the_page_offers_to_compute(marked, analyst_client):
    page = analyst_client.get(address("groups")).content.decode()
    assert "Compute results" in page
    answer = analyst_client.post(address("compute"), {"resamples": "200"}, follow=True)
    assert "The results are up to date." in answer.content.decode()
    assert Report.objects.get().parameters["resamples"] == 200


def test_a_study_without_labels_says_what_to_do(study, analyst_client):
    assert "Nothing to measure yet" in analyst_client.get(address("overview")).content.decode()


def test_the_overview_states_the_headline_and_what_is_missing(marked, report, analyst_client):
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
    assert "4 judgements came after" in " ".join(
        analyst_client.get(address("groups")).content.decode().split()
    )
    analyst_client.post(address("compute"), {"resamples": "200"})
    assert "came after" not in analyst_client.get(address("groups")).content.decode()
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


def test_the_attribute_page_lists_who_said_what(marked, report, analyst_client):
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


@pytest.mark.parametrize(
    ("url", "said"),
    [
        (("group", {"group": "Nobody"}), "no results of a group"),
        (("attribute", {"attribute": "nothing"}), "no results of an attribute"),
        (("image", {"image": "00000000-0000-0000-0000-000000000000"}), "no such image"),
        (("table", {"table": "secrets"}), "There is no table"),
        (("labels", {"table": "secrets"}), "There is no table"),
        (("plot", {"plot": "nothing", "format": "svg"}), "There is no plot"),
    ],
)
def test_what_is_not_there_is_said(marked, report, analyst_client, url, said):
    name, places = url
    answer = analyst_client.get(address(name, **places))
    assert answer.status_code == 404
    assert said in answer.content.decode()


def test_an_unknown_model_is_said(marked, report, analyst_client):
    answer = analyst_client.get(address("groups") + "?model=nothing")
    assert answer.status_code == 404


@pytest.mark.parametrize(
    ("field", "value"),
    [("resamples", "3"), ("min_raters", "0"), ("none_of_the_above", "sometimes"), ("seed", "x")],
)
def test_a_wrong_choice_is_refused_and_nothing_computed(marked, analyst_client, field, value):
    answer = analyst_client.post(address("compute"), {field: value})
    assert answer.status_code == 400
    assert not Report.objects.exists()


def test_more_labels_than_a_request_may_read_are_a_release(marked, report, analyst_client, monkeypatch):
    monkeypatch.setattr("analysis.pages.results_page.MOST_LABELS", 10)
    answer = analyst_client.get(address("labels", table="judgements"))
    assert answer.status_code == 409
    assert "build a release of them" in answer.content.decode()
    page = analyst_client.get(address("overview")).content.decode()
    assert address("labels", table="judgements") not in page
    assert "Build a release of them" in page


def test_pages_count_no_further_than_anybody_waits(marked, analyst, analyst_client, monkeypatch):
    monkeypatch.setattr(reports, "MOST_COUNTED", 7)
    assert "at least 7 judgements" in analyst_client.get(address("overview")).content.decode()
    report = compute_report(
        study=marked.study, parameters=parameters_of(marked.study, resamples=100), by=analyst
    )
    assert reports.judgements_since(report) == 0
    report.last_annotation = 0
    report.save()
    assert "At least 7 judgements came" in analyst_client.get(address("overview")).content.decode()


def test_pages_take_few_queries(marked, report, analyst_client, django_assert_max_num_queries):
    for url in every_address(marked):
        with django_assert_max_num_queries(36 if "/labels/" in url else 24, info=url):
            analyst_client.get(url)


def test_only_the_last_reports_are_kept(marked, analyst):
    for seed in range(7):
        parameters = parameters_of(marked.study, resamples=100, seed=seed)
        compute_report(study=marked.study, parameters=parameters, by=analyst)
    assert [report.parameters["seed"] for report in Report.objects.all()] == [6, 5, 4, 3, 2]


def test_labels_row_by_row_give_the_numbers_of_the_report_again(marked, report, analyst_client):
    def rows(name: str) -> list[dict[str, str]]:
        text = analyst_client.get(address("labels", table=name)).content.decode()
        return list(csv.DictReader(text.splitlines()))

    said = rows("judgements")
    assert len([row for row in said if row["attribute"] == "none of the above"]) == 12
    for cell in report.rows("likelihood"):
        mine = [
            r
            for r in said
            if (r["identity_group"], r["attribute"]) == (cell["identity_group"], cell["attribute"])
        ]
        assert len(mine) == cell["shown"]
        assert sum(row["present"] == "true" for row in mine) == cell["marked"]
        assert {row["role"] for row in mine} == {cell["role"]}
    assert {row["annotator"] for row in said} == {one.pseudonym for one in marked.annotators.values()}
    assert {row["image"] for row in said} == {str(image.public_id) for image in marked.images.values()}
    drawn = rows("boxes")
    assert len(drawn) == sum(cell["marked"] for cell in report.rows("likelihood"))
    assert len({row["judgement"] for row in drawn}) == len(drawn)
    assert sorted(int(row["rating"]) for row in rows("ratings")) == [1, 1, 2, 2, 3, 4, 4, 5, 5, 5, 5, 5]


def test_the_map_links_a_country_to_its_group_and_ranks_those_without(marked, report, analyst_client):
    assert '<svg class="map' not in analyst_client.get(address("groups")).content.decode()
    group = marked.study.groups.get(name="Velmari")
    group.map_code = "MLT"
    group.save()
    page = analyst_client.get(address("groups") + "?map=stereotypes").content.decode()
    assert 'aria-label="Malta: Velmari 2, n = 24 judgements"' in page
    assert f'<a href="{address("group", group="Velmari")}"' in page
    assert "And the groups without a country?" in page
    page = analyst_client.get(address("groups") + "?q=orsani").content.decode()
    assert "Malta" not in page
    for name in ("map-theta", "map-offensiveness", "map-stereotypes"):
        spec = analyst_client.get(address("plot", plot=name, format="vl.json")).json()
        assert [row["country"] for row in spec["datasets"]["small"]] == ["Malta"]
    rows = analyst_client.get(address("plot", plot="map-theta", format="csv")).content.decode().splitlines()
    assert rows[1].startswith("MLT,Velmari,")


def test_disagreement_lists_items_answered_both_ways(marked, report, analyst_client):
    page = " ".join(analyst_client.get(address("disagreement")).content.decode().split())
    p, q = (marked.annotators[name].pseudonym for name in "pq")
    # v2, tall hat: q alone; its answers by everybody
    assert f'{p} <b class="answer no">no</b>' in page
    assert f'{q} <b class="answer yes">yes</b>' in page

    def items(query: str) -> int:
        text = analyst_client.get(address("disagreement") + query).content.decode()
        return text.count('class="nowrap">' + p)

    # Velmari: scarf, kite in v1; hat, drum in v2. Orsani: drum in o1, glasses in o2.
    assert items("") == 6
    assert items("?group=Velmari") == 4
    assert items("?group=Velmari&attribute=drum") == 1
    assert items("?attribute=drum") == 2
    assert items("?group=Nobody") == 0
    text = analyst_client.get(address("disagreement") + "?attribute=drum&format=csv").content.decode()
    assert [row["identity_group"] for row in csv.DictReader(text.splitlines())] == ["Orsani", "Velmari"]


@pytest.mark.parametrize("most", [1, 2, 3, 100])
def test_items_of_a_filter_are_those_of_counting_one_by_one(
    marked, report, analyst_client, monkeypatch, most
):
    monkeypatch.setattr("analysis.pages.results.disagreement.MOST_ITEMS", most)
    said: dict[tuple[str, str, str], list[bool]] = {}
    for one in Judgement.objects.filter(present__isnull=False):
        image = one.annotation.task.image
        said.setdefault((one.attribute.text, image.group.name, str(image.public_id)), []).append(one.present)
    for group in ("Velmari", "Orsani"):
        expected = []
        for key, answers in said.items():
            marks, others = sum(answers), len(answers) - sum(answers)
            if key[1] == group and marks and others:
                share = 2 * marks * others / (len(answers) * (len(answers) - 1))
                expected.append((-share, -len(answers), key))
        text = analyst_client.get(address("disagreement") + f"?group={group}&format=csv").content.decode()
        rows = [
            (row["attribute"], row["identity_group"], row["image"])
            for row in csv.DictReader(text.splitlines())
        ]
        assert rows == [key for *_, key in sorted(expected)][:most]


def test_a_report_without_images_says_so_on_every_page(marked, analyst, analyst_client):
    Annotation.objects.filter(campaign=marked.campaign).update(status="excluded")
    compute_report(study=marked.study, parameters=parameters_of(marked.study, resamples=200), by=analyst)
    for page in PAGES:
        assert analyst_client.get(address(page)).status_code == 200
    assert "No judgements of images yet" in analyst_client.get(address("agreement")).content.decode()
    assert (
        "There are no judgements of images yet"
        in analyst_client.get(address("annotator_groups")).content.decode()
    )
    assert "Nothing to compare with" in analyst_client.get(address("compare")).content.decode()


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
    for package, version in report.summary["versions"].items():
        assert f"{package} {version}" in page


def test_groups_of_annotators_are_compared_with_the_family_of_tests(marked, analyst, analyst_client):
    for slot, group in enumerate("aaaaabbbbb"):
        person = Annotator.objects.create(source="people", source_id=str(slot))
        AnnotatorProfile.objects.create(annotator=person, gender=group)
        for image in marked.images.values():
            task = image.tasks.get()
            task.wanted += 1
            task.save()
            annotation = marked.submit(task, person, 3 + slot, none=False)
            for place, item in enumerate(task.task_attributes.order_by("position")):
                annotation.judgements.create(
                    attribute=item.attribute, present=(slot + place) % 3 == 0 or (group == "a" and place < 2)
                )
    compute_report(study=marked.study, parameters=parameters_of(marked.study, resamples=200), by=analyst)
    url = address("annotator_groups") + "?field=gender&measure=likelihood_stereotype"
    page = " ".join(analyst_client.get(url).content.decode().split())
    assert "gender: a family of 3 tests over all groups depicted" in page
    assert '<th scope="row">a</th><td>b</td><td class="num">5 · 5</td>' in page
    of_each = analyst_client.get(url + "&scope=identity_group").content.decode()
    assert "Velmari" in of_each
    said = analyst_client.get(address("overview")).content.decode()
    assert "Only annotators with gender: a" in said
    report_file = " ".join(analyst_client.get(address("report")).content.decode().split())
    assert "Groups of annotators by gender: a family of 3 tests" in report_file


def only_one_annotator(marked):
    Annotation.objects.exclude(annotator=marked.annotators["p"]).update(status="excluded")


def all_no(marked):
    Box.objects.filter(judgement__annotation__campaign=marked.campaign).delete()
    Judgement.objects.filter(annotation__campaign=marked.campaign).update(present=False)


def only_one_group(marked):
    Annotation.objects.filter(task__image__group__name="Orsani").update(status="excluded")


def no_stereotypes(marked):
    marked.study.associations.all().delete()


@pytest.mark.parametrize(
    ("change", "page", "said"),
    [
        (only_one_annotator, "agreement", "no unit rated twice"),
        (only_one_annotator, "disagreement", "Nobody disagreed on any image"),
        (only_one_annotator, "agreement", "No two annotators boxed the same attribute"),
        (all_no, "overview", "The pooled θ is not defined: none marked"),
        (all_no, "groups", "none marked"),
        (all_no, "agreement", "no variation"),
        (only_one_group, "overview", "1 group without judgements"),
        (only_one_group, "compare", "Nothing to compare with"),
        (no_stereotypes, "overview", "The pooled θ is not defined: not shown"),
        (no_stereotypes, "groups", "too few stereotypes"),
        (no_stereotypes, "annotator_groups", "Nobody said anything of themselves"),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_what_cannot_be_computed_is_said_with_its_reason(marked, analyst, analyst_client, change, page, said):
    change(marked)
    compute_report(study=marked.study, parameters=parameters_of(marked.study, resamples=100), by=analyst)
    for name in PAGES:
        assert analyst_client.get(address(name)).status_code == 200, name
    for measure in MEASURES:
        assert analyst_client.get(address("groups") + f"?map={measure}").status_code == 200
    assert analyst_client.get(address("group", group="Velmari")).status_code == 200
    assert analyst_client.get(address("report")).status_code == 200
    assert said in " ".join(analyst_client.get(address(page)).content.decode().split())


def test_annotators_are_ordered_and_found_over_all_pages(marked, report, analyst_client, monkeypatch):
    monkeypatch.setattr("analysis.pages.results.agreement.ANNOTATORS_A_PAGE", 1)
    agreeing = {row["annotator"]: row["agreement_with_others"] for row in report.rows("annotators")}
    least = min(agreeing, key=lambda name: (agreeing[name], name))
    page = analyst_client.get(address("annotators") + "?order=agreement_with_others").content.decode()
    assert f">{least}</th>" in page
    assert page.count('scope="row"') == 1
    found = analyst_client.get(address("annotators") + f"?q={least.lower()}").content.decode()
    assert f">{least}</th>" in found
    assert "No annotator fits" in analyst_client.get(address("annotators") + "?q=nobody").content.decode()
    assert analyst_client.get(address("annotators") + "?order=anything").status_code == 200
