"""Every address states who may use it, and admits exactly these people."""

import re
import uuid

import pytest
from django.db import transaction
from django.test import Client
from django.urls import get_resolver

from accounts.rights import (
    BY_BREAK_GLASS,
    CAPABILITIES,
    OF_ADMINISTRATORS,
    OF_MEMBERS,
    OF_PERSONS,
    WITHOUT_MEMBERSHIP,
    Capability,
    Role,
    person_may,
)
from annotation.label_studio.models import LabelStudioAnnotation
from generation.models import Answer
from jobs.models import Job
from studies.membership import break_glass
from studies.models import StudyMembership
from tests.annotation.factories import new_annotator
from tests.annotation.label_studio import rows
from tests.annotation.label_studio.scenario import told
from tests.front.addresses import METHODS, address_table, addresses, role_table
from tests.front.pages import ask

pytestmark = pytest.mark.django_db

ADDRESSES = list(addresses())
NOBODY = uuid.UUID(int=0)
# Rights of administrators in studies of which they are not members.
OF_ADMINISTRATOR = {
    "administrator": WITHOUT_MEMBERSHIP,
    "by break-glass": WITHOUT_MEMBERSHIP | BY_BREAK_GLASS,
}
OF_JOBS = {Capability.SEE_JOBS, Capability.STEER_JOBS}
# Arguments for addresses that need not refer to existing rows.
ANY = {
    "token": "none", "table": "tendency", "plot": "theta", "format": "svg", "prefix": "none", "resource": "none",
    "key": "rubric", "language": "de", "move": "pause", "group": "Velmari", "attribute": "drum",
    "image": NOBODY, "public_id": NOBODY, "task": NOBODY, "panel": 1, "version": 1,
}  # fmt: skip


def test_every_address_states_a_right():
    silent = [address.path for address in ADDRESSES if not address.rights]
    assert silent == [], "State with @requires(…) who may use these; see docs/operate/rights.md."


def test_every_method_that_a_view_answers_has_a_right_and_no_other():
    differing = {
        address.path: sorted(address.served ^ (set(address.rights) & set(METHODS)))
        for address in ADDRESSES
        # Django's forms answer PUT as POST, and redirects answer everything.
        if address.served - {"PUT"} != (set(address.rights) & set(METHODS)) - {"PUT"}
        and not address.view.__module__.startswith(("django.", "allauth."))
        and address.rights.get("GET") != Capability.SIGNED_IN
    }
    assert differing == {}


def test_the_tables_of_the_documentation_name_every_role_and_address():
    assert all(role.words in role_table() for role in Role)
    assert "/studies/<slug:study>/results/" in address_table()


def test_a_view_without_a_right_is_refused_to_everybody(admin_client, settings):
    settings.ROOT_URLCONF = "tests.front.urls_without_right"
    assert admin_client.get("/silent/").status_code == 403
    assert admin_client.get("/api/silent/").status_code == 403
    assert admin_client.post("/reading/").status_code == 405


@pytest.mark.parametrize("slash", ["", "/"])
def test_an_action_without_a_right_is_refused_to_everybody(admin_client, settings, slash):
    settings.ROOT_URLCONF = "tests.front.urls_without_right"
    people = "/api/people"
    assert [admin_client.get(people + slash).status_code, admin_client.head(people + slash).status_code] == [
        200
    ] * 2
    assert admin_client.post(people + slash).status_code == 403
    assert admin_client.get(f"{people}/1/silent{slash}").status_code == 403
    assert admin_client.get(f"{people}/1/reading{slash}").status_code == 200
    assert admin_client.post(f"{people}/1/reading{slash}").status_code == 403
    assert admin_client.put(f"{people}/1/reading{slash}").status_code == 405


def test_the_list_of_addresses_shows_actions_without_a_right():
    unstated = {
        address.path: sorted(address.served - set(address.rights))
        for address in addresses(get_resolver("tests.front.urls_without_right"))
        if hasattr(address.view, "actions") and address.served - set(address.rights)
    }
    assert unstated == {
        f"api/people{path}{slash}": [method]
        for path, method in (("", "POST"), ("/<int:pk>/silent", "GET"), ("/<int:pk>/reading", "POST"))
        for slash in ("", "/")
    }


