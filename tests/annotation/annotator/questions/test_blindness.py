"""Annotators of kinds with declared questions learn no group, prompt, model or condition, and no measure."""

import io
import random
import uuid

import pytest
from django.urls import reverse
from PIL import Image as Picture
from PIL.PngImagePlugin import PngInfo

from annotation.annotator import urls
from annotation.campaigns import lifecycle
from annotation.kinds.registry import KINDS
from annotation.models import Annotation
from annotation.simulation.questions import QuestionTruth, answer_questions
from generation.images.storage import store_image
from tests.annotation.annotator.test_traffic import Recorded, come
from tests.annotation.answers.questions.test_storage import ANSWERS
from tests.annotation.kinds.examples import EXAMPLES, PAIRWISE, RUBRIC, question_campaign

pytestmark = pytest.mark.django_db
SENTINEL = "zq7sentinel"
PROMPT = "a kite over a drum"


def picture(index):
    """Return a PNG whose metadata contains the secret."""
    file, metadata = io.BytesIO(), PngInfo()
    metadata.add_text("prompt", SENTINEL)
    Picture.new("RGB", (64, 64), (index, 100, 200)).save(file, "PNG", pnginfo=metadata)
    return file.getvalue()


@pytest.fixture
def telling(study):
    """A study in which every name, prompt, model and condition carries the sentinel."""
    study.name, study.slug = f"Study {SENTINEL}", SENTINEL
    study.save()
    for number, group in enumerate(study.groups.all()):
        group.name, group.display_name = f"{group.name} {SENTINEL}", f"{SENTINEL} {group.pk}"
        group.region = f"Region {SENTINEL}"
        group.save()
        for index in range(2):
            store_image(
                study=study,
                data=picture(10 * number + index),
                group=group,
                model_label=f"{SENTINEL}-model",
                condition="default",
                prompt=f"a photo of a {SENTINEL} person",
                source_name=f"{SENTINEL}-{index}.png",
                provenance={"note": SENTINEL},
            )
    study.images.update(condition=SENTINEL[:10])
    return study


def secret(kind):
    """Return the kind with the sentinel in all names that annotators do not read."""
    hidden = {"key": f"{kind.key}_{SENTINEL}", "measures": (f"{SENTINEL}_means",)}
    hidden |= dict.fromkeys(("name", "description", "campaign_name"), f"Secret {SENTINEL}")
    return kind.model_copy(update=hidden)


def submit(client, task, answer):
    body = {"submission_id": str(uuid.uuid4()), "answer": answer}
    address = f"/api/v1/assignments/{task['assignment']}/submit"
    return client.post(address, body, content_type="application/json")


def work_by_program(client, campaign, answer):
    """Answer over the API, get a refusal, correct, report, skip, and fetch every image."""
    task = client.post(f"/api/v1/campaigns/{campaign.pk}/next").json()
    for stimulus in task["stimuli"]:
        assert client.get(stimulus["image"]["url"]).status_code == 200
    assert submit(client, task, {"answers": {SENTINEL[:3]: 1}}).status_code == 400
    saved = submit(client, task, answer)
    assert saved.status_code == 200
    following = saved.json()["next"]
    report = {"reason": "broken", "stimulus": "s1"}
    address = f"/api/v1/assignments/{following['assignment']}"
    assert client.post(f"{address}/report", report, content_type="application/json").status_code == 201
    assert client.post(f"{address}/skip", {}, content_type="application/json").status_code == 204
    client.get(reverse("annotate:ahead", args=[campaign.pk]))
    client.options(f"/api/v1/campaigns/{campaign.pk}/next")
    client.get("/api/schema/?format=json")


def look_at_every_page(client, campaign):
    """Open all annotator pages whose address needs only the campaign, including pages added later."""
    for pattern in urls.urlpatterns:
        needed = pattern.pattern.converters.keys()
        if needed <= {"campaign_id"}:
            values = {"campaign_id": campaign.pk} if needed else {}
            client.get(reverse(f"annotate:{pattern.name}", kwargs=values), follow=True)
    shown = client.get(reverse("annotate:task", args=[campaign.pk])).context["payload"]
    answer = reverse("annotate:answer", args=[campaign.pk, shown["assignment"]])
    client.post(answer, {"submission_id": str(uuid.uuid4())}, follow=True)  # refused, with words
    report = reverse("annotate:report", args=[campaign.pk, shown["assignment"]])
    client.post(report, {"reason": "broken"}, follow=True)


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("kind", EXAMPLES, ids=lambda kind: kind.key)
def test_an_annotators_whole_traffic_reveals_nothing(telling, kind, language):
    campaign = question_campaign(telling, secret(kind), screens=4, prompt=PROMPT)
    client = Recorded(headers={"accept-language": language})
    come(client, campaign)
    work_by_program(client, campaign, ANSWERS[kind.key])
    look_at_every_page(client, campaign)
    assert Annotation.objects.filter(campaign=campaign).count() == 1
    assert len(client.read) > 30
    assert [name for name, text in client.read.items() if SENTINEL in text.casefold()] == []
    # The prompt occurs only where the kind shows it.
    assert (PROMPT in "".join(client.read.values())) == kind.stimuli.prompt_shown


