"""Probe runs over HTTP: counting before a start, starting within the budget, and progress."""

import pytest

from generation.models import Answer, Coding, ProbeRun
from jobs.models import Job
from jobs.run.execution import execute
from studies.models import AuditEntry
from tests.annotation.api.test_labelling import Browser
from tests.generation.probing.probing_study import planned

pytestmark = pytest.mark.django_db
RUNS = "studies/isles/probe-runs/"
PAID = {"price_in": "1", "price_out": "2"}
SCRIPT = {"probe_set": "pairs", "backend": "script", "runs": 1}


@pytest.fixture
def manager(lead):
    return Browser(lead, ["manage"])


@pytest.fixture
def reader(analyst):
    return Browser(analyst, ["read", "manage"])


@pytest.fixture
def outside(stranger):
    return Browser(stranger, ["read", "manage"])


@pytest.fixture
def chat(settings):
    settings.OPENAI_BASE_URLS = ["https://api.example.org/v1"]
    return {**SCRIPT, "backend": "chat", "model_id": "talker-2", **PAID}


def error_of(answer):
    return answer.status_code, answer.json()["error"]["code"]


class TestStart:
    def test_a_run_is_only_counted_unless_the_start_is_asked_for(self, occupations, manager):
        estimate = manager.post(RUNS, SCRIPT).json()["estimate"]
        assert estimate["to_ask"] == estimate["answers"] == sum(p["requests"] for p in estimate["parts"]) > 0
        assert (estimate["cost"], estimate["beyond_budget"]) == (None, False)
        assert not ProbeRun.objects.exists()
        assert not Job.objects.exists()

    def test_a_counted_run_is_started_asked_and_coded(self, occupations, manager):
        body = SCRIPT | {"dry_run": False, "parameters": {"bias": {"orsani": 0.5}, "noise": 0.1}}
        started = manager.post(RUNS, body)
        assert started.status_code == 202
        run = ProbeRun.objects.get(pk=started.json()["run"])
        assert (run.created_by, run.parameters["noise"]) == (manager.user, 0.1)
        execute(started.json()["job"])
        shown = manager.get(f"{RUNS}{run.pk}/").json()["run"]
        assert shown["done"] == started.json()["estimate"]["to_ask"]
        assert (shown["state"], shown["pending"]) == ("finished", 0)
        assert Coding.objects.filter(answer__run=run).exists()

    def test_a_set_used_in_the_study_can_be_put_to_another_model(self, asked, manager):
        body = {"probe_set": "trades", "backend": "script", "model_label": "Another", "dry_run": False}
        started = manager.post(RUNS, body).json()
        assert started["estimate"]["answers"] == 48
        assert ProbeRun.objects.get(pk=started["run"]).probe_set_digest == asked.probe_set_digest

    def test_a_run_that_may_exceed_its_budget_is_not_started(self, occupations, manager, chat):
        body = chat | {"budget": "0.01", "dry_run": False}
        assert manager.post(RUNS, body | {"dry_run": True}).json()["estimate"]["beyond_budget"]
        refused = manager.post(RUNS, body)
        assert error_of(refused) == (409, "beyond_budget")
        assert "more than the budget of 0.01" in refused.json()["error"]["fields"]["budget"]
        assert not ProbeRun.objects.exists()
        assert manager.post(RUNS, body | {"budget": "9"}).status_code == 202
        assert ProbeRun.objects.get().budget == 9

    @pytest.mark.parametrize(
        ("change", "field"),
        [
            ({"probe_set": "/etc/passwd"}, "probe_set"),
            ({"probe_set": "pairs.toml"}, "probe_set"),
            ({"backend": "telepathy"}, "backend"),
            ({"runs": 0}, "runs"),
            ({"runs": "many"}, "runs"),
            ({"samples_per_request": 2}, "samples_per_request"),
            ({"orders": "sideways"}, "orders"),
            ({"parameters": {"bias": [1]}}, "bias"),
            ({"parameters": {"no_such": 1}}, "no_such"),
            ({"parameters": []}, "parameters"),
            ({"budget": "1"}, "price_in"),
            ({"budget": "-1"}, "budget"),
            ({"price_in": "1"}, "price_out"),
            ({"model_label": "x" * 121}, "model_label"),
        ],
    )
    def test_errors_are_named_and_nothing_is_planned(self, occupations, manager, change, field):
        refused = manager.post(RUNS, SCRIPT | {"dry_run": False} | change)
        assert refused.status_code == 400
        assert field in refused.json()["error"]["fields"]
        assert not ProbeRun.objects.exists()

    def test_an_endpoint_that_is_not_allowed_is_not_connected_to(self, occupations, manager, chat):
        body = chat | {"dry_run": False, "parameters": {"endpoint": "http://127.0.0.1:9/v1"}}
        refused = manager.post(RUNS, body)
        assert (refused.status_code, list(refused.json()["error"]["fields"])) == (400, ["endpoint"])

    def test_an_analyst_reads_and_starts_nothing(self, asked, reader):
        assert reader.get(RUNS).status_code == reader.get(f"{RUNS}{asked.pk}/").status_code == 200
        assert reader.post(RUNS, SCRIPT).status_code == 403
        assert reader.post(f"{RUNS}{asked.pk}/go-on/").status_code == 403
        address = f"/api/v1/{RUNS}{asked.pk}/"
        sent = reader.client.patch(address, {"budget": "1"}, content_type="application/json")
        assert sent.status_code == 403

    def test_strangers_do_not_learn_that_a_run_exists(self, asked, outside):
        addresses = (RUNS, f"{RUNS}{asked.pk}/", f"{RUNS}{asked.pk}/answers/")
        assert {outside.get(address).status_code for address in addresses} == {404}
        assert {
            outside.post(address, SCRIPT).status_code for address in (RUNS, f"{RUNS}{asked.pk}/go-on/")
        } == {404}

    @pytest.mark.parametrize("scopes", [["read"], ["annotate"]])
    def test_a_key_is_limited_to_its_scope(self, asked, lead, scopes):
        browser = Browser(lead, scopes)
        assert browser.post(RUNS, SCRIPT).status_code == 403
        assert browser.get(RUNS).status_code == (200 if scopes == ["read"] else 403)

    def test_requests_without_a_key_are_refused(self, asked, client):
        assert client.get(f"/api/v1/{RUNS}").status_code in (401, 403)


