"""The code that pages of results offer loads the table of the page with a key that may only read."""

import html
import re

import pandas as pd
import pytest
from django.test import Client
from django.urls import reverse

from accounts import tokens
from analysis.results import reports
from analysis.results.parameters import parameters_of
from studies.models import StudyMembership
from tests.analysis.automated import factories
from tests.analysis.probing.weavers import probe_weavers
from tests.analysis.questions.every_kind import answer_every_kind

pytestmark = pytest.mark.django_db(transaction=True)
EXAMPLE = r'id="use-in-{}"\s*><code>(.*?)</code>'


@pytest.fixture
def offered(live_server, analyst, monkeypatch):
    """Compute a study's results and read pages of them; the key that the code asks for is set."""
    _, key = tokens.issue(user=analyst, name="notebook", scopes=["read"])
    monkeypatch.setenv("STEREOSCOPE_KEY", key)
    client = Client(HTTP_HOST=live_server.url.removeprefix("http://"))
    client.force_login(analyst)

    def compute(study):
        reports.compute_report(study=study, parameters=parameters_of(study, resamples=100), by=analyst)

        def read(name, **places):
            return client.get(
                reverse(f"analysis:{name}", kwargs={"study": study.slug, **places})
            ).content.decode()

        return read

    return compute


def example(text, language):
    return html.unescape(re.search(EXAMPLE.format(language), text, re.DOTALL)[1])


def loaded(text, table):
    """Run the Python code of a page; return the table that it loads."""
    variables = {}
    exec(example(text, "python"), variables)
    assert isinstance(variables[table], pd.DataFrame)
    address = re.search(r'"(http[^"]+)"', example(text, "python"))[1]
    assert address in example(text, "r")
    return variables[table]


@pytest.mark.parametrize(
    ("name", "table"), [("groups", "tendency"), ("attributes", "likelihood"), ("disagreement", "divisive")]
)
def test_the_python_code_reads_the_table_of_the_page(marked, offered, name, table):
    text = offered(marked.study)(name)
    assert set(loaded(text, table)["identity_group"]) <= {"Velmari", "Orsani"}
    assert ("codebook.csv" in text) == (name != "disagreement")


def test_the_page_of_an_image_offers_the_likelihood_of_every_pair(marked, offered):
    text = offered(marked.study)("image", image=marked.images["v1"].public_id)
    assert len(loaded(text, "likelihood")) == 8


def test_the_page_of_questions_offers_a_table_of_the_campaign_shown(study, offered):
    answer_every_kind(study)
    page = offered(study)
    [table] = re.findall(r"^(\w+) = pd", example(page("questions"), "python"), re.MULTILINE)
    campaign = re.search(r'value="([\w-]+)"\s+selected', page("questions"))[1]
    assert campaign in set(loaded(page("questions"), table)["campaign"])


def test_the_page_of_automated_measures_offers_the_first_table_with_rows(study, lead, offered):
    factories.judge(study, lead)
    factories.score(study)
    assert len(loaded(offered(study)("automated"), "concordance"))


def test_the_planner_offers_the_answers_it_is_based_on(lead, analyst, offered):
    study = probe_weavers(lead).study
    StudyMembership.objects.create(study=study, user=analyst, role=StudyMembership.Role.ANALYST)
    assert len(loaded(offered(study)("probe_planner"), "pairs_scenarios"))


def test_a_page_whose_table_has_no_rows_offers_no_code(marked, offered):
    assert "use-in-python" not in offered(marked.study)("mcas")