def answer_everything(client, campaign):
    """Answer task after task until none is left, looking at every page and picture on the way; count answers."""
    truth, answer_count = QuestionTruth(seed=1), 0
    task = client.post(f"/api/v1/campaigns/{campaign.pk}/next").json()
    while task is not None:
        for stimulus in task["stimuli"]:
            if "image" in stimulus:
                client.get(stimulus["image"]["url"])
        client.get(reverse("annotate:task", args=[campaign.pk]))
        answer = answer_questions(task, truth, lambda *parts: random.Random(repr(parts)))
        saved = submit(client, task, answer)
        assert saved.status_code == 200, saved.content
        answer_count += 1
        task = saved.json()["next"]
    for page in ("answers", "previous", "done", "ahead"):
        client.get(reverse(f"annotate:{page}", args=[campaign.pk]), follow=True)
    return answer_count


@pytest.mark.parametrize("key", [key for key, kind in KINDS.items() if not kind.about_attributes])
def test_a_whole_campaign_reveals_nothing_that_its_kind_declares_blind(telling, lead, key):
    stimuli = KINDS[key].stimuli
    telling.images.update(scenario=f"{SENTINEL} square", condition="non_stereotypical")
    if stimuli.prompt_shown or "prompt" not in stimuli.blind:
        telling.images.update(prompt=PROMPT)
    if stimuli.differ == "model":
        telling.images.update(group=telling.groups.earliest("pk"))
        for number, image in enumerate(telling.images.order_by("pk")):
            telling.images.filter(pk=image.pk).update(model_label=f"{SENTINEL}-{number}")
    texts = {"texts": ["Some weavers drum.", "All bakers sing."]}
    options = texts if stimuli.medium == "text" else {"condition": "non_stereotypical"}
    draft = lifecycle.create(
        study=telling, name=f"Campaign {SENTINEL}", kind=key, options=options, by=lead, annotators_per_task=1
    )
    campaign = lifecycle.open_(campaign=draft, by=lead)
    client = Recorded()
    come(client, campaign)
    assert answer_everything(client, campaign) == campaign.tasks.count() > 0
    told = "".join(client.read.values()).casefold()
    assert [word for word in (SENTINEL, "stereotypical", key) if word in told] == []
    assert (PROMPT in told) == stimuli.prompt_shown


def test_two_annotators_cannot_tell_that_they_see_the_same_image(telling):
    campaign = question_campaign(telling, PAIRWISE, screens=1)
    seen = []
    for _ in range(2):
        client = Recorded()
        come(client, campaign)
        task = client.post(f"/api/v1/campaigns/{campaign.pk}/next").json()
        seen.append({stimulus["image"]["url"] for stimulus in task["stimuli"]})
    assert len(seen[0]) == 2
    assert seen[0].isdisjoint(seen[1])


def test_tasks_contain_only_the_declared_texts_that_annotators_read(telling):
    """Field by field: a new field must be added here as read by annotators or not."""
    campaign = question_campaign(telling, RUBRIC, screens=1)
    client = Recorded()
    come(client, campaign)
    task = client.post(f"/api/v1/campaigns/{campaign.pk}/next").json()
    assert task.keys() == {
        *("assignment", "kind", "expires_at", "instrument", "progress", "answer"),
        *("layout", "stimuli", "prompt", "questions"),
    }
    assert all(stimulus.keys() <= {"ref", "image", "text"} for stimulus in task["stimuli"])
    assert all(stimulus["image"].keys() == {"url", "width", "height"} for stimulus in task["stimuli"])
    common = {"name", "type", "label", "required", "each", "when", "region"}
    own = {"points", "answers", "several", "tie", "ties", "longest", "none"}
    assert all(common <= question.keys() <= common | own for question in task["questions"])


def test_a_kind_is_named_to_annotators_by_its_public_name_only():
    for kind in KINDS.values():
        assert kind.public_name != kind.key
        for words in (kind.public_name, kind.public_help, *kind.work.values()):
            assert "stereotyp" not in words.casefold()
