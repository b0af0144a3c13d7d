"""Practice pages of campaigns that ask declared questions."""

import re

import pytest
from django.urls import reverse

from annotation.answers.questions.known_answers import Part
from annotation.campaigns import known_tasks
from annotation.models import Campaign
from tests.annotation.kinds.examples import RUBRIC, question_campaign

pytestmark = pytest.mark.django_db


@pytest.fixture
def practised(study, pictures, lead) -> Campaign:
    campaign = question_campaign(study, RUBRIC, screens=2)
    known_tasks.add(
        campaign=campaign,
        purpose="practice",
        by=lead,
        content=known_tasks.TaskContent(
            stimuli=known_tasks.as_screen(known_tasks.screens_of(campaign)[0]).stimuli
        ),
        answers={Part("fitting"): [1, 2], Part("faults"): ["hands", "text"]},
        explanations={Part("fitting"): "No <kite> there."},
    )
    return campaign


def test_practice_works_without_scripts_and_in_german(practised, join):
    client = join(practised)
    client.cookies["stereoscope_language"] = "de"
    address = reverse("annotate:practice_task", args=[practised.pk])
    page = client.get(address)
    assert 'class="report"' not in page.content.decode()
    fields = {"answers.fitting": "2", "answers.faults": ["text"], "answers.missing": "none"}
    task = page.context["payload"]["task"]
    page = client.post(reverse("annotate:practice_answer", args=[practised.pk, task]), fields, follow=True)
    text = " ".join(re.sub(r"<[^>]+>", " ", page.content.decode()).split())
    assert "1 von 2 richtig" in text
    assert "How fitting? (de)" in text
    assert "fitting 1 (de) oder fitting 2 (de)" in text
    assert "hands (de), text (de)" in text
    assert "No &lt;kite&gt; there." in page.content.decode()
