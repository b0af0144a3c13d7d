"""A release leaves campaigns that ask declared questions out, and says so."""

import pyarrow.parquet as pq
import pytest
from django.urls import reverse

from analysis.releases.assembly.build import build
from analysis.releases.parameters import ReleaseParameters
from tests.analysis.questions.answering import STRENGTHS, comparing
from tests.analysis.questions.campaigns import images_of, label, open_campaign, people
from tests.analysis.questions.kinds import PAIR
from tests.web.markup import compact


def released(study, lead, folder):
    return build(study=study, parameters=ReleaseParameters(), output=folder, by=lead)


@pytest.fixture
def compare(marked):
    """A function that adds an answered campaign of questions to the study."""

    def add() -> None:
        annotators = people(marked.study, 3, first=100)
        campaign = open_campaign(marked.study, PAIR, annotators)
        images = images_of(marked.study, models=["aurora", "birch"], prompts=1)[-2:]
        label(campaign, [images], annotators, comparing(STRENGTHS), prompt_shown=True)

    return add


def test_only_labels_of_the_built_in_kinds_are_released(marked, compare, lead, tmp_path):
    compare()
    released(marked.study, lead, tmp_path / "release")
    annotations = pq.read_table(tmp_path / "release/data/annotations.parquet").to_pylist()
    assert {row["campaign"] for row in annotations} == {"stereotype-marking", "attribute-likert"}
    ratings = pq.read_table(tmp_path / "release/data/ratings.parquet")
    assert ratings.num_rows == 12
    card = (tmp_path / "release/README.md").read_text(encoding="utf-8")
    assert "answers of Pair: Releases do not hold answers to declared questions yet." in card


def test_a_campaign_that_comes_later_makes_another_version(marked, compare, lead, tmp_path):
    first = released(marked.study, lead, tmp_path / "one")
    assert released(marked.study, lead, tmp_path / "again").version == first.version
    compare()
    assert released(marked.study, lead, tmp_path / "two").version == first.version + 1


def test_the_page_says_what_is_left_out(marked, compare, lead_client):
    page = reverse("releases:list", kwargs={"study": "isles"})
    assert "left out" not in compact(lead_client.get(page).content.decode())
    compare()
    said = compact(lead_client.get(page).content.decode())
    assert "Answers to declared questions are left out" in said
    assert "the data card says so: Pair." in said
