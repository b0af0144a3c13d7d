"""All data sent to an annotator's browser or program, searched for the word that reveals the subject."""

import json
import re
import uuid

import pytest
from django.contrib.staticfiles import finders
from django.test import Client
from django.urls import get_resolver, reverse

from accounts.models import ApiToken
from accounts.tokens import issue
from annotation.campaigns import lifecycle
from annotation.kinds.built_in import attribute_likert
from annotation.people import invitations
from studies.models import StudyMembership
from tests.annotation.annotator.test_practice import add

pytestmark = pytest.mark.django_db
WORD = "stereotyp"


class Recorded(Client):
    """A browser that records every address, header, cookie and byte that it receives."""

    def __init__(self, **options):
        super().__init__(**options)
        self.read: dict[str, str] = {}

    def request(self, **request):
        answer = super().request(**request)
        body = b"".join(answer.streaming_content) if answer.streaming else answer.content
        said = [f"{name}: {value}" for name, value in answer.items()]
        said += [cookie.OutputString() for cookie in answer.cookies.values()]
        name = f"{request['REQUEST_METHOD']} {request['PATH_INFO']} {len(self.read)}"
        self.read[name] = "\n".join([name, *said, body.decode("latin-1")])
        if answer.streaming:
            answer.streaming_content = iter([body])
        return answer


def loaded_by(text: str) -> set[str]:
    """Return our static files that a page or a script names."""
    named = set(re.findall(r"/static/([^\"'\s)?]+)", text))
    return {name for name in named if finders.find(name)}


def static_files(texts: list[str]) -> dict[str, str]:
    """Return every static file that these pages load, directly or indirectly."""
    waiting = set().union(*map(loaded_by, texts))
    files: dict[str, str] = {}
    while waiting:
        name = waiting.pop()
        with open(finders.find(name), "rb") as file:
            files[name] = file.read().decode("latin-1")
        folder = name.rsplit("/", 1)[0]
        beside = re.findall(r"(?:from|import|url\()\s*[\"']?\./([\w./-]+)", files[name])
        waiting |= {f"{folder}/{one}" for one in beside if finders.find(f"{folder}/{one}")} - files.keys()
    return files


@pytest.fixture
def campaigns_of_both_kinds(marking, rating, lead, pictures):
    add(marking, lead, image=pictures[0], tall_hat=True, kite=False)
    lifecycle.change_settings(campaign=marking, by=lead, options={"practice_attempts": 2, "pay_amount": 12.5})
    return marking, rating


def submit(client, task, **answer):
    sent = {"submission_id": str(uuid.uuid4()), "answer": answer}
    return client.post(
        f"/api/v1/assignments/{task['assignment']}/submit", sent, content_type="application/json"
    ).json()


def come(client, campaign):
    _, token = invitations.invite(campaign=campaign, by=None)
    client.get(f"/annotate/i/{token}/")
    client.post(f"/annotate/i/{token}/", follow=True)
    consent = client.get(reverse("annotate:consent", args=[campaign.pk]))
    client.post(
        reverse("annotate:consent", args=[campaign.pk]), {"text": consent.context["text"].pk}, follow=True
    )
    client.post(reverse("annotate:profile", args=[campaign.pk]), {"gender": "Woman"}, follow=True)


def practise(client, campaign):
    task = client.get(reverse("annotate:practice_task", args=[campaign.pk])).context["payload"]
    client.post(
        reverse("annotate:practice_answer", args=[campaign.pk, task["task"]]),
        {"none_of_the_above": "1"},
        follow=True,
    )
    asked = client.post(f"/api/v1/campaigns/{campaign.pk}/practice/next").json()
    right = next(one["ref"] for one in asked["attributes"] if one["text"] == "tall hat")
    sent = {"answer": {"ticked": [right], "boxes": [], "none_of_the_above": False}}
    client.post(f"/api/v1/practice/{asked['task']}/answer", sent, content_type="application/json")
    client.get(reverse("annotate:practice", args=[campaign.pk]))


def mark(client, campaign):
    """Mark pictures by program and by plain form, correct an answer, report a picture, skip a task."""
    home = reverse("annotate:task", args=[campaign.pk])
    task = client.get(home).context["payload"]
    client.get(task["image"]["url"])
    following = submit(client, task, none_of_the_above=True)["next"]
    submit(client, following, ticked=["nonsense"])  # refused, with words
    client.post(f"/api/v1/assignments/{following['assignment']}/skip", {}, content_type="application/json")
    client.get(reverse("annotate:answers", args=[campaign.pk]))
    client.get(reverse("annotate:previous", args=[campaign.pk]))
    task = client.get(home).context["payload"]
    client.post(
        reverse("annotate:answer", args=[campaign.pk, task["assignment"]]),
        {"submission_id": str(uuid.uuid4())},
        follow=True,
    )
    client.post(
        reverse("annotate:report", args=[campaign.pk, task["assignment"]]), {"reason": "broken"}, follow=True
    )


def rate(client, campaign):
    task = client.post(f"/api/v1/campaigns/{campaign.pk}/next").json()
    assert task["kind"] == attribute_likert.KIND.public_name
    submit(client, task, rating=4)
    client.get(reverse("annotate:task", args=[campaign.pk]))
    client.get(reverse("annotate:previous", args=[campaign.pk]))


