"""Malicious bodies and addresses are answered with 400 and a sentence, never with 500."""

import json
import uuid

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse
from drf_spectacular.generators import SchemaGenerator

from annotation.models import Annotation
from generation.models import Answer, ProbeRun
from tests.annotation.api.test_labelling import Browser
from tests.annotation.conftest import marking, rating
from tests.annotation.factories import new_annotator
from tests.foundation.damage import how_many, mutated_json
from tests.generation.probing.probing_study import questions
from web.api.parsers import MAX_DEPTH

__all__ = ["marking", "rating"]

pytestmark = pytest.mark.django_db

WRITES = ("post", "put", "patch")


def endpoints() -> list[tuple[str, str]]:
    """Every address of the API that takes a body, as its schema lists them."""
    paths = SchemaGenerator().get_schema(request=None, public=True)["paths"]
    return [
        (method, path)
        for path, operations in paths.items()
        for method in WRITES
        if "requestBody" in operations.get(method, {})
    ]


def sent(client: Client, method: str, address: str, body: bytes | str):
    client.raise_request_exception = True
    return getattr(client, method)(address, body, content_type="application/json")


@pytest.fixture
def root(django_user_model) -> Browser:
    user = django_user_model.objects.create_superuser("root", password="a long password", is_lead=True)
    return Browser(user, ["annotate", "manage", "read"])


def probe_answer(study) -> Answer:
    """Return a stored answer of a probe run."""
    probe_set = questions()
    run = ProbeRun.objects.create(
        study=study,
        probe_set="trades",
        probe_set_digest=probe_set.digest,
        questions=probe_set.model_dump(mode="json"),
        backend="script",
        model_label="script",
        seed=1,
        runs=1,
        orders="both",
    )
    return Answer.objects.create(run=run, experiment="trades", question="trade", order="published", repeat=0)


@pytest.fixture
def addresses(marking, study, root):
    """One address of an existing object for each address of the schema."""
    study.memberships.create(user=root.user, role="lead")
    task = Browser(new_annotator(marking).user)
    assignment = task.next(marking).json()["assignment"]

    answer = probe_answer(study)

    def of(path: str) -> str:
        if "probe-runs/" in path or "v1/answers/" in path:
            number = answer.run_id if "probe-runs/" in path else answer.pk
            return path.replace("{slug}", study.slug).replace("{id}", str(number))
        path = path.replace("{slug}", study.slug).replace("{public_id}", assignment)
        return path.replace("{id}", str(marking.pk))

    return of, task


NESTED = {
    "lists": "[" * 100_000 + "]" * 100_000,
    "objects": '{"a":' * 50_000 + "1" + "}" * 50_000,
    "what Python reads still": "[" * 900 + "]" * 900,
    "inside a field": json.dumps({"name": json.loads("[" * 60 + "]" * 60), "answer": {}}),
}
UNSTORABLE = {
    "half a pair": r'{"name": "\ud800", "answer": {"rating": 3}}',
    "a key that is half a pair": r'{"\ud800": 1}',
    "NUL": r'{"name": "a\u0000b"}',
    "a number of many digits": '{"name": 1' + "0" * 400 + "}",
    "a number of too many digits to read": '{"name": 1' + "0" * 5_000 + "}",
    "not a number": '{"name": NaN}',
    "no UTF-8": b'{"name": "\xff"}',
    "cut": '{"name": "',
}


@pytest.mark.parametrize(("method", "path"), endpoints(), ids=lambda value: str(value))
def test_every_endpoint_refuses_json_that_it_cannot_store(method, path, addresses, root):
    of, labelling = addresses
    client = (labelling if "assignments" in path else root).client
    if "webhooks" in path:
        expected = {404}  # the response does not depend on the fault in the hint
    elif "label-studio" in path or "practice" in path:
        expected = {400, 404}  # no such object exists
    else:
        expected = {400}
    for what, body in (NESTED | UNSTORABLE).items():
        answer = sent(client, method, of(path), body)
        assert answer.status_code in expected, (what, answer.content[:300])
        assert set(answer.json()["error"]) == {"code", "message", "fields"}


def test_bodies_are_accepted_up_to_the_greatest_depth(root, addresses):
    of, _ = addresses
    for depth in (MAX_DEPTH - 2, MAX_DEPTH + 2):
        body = json.dumps({"name": json.loads("[" * depth + "]" * depth)})
        message = sent(root.client, "patch", of("/api/v1/campaigns/{id}/"), body).json()["error"]["message"]
        assert ("nested more than" in message) == (depth > MAX_DEPTH)