class TestRuns:
    def test_runs_are_listed_with_their_counts(self, asked, reader, lead):
        other = planned(asked.study, lead, model_label="Another")
        first, second = reader.get(RUNS).json()["results"]
        assert (first["id"], first["model"], first["pending"], first["state"]) == (
            other.pk, "Another", 48, "interrupted",
        )  # fmt: skip
        assert (second["done"], second["failed"], second["spent"]) == (48, 0, "0.00000000")

    def test_the_number_of_queries_does_not_grow_with_the_runs(
        self, asked, reader, lead, django_assert_max_num_queries
    ):
        for number in range(8):
            planned(asked.study, lead, model_label=f"Model {number}")
        with django_assert_max_num_queries(8):
            assert len(reader.get(RUNS).json()["results"]) == 9

    def test_lists_come_in_pages(self, asked, reader, lead):
        planned(asked.study, lead, model_label="Another")
        first = reader.get(f"{RUNS}?page_size=1").json()
        assert len(first["results"]) == 1
        assert reader.client.get(first["next"]).json()["results"][0]["id"] == asked.pk

    def test_a_run_shows_who_answered_and_why_requests_failed(self, asked, reader):
        keys = list(asked.answers.values_list("pk", flat=True)[:2])
        Coding.objects.filter(answer__in=keys).delete()
        Answer.objects.filter(pk__in=keys).update(outcome="failed", reason="No memory.", text="")
        shown = reader.get(f"{RUNS}{asked.pk}/").json()
        assert shown["failures"] == [{"reason": "No memory.", "requests": 2}]
        assert [(model["name"], model["answers"]) for model in shown["served"]] == [("script-1", 46)]

    def test_folders_of_the_server_are_not_revealed(self, asked, reader):
        ProbeRun.objects.update(model_id="/srv/models/talker")
        assert reader.get(RUNS).json()["results"][0]["model_id"] == "talker"

    def test_pending_requests_are_asked_and_failed_ones_on_request(self, asked, manager):
        keys = list(asked.answers.values_list("pk", flat=True)[:4])
        Coding.objects.filter(answer__in=keys).delete()
        Answer.objects.filter(pk__in=keys).update(outcome="failed", text="")
        left = {"outcome": "pending", "request_sha256": "", "finished_at": None}
        Answer.objects.filter(pk__in=keys[:1]).update(**left)
        address = f"{RUNS}{asked.pk}/go-on/"
        execute(manager.post(address).json()["job"])
        assert Answer.objects.filter(outcome="failed").count() == 3
        again = manager.post(address, {"retry_failed": True})
        assert again.status_code == 202
        assert error_of(manager.post(address)) == (409, "run_under_way")
        execute(again.json()["job"])
        assert set(Answer.objects.values_list("outcome", flat=True)) == {"done"}
        assert error_of(manager.post(address)) == (409, "nothing_to_ask")

    def test_a_lead_changes_prices_and_budget(self, asked, manager):
        def change(**body):
            address = f"/api/v1/{RUNS}{asked.pk}/"
            return manager.client.patch(address, body, content_type="application/json")

        assert change(price_in="1", price_out="2", budget="5").json()["run"]["budget"] == "5.00"
        entry = AuditEntry.objects.get(action="probe.prices_changed")
        assert (entry.actor, entry.details["budget"]) == (manager.user, "5.00")
        assert change(budget="-5").status_code == 400
        assert change(no_such=1).json()["error"]["code"] == "field_unknown"

    def test_a_run_of_another_study_is_not_found(self, asked, manager, lead):
        from studies.protocol.creation import create_study

        create_study(name="Other", resource=None, groups=[], by=lead)
        assert manager.get(f"studies/other/probe-runs/{asked.pk}/").status_code == 404
        assert manager.get("studies/other/probe-runs/").json()["results"] == []
