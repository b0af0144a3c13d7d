"""Pages of results about annotators: disagreement, differences between groups, and their answers."""

import csv

import pytest

from accounts.models import Annotator, AnnotatorProfile
from analysis.results.parameters import parameters_of
from analysis.results.reports import compute_report
from annotation.models import Judgement
from tests.analysis.results.pages.labelled_study import address, write_study

pytestmark = pytest.mark.usefixtures("shared_rows")


def write_rows(folder):
    write_study()


def test_label_rows_reproduce_the_numbers_of_the_report(marked, report, analyst_client):
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
def test_filtered_items_equal_those_counted_one_by_one(marked, report, analyst_client, monkeypatch, most):
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


def test_annotators_are_sorted_and_searched_over_all_pages(marked, report, analyst_client, monkeypatch):
    monkeypatch.setattr("analysis.pages.results.agreement.ANNOTATORS_A_PAGE", 1)
    agreeing = {row["annotator"]: row["agreement_with_others"] for row in report.rows("annotators")}
    least = min(agreeing, key=lambda name: (agreeing[name], name))
    page = analyst_client.get(address("annotators") + "?order=agreement_with_others").content.decode()
    assert f">{least}</th>" in page
    assert page.count('scope="row"') == 1
    found = analyst_client.get(address("annotators") + f"?q={least.lower()}").content.decode()
    assert f">{least}</th>" in found
    assert "No annotator matches" in analyst_client.get(address("annotators") + "?q=nobody").content.decode()
    assert analyst_client.get(address("annotators") + "?order=anything").status_code == 200