def test_damaged_bodies_are_answered_with_a_status_of_the_client(root, addresses, marking, study):
    of, labelling = addresses
    labels = {"submission_id": str(uuid.uuid4()), "answer": {"present": [], "none_of_the_above": True}}
    labels["active_seconds"] = 2.5
    bodies = [
        (labelling, "post", of("/api/v1/assignments/{public_id}/submit"), labels),
        (labelling, "post", of("/api/v1/assignments/{public_id}/report"), {"reason": "broken", "text": "x"}),
        (root, "patch", of("/api/v1/campaigns/{id}/"), {"name": "a", "options": {"pay_amount": 9}}),
        (root, "post", of("/api/v1/campaigns/{id}/copies"), {"name": "Again", "same_draw": True}),
        (root, "post", of("/api/v1/campaigns/{id}/instruments"), {"guidelines": "Look."}),
        (root, "post", of("/api/v1/campaigns/{id}/extend"), {"annotators_per_task": 3}),
        (
            root,
            "post",
            of("/api/v1/studies/{slug}/campaigns/"),
            {"name": "b", "kind": "stereotype_marking", "annotators_per_task": 2, "options": {}, "quota": []},
        ),
        (root, "post", of("/api/v1/studies/{slug}/results/"), {"resamples": 10, "seed": 1, "options": {}}),
        (
            root,
            "post",
            of("/api/v1/studies/{slug}/probe-runs/"),
            {
                "probe_set": "pairs",
                "backend": "script",
                "runs": 2,
                "budget": "1",
                "parameters": {"bias": {"a": 1}},
            },
        ),
        (root, "patch", of("/api/v1/studies/{slug}/probe-runs/{id}/"), {"price_in": "1", "price_out": "2"}),
        (root, "post", of("/api/v1/studies/{slug}/probe-runs/{id}/go-on/"), {"retry_failed": True}),
        (
            root,
            "post",
            of("/api/v1/answers/{id}/overrides/"),
            {"outcome": "both", "reason": "It names both."},
        ),
    ]
    statuses = set()
    for seed, (browser, method, address, body) in enumerate(bodies):
        for damaged in mutated_json(body, how_many(25), seed=seed):
            answer = sent(browser.client, method, address, damaged)
            assert answer.status_code < 500, (address, damaged[:300])
            statuses.add(answer.status_code)
    assert 400 in statuses


@pytest.mark.parametrize("number", ["0", "9" * 18, "9" * 19, "9" * 30, "9" * 300])
def test_numbers_in_addresses_may_be_of_any_size(number, root):
    for path in (
        "campaigns/{}/",
        "campaigns/{}/progress",
        "jobs/{}/",
        "label-studio/{}/",
        "answers/{}/overrides/",
    ):
        assert root.get(path.format(number)).status_code == 404
    assert root.get(f"campaigns/?cursor={number}").status_code in {200, 404}


def test_an_address_with_a_nul_is_answered(root, lead_client, study, marking):
    names = (
        "page",
        "q",
        "state",
        "cursor",
        "group",
        "model",
        "attribute",
        "condition",
        "sort",
        "kind",
        "after",
    )
    query = "&".join(f"{name}=a%00b" for name in names)
    for address in (
        reverse("studies:list"),
        reverse("generation:images", args=[study.slug]),
        reverse("jobs:list"),
        reverse("catalog:list"),
        f"/studies/{study.slug}/",
        f"/studies/{study.slug}/campaigns/{marking.pk}/",
        f"/studies/{study.slug}/campaigns/{marking.pk}/annotators/",
        f"/studies/{study.slug}/results/",
        f"/studies/{study.slug}/releases/",
        "/api/v1/campaigns/",
        "/api/v1/studies/",
    ):
        client = root.client if address.startswith("/api/") else lead_client
        answer = client.get(f"{address}?{query}")
        assert answer.status_code in {200, 302, 400, 404}, address


@pytest.mark.parametrize("nested", ["%0%000", "%%0000"])
def test_nested_escapes_of_nul_are_removed_too(lead_client, study, nested):
    answer = lead_client.get(f"{reverse('generation:images', args=[study.slug])}?group=a{nested}b&page=2")
    assert answer.status_code == 200
    assert answer.wsgi_request.GET.dict() == {"group": "ab", "page": "2"}


def test_a_cookie_with_a_nul_is_no_session(client, db):
    client.cookies.load(f'{settings.SESSION_COOKIE_NAME}="aaaaaaaaaaaaaaaa\\000aaaaaaaaaaaaaaaa"')
    assert client.get(reverse("studies:list")).status_code == 302


def test_an_answer_with_a_lone_surrogate_stores_no_label(marking, addresses):
    of, labelling = addresses
    answer = {"rating": 3, "justification": "\ud800"}
    body = json.dumps({"submission_id": str(uuid.uuid4()), "answer": answer})
    answer = sent(labelling.client, "post", of("/api/v1/assignments/{public_id}/submit"), body)
    assert answer.status_code == 400
    assert "half of a surrogate pair" in answer.json()["error"]["message"]
    assert not Annotation.objects.exists()
