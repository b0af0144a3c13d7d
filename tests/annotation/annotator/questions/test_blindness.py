"""An annotator of a kind of questions learns no group, prompt, model or condition, and not what is measured."""

import io
import uuid

import pytest
from django.urls import reverse
from PIL import Image as Picture
from PIL.PngImagePlugin import PngInfo

from annotation.annotator import urls
from annotation.kinds.registry import KINDS
from annotation.models import Annotation
from generation.images.storage import store_image
from tests.annotation.annotator.test_traffic import Recorded, come
from tests.annotation.answers.questions.test_storage import ANSWERS
from tests.annotation.kinds.examples import EXAMPLES, PAIRWISE, RUBRIC, question_campaign

pytestmark = pytest.mark.django_db
SENTINEL = "zq7sentinel"
PROMPT = "a kite over a drum"


def picture(index):
    """Return a PNG whose metadata tells what nobody may know."""
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
    """Return the kind with names of the sentinel wherever annotators do not read them."""
    hidden = {"key": f"{kind.key}_{SENTINEL}", "measures": (f"{SENTINEL}_means",)}
    hidden |= dict.fromkeys(("name", "description", "campaign_name"), f"Secret {SENTINEL}")
    return kind.model_copy(update=hidden)


def submit(client, task, answer):
    body = {"submission_id": str(uuid.uuid4()), "answer": answer}
    address = f"/api/v1/assignments/{task['assignment']}/submit"
    return client.post(address, body, content_type="application/json")


def work_by_program(client, campaign, answer):
    """Answer by program, be refused, correct, report, skip, and look at every image."""
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
    """Open all pages of an annotator that need no more than the campaign: new ones too."""
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
def test_an_annotators_whole_traffic_tells_nothing(telling, kind, language):
    campaign = question_campaign(telling, secret(kind), screens=4, prompt=PROMPT)
    client = Recorded(headers={"accept-language": language})
    come(client, campaign)
    work_by_program(client, campaign, ANSWERS[kind.key])
    look_at_every_page(client, campaign)
    assert Annotation.objects.filter(campaign=campaign).count() == 1
    assert len(client.read) > 30
    assert [name for name, text in client.read.items() if SENTINEL in text.casefold()] == []
    # The prompt is read where the kind shows it, and nowhere else.
    assert (PROMPT in "".join(client.read.values())) == kind.stimuli.prompt_shown


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


def test_nothing_of_the_declaration_that_annotators_do_not_read_is_in_a_task(telling):
    """Field by field: whoever adds one decides here whether annotators read it."""
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