@pytest.fixture
def people(answered, lead, analyst, stranger, annotator):
    """A client for each role, and for people outside the study."""
    signed_in = {Role.LEAD: lead, Role.ANALYST: analyst, "stranger": stranger, "annotator": annotator.user}
    clients = {}
    for role in Role:
        if role not in signed_in:
            member = type(lead).objects.create_user(str(role), password="not-tested")
            StudyMembership.objects.create(study=answered.study, user=member, role=role)
            signed_in[role] = member
    signed_in["administrator"] = type(lead).objects.create_superuser("ada", password="not-tested")
    signed_in["by break-glass"] = type(lead).objects.create_superuser("bea", password="not-tested")
    break_glass.open_study(
        study=answered.study, by=signed_in["by break-glass"], reason="An annotator asks what is stored."
    )
    for name, user in signed_in.items():
        clients[name] = Client(raise_request_exception=False)
        clients[name].force_login(user)
    return clients | {"nobody": Client()}, signed_in


@pytest.fixture
def places(answered, lead):
    """Arguments of addresses, by a part of the path where `pk` means different things, the longest first."""
    server = rows.server_of(answered.study)
    bridge = rows.bridge_of(answered, server)
    user = rows.user_of(server, 2, state="mapped", annotator=new_annotator(answered))
    told(bridge, answered.tasks.earliest("pk"), 901, 2, minute=1)
    job = Job.objects.create(kind="generate", title="Generate", study_id=answered.study.pk, created_by=lead)
    ask(answered.study, lead)
    keys = {
        "label-studio/people/": user.pk,
        "label-studio/answers/": LabelStudioAnnotation.objects.get(external_id=901).pk,
        "v1/answers/": Answer.objects.latest("pk").pk,
        "label-studio/<": server.pk,
        "jobs/<": job.pk,
        "campaigns/<": answered.pk,
        "": 1,
    }
    return keys, {"study": "isles", "slug": "isles", "campaign": answered.slug, "campaign_id": answered.pk}


def url_of(address, places) -> str:
    """Return an address of the pattern; objects named below a campaign need not exist."""
    keys, named = places
    path = address.path
    if path.startswith("studies/<slug:study>/results/^plots"):
        return "/studies/isles/results/plots/theta.svg"
    for parameter in address.parameters:
        key = next(pk for piece, pk in keys.items() if piece in path)
        value = named.get(parameter) or ANY.get(parameter) or "1"
        path = path.replace(f"<int:{parameter}>", str(key if parameter == "pk" else named.get(parameter, 1)))
        path = re.sub(rf"<\w+:{parameter}>", str(value), path)
    return f"/{path}"


def is_let_in(answer, *, as_member: bool) -> bool:
    """Return whether a response is not a refusal. For members, 404 only means that the object does not exist."""
    to_sign_in = answer.status_code == 302 and "/account/sign-in/" in answer["Location"]
    return not to_sign_in and answer.status_code not in {401, 403, *(() if as_member else (404,))}


def should_be_let_in(name: str, user, capability: Capability) -> bool:
    if capability in OF_MEMBERS | OF_ADMINISTRATORS:
        return capability in (CAPABILITIES | OF_ADMINISTRATOR).get(name, ())
    return user is not None and person_may(user, capability)


@pytest.mark.slow
def test_every_address_admits_exactly_the_people_in_the_table(people, places):
    clients, users = people
    wrong = []
    for address in ADDRESSES:
        url = url_of(address, places)
        for method, capability in address.rights.items():
            if method == "HEAD" or capability in {Capability.ANYONE, Capability.BY_KEY}:
                continue
            for name, client in clients.items():
                # People get 404 for jobs that they may not see.
                sees_study = name in CAPABILITIES | OF_ADMINISTRATOR
                as_member = (sees_study and capability not in OF_JOBS) or capability in OF_PERSONS
                with transaction.atomic():
                    answer = client.generic(method, url, content_type="application/json")
                    transaction.set_rollback(True)
                expected = should_be_let_in(name, users.get(name), capability)
                if is_let_in(answer, as_member=as_member) != expected or answer.status_code == 500:
                    wrong.append(f"{name} {method} {url}: {answer.status_code}")
    assert wrong == [], "\n".join(wrong)