def look_around(client, *worked):
    for address in (
        "/",
        "/studies/",
        "/jobs/",
        "/resources/",
        "/nothing/",
        "/api/v1/studies/",
        "/api/v1/no/",
    ):
        client.get(address, follow=True)
    for address in ("/annotate/", "/annotate/time-and-pay/", reverse("accounts:profile"), "/jsi18n/"):
        client.get(address, follow=True)
    for address in ("/api/schema/", "/api/schema/?format=json", "/api/docs/", "/api/docs/?script"):
        client.get(address)
    for campaign in worked:
        for page in ("done", "link", "withdraw", "ahead", "answers"):
            client.get(reverse(f"annotate:{page}", args=[campaign.pk]), follow=True)
        for rest in ("", "progress/", "annotators/", "next"):
            client.get(f"/api/v1/campaigns/{campaign.pk}/{rest}")
            client.options(f"/api/v1/campaigns/{campaign.pk}/{rest}")
    client.options("/api/v1/studies/isles/campaigns/")


@pytest.mark.parametrize("language", ["en", "de"])
def test_an_annotators_whole_traffic_never_contains_the_word(campaigns_of_both_kinds, language):
    marking, rating = campaigns_of_both_kinds
    client = Recorded(headers={"accept-language": language})
    come(client, marking)
    practise(client, marking)
    mark(client, marking)
    other = Recorded(headers={"accept-language": language})
    come(other, rating)
    rate(other, rating)
    look_around(client, marking)
    look_around(other, rating)
    client.post(reverse("annotate:withdraw", args=[marking.pk]), follow=True)
    client.post("/account/sign-out/", follow=True)
    client.get("/")
    read = client.read | {f"rating: {name}": text for name, text in other.read.items()}
    files = static_files(list(read.values()))
    assert len(read) > 80
    assert {
        "annotation/annotator/task.js",
        "annotation/annotator/marking/pane.js",
        "web/css/tokens.css",
    } <= files.keys()
    told = [name for name, text in (read | files).items() if WORD in text.casefold()]
    assert told == []
    # The session reached the expected pages, and no request was refused.
    assert any("openapi: 3.1" in text for text in read.values())
    assert '"kind": "marking"' in "".join(read.values()) or '"kind":"marking"' in "".join(read.values())


def test_the_search_finds_the_word_where_a_lead_reads_it(lead_client, study):
    """The search above is able to find the word."""
    recorded = Recorded()
    recorded.cookies = lead_client.cookies
    recorded.get("/studies/isles/")
    recorded.get("/api/schema/?format=json")
    assert all(WORD in text.casefold() for text in recorded.read.values())


def test_the_schema_of_an_annotator_has_what_annotators_may_call(join, marking, lead_client):
    theirs = join(marking).get("/api/schema/?format=json").json()
    whole = lead_client.get("/api/schema/?format=json").json()
    assert {name.removeprefix("/api/v1/") for name in theirs["paths"]} == {
        "campaigns/{id}/next",
        "assignments/{public_id}/submit",
        "assignments/{public_id}/skip",
        "assignments/{public_id}/report",
        "campaigns/{id}/practice/next",
        "practice/{public_id}/answer",
    }
    assert theirs["paths"].keys() < whole["paths"].keys()
    assert "stereotype_marking" in json.dumps(whole)


def test_a_token_of_an_annotator_gets_the_schema_of_annotators(join, marking):
    user = join(marking).enrolment.annotator.user
    _, key = issue(user=user, name="mine", scopes=[ApiToken.Scope.ANNOTATE])
    answer = Client().get("/api/schema/?format=json", headers={"Authorization": f"Bearer {key}"})
    assert "/api/v1/studies/" not in answer.json()["paths"]


def test_an_annotator_who_is_also_an_analyst_reads_the_whole_schema(join, marking):
    client = join(marking)
    user = client.enrolment.annotator.user
    StudyMembership.objects.create(study=marking.study, user=user, role=StudyMembership.Role.ANALYST)
    assert "/api/v1/studies/" in client.get("/api/schema/?format=json").json()["paths"]


def addresses(patterns, before="", fill=None):
    """Return every address of the platform, with keys of an existing study and campaign."""
    for one in patterns:
        route = before + str(one.pattern)
        if hasattr(one, "url_patterns"):
            yield from addresses(one.url_patterns, route, fill)
            continue
        filled = re.sub(r"<(?:(\w+):)?(\w+)>", lambda part: str(fill(part[1] or "str", part[2])), route)
        yield "/" + re.sub(r"\(\?P<\w+>[^)]*\)", "1", filled).replace("\\", "").strip("^$").replace("$", "")


def test_no_address_reveals_the_word_to_an_annotator(join, marking):
    client = Recorded()
    client.cookies = join(marking).cookies

    def fill(kind, name):
        if kind == "uuid":
            return uuid.uuid4()
        return marking.pk if kind == "int" else "isles"

    client.raise_request_exception = False
    asked = sorted(set(addresses(get_resolver().url_patterns, fill=fill)))
    assert len(asked) > 150
    for address in asked:
        if "sign-out" in address or address.startswith(("/admin/", "/static")):
            continue
        client.get(address)
        if address.startswith("/api/"):
            client.post(address, {"kind": "?"}, content_type="application/json")
    told = [name for name, text in client.read.items() if WORD in text.casefold()]
    assert told == []
