"""The labelled study that every module of this folder writes once, and what a test asks of it."""

import pytest

from accounts.models import Annotator, User
from analysis.models import Report
from annotation.models import Campaign
from generation.models import Image
from studies.models import Study
from tests.analysis.conftest import Marked
from tests.studies.isles import new_study


@pytest.fixture
def lead(shared_rows, db) -> User:
    return User.objects.get(username="lena")


@pytest.fixture
def analyst(shared_rows, db) -> User:
    return User.objects.get(username="anton")


@pytest.fixture
def marked(request, shared_rows, db) -> Marked:
    """The study; a test that does not ask for `report` finds it before the first one."""
    if "report" not in request.fixturenames:
        Report.objects.all().delete()
    campaigns = {campaign.kind: campaign for campaign in Campaign.objects.all()}
    return Marked(
        study=Study.objects.get(),
        campaign=campaigns["stereotype_marking"],
        likert=campaigns["attribute_likert"],
        annotators={annotator.source_id: annotator for annotator in Annotator.objects.all()},
        images={image.source_name.removesuffix(".png"): image for image in Image.objects.all()},
    )


@pytest.fixture
def report(marked) -> Report:
    return Report.objects.get()


@pytest.fixture
def unlabelled(marked, lead, analyst) -> Study:
    """Another study at the address of the labelled one."""
    Study.objects.update(name="Labelled", slug="labelled")
    return new_study(lead=lead, analyst=analyst, resource=marked.study.resource)
