"""The lead's pages of probe runs: live counts, starting, resuming, budget and failures."""

from decimal import Decimal

import pytest
from django.urls import reverse

from generation.models import Answer, Coding, ProbeRun
from generation.probing.estimates import estimate
from jobs.models import Job
from jobs.run.execution import execute
from studies.models import AuditEntry
from studies.protocol.creation import create_study
from tests.generation.pages.test_runs import text_of
from tests.generation.probing.probing_study import planned

pytestmark = pytest.mark.django_db
PAID = {"price_in": "1", "price_out": "2", "budget": "0.5"}


def address(name, study, *more):
    return reverse(f"generation:{name}", args=[study.slug, *more])


@pytest.fixture
def stuck(asked):
    """The run with two failed and three pending requests."""
    keys = list(asked.answers.values_list("pk", flat=True)[:5])
    Coding.objects.filter(answer__in=keys).delete()
    asked.answers.filter(pk__in=keys[:2]).update(outcome="failed", reason="No memory.", text="")
    asked.answers.filter(pk__in=keys[2:]).update(
        outcome="pending", text="", request_sha256="", finished_at=None
    )
    return asked


class TestNewProbe:
    def estimate(self, client, study, **query):
        return text_of(client.get(address("probe_estimate", study), query))

    def test_an_unsent_form_shows_no_errors_and_no_null(self, study, lead_client):
        page = lead_client.get(address("probe_new", study)).content.decode()
        assert "error-summary" not in page
        assert ">null<" not in page.replace("\n", "")
        assert "no questions to ask" in page  # the missing part is named beside the form

    def test_requests_tokens_and_time_are_shown_before_the_start(self, occupations, lead_client):
        page = self.estimate(lead_client, occupations, probe_set="pairs", backend="script")
        assert "Requests to send" in page
        assert "occupations, choice" in page
        assert "Time not known yet" in page
        assert not ProbeRun.objects.exists()

    def test_cost_and_budget_are_shown_for_a_paid_model(self, occupations, lead_client, settings):
        settings.OPENAI_BASE_URLS = ["https://api.example.org/v1"]
        query = {"probe_set": "pairs", "backend": "chat", "model_id": "talker-2", "send_seed": "on"}
        page = self.estimate(lead_client, occupations, **query, **(PAID | {"budget": "0.01"}))
        assert "At most, in your currency" in page
        assert "The run stops before it costs more than 0.01" in page

    def test_batches_are_chosen_and_priced_in_the_form(self, occupations, lead_client, settings):
        settings.OPENAI_BASE_URLS = ["https://api.example.org/v1"]
        query = {"probe_set": "pairs", "backend": "chat", "model_id": "talker-2", "send_seed": "on", **PAID}
        batches = {"batch_endpoint": "on", "batch_price_factor": "0.25", "batch_size": "", "runs": "1"}
        form = lead_client.get(address("probe_new", occupations), query | batches).context["form"]
        assert form.is_valid()
        plan = form.plan(occupations)
        assert plan.batches == {
            "batch_endpoint": True,
            "batch_price_factor": 0.25,
            "batch_new_limit": False,
        }
        alone = lead_client.get(address("probe_new", occupations), query | {"runs": "1"}).context
        assert estimate(plan).cost * 4 == pytest.approx(alone["estimate"].cost)

    def test_prices_are_left_out_for_a_free_model(self, occupations, lead_client):
        query = {"probe_set": "pairs", "backend": "script", **PAID}
        lead_client.post(address("probe_new", occupations), query)
        assert ProbeRun.objects.get().price_in is None

    def test_a_counted_run_is_queued_asked_and_coded(self, occupations, lead_client):
        query = {"probe_set": "pairs", "backend": "script", "runs": "1", "bias": '{"orsani": 0.5}'}
        answer = lead_client.post(address("probe_new", occupations), query)
        run = ProbeRun.objects.get()
        assert answer["Location"] == address("probe", occupations, run.pk)
        assert (run.runs, run.parameters["bias"]) == (1, {"orsani": 0.5})
        assert "Questions are being asked" in text_of(lead_client.get(answer["Location"]))
        execute(Job.objects.get().pk)
        assert not run.answers.exclude(outcome="done").exists()
        assert Coding.objects.filter(answer__run=run).count() == run.answers.exclude(order="").count()
        assert "No questions are left to ask" in self.estimate(lead_client, occupations, **query)

    @pytest.mark.parametrize(
        ("change", "sentence"),
        [
            ({"bias": "[1]"}, "bias must be given as"),
            ({"bias": "{"}, "Enter a valid JSON"),
            ({"refusal_rate": "2"}, "less than or equal to 1"),
            ({"probe_set": "../../etc/passwd"}, "Select a valid choice"),
            ({"runs": "1", "samples_per_request": "2"}, "A request can ask for 1 to 1 answers"),
        ],
    )
    def test_errors_are_shown_and_nothing_is_planned(self, occupations, lead_client, change, sentence):
        query = {"probe_set": "pairs", "backend": "script", **change}
        assert sentence in self.estimate(lead_client, occupations, **query)
        assert lead_client.post(address("probe_new", occupations), query).status_code == 400
        assert not ProbeRun.objects.exists()

    def test_an_endpoint_that_is_not_allowed_cannot_be_chosen(self, occupations, lead_client, settings):
        settings.OPENAI_BASE_URLS = ["https://api.example.org/v1"]
        query = {
            "probe_set": "pairs",
            "backend": "chat",
            "model_id": "x",
            "endpoint": "http://127.0.0.1:9/v1",
        }
        assert "Select a valid choice" in self.estimate(lead_client, occupations, **query)

    def test_a_set_used_in_the_study_is_offered_for_other_models(self, asked, lead_client):
        page = lead_client.get(address("probe_new", asked.study)).content.decode()
        assert '<option value="trades" selected>Lamps and kites</option>' in page
        query = {"probe_set": "trades", "backend": "script", "model_label": "Another"}
        lead_client.post(address("probe_new", asked.study), query)
        another = ProbeRun.objects.get(model_label="Another")
        assert (another.probe_set_digest, another.answers.count()) == (asked.probe_set_digest, 48)

    def test_an_invented_model_answers_in_simulated_studies_only(self, occupations, lead_client):
        new = address("probe_new", occupations)
        assert '<option value="script"' in lead_client.get(new).content.decode()
        occupations.simulated = False
        occupations.save()
        page = lead_client.get(new).content.decode()
        assert '<option value="chat" selected' in page
        assert '<option value="script"' not in page
        answer = lead_client.post(new, {"probe_set": "pairs", "backend": "script"})
        assert answer.status_code == 400
        assert not ProbeRun.objects.exists()

    def test_a_study_without_images_says_what_is_missing(self, study, lead_client):
        page = self.estimate(lead_client, study, probe_set="pairs", backend="script")
        assert "has no images of the scenarios of this probe set" in page


class TestRun:
    def test_batches_are_listed(self, stuck, lead_client):
        url = address("probe", stuck.study, stuck.pk)
        assert "Batches" not in text_of(lead_client.get(url))
        stuck.batches.create(
            key="k", state="waiting", file_id="f", batch_id="batch_7", requests=500, answered=20
        )
        assert "batch_7 at the endpoint 500" in text_of(lead_client.get(url))
        assert "20 answered" in text_of(lead_client.get(url))

    def test_the_list_counts_outcomes(self, stuck, lead_client):
        page = text_of(lead_client.get(address("probes", stuck.study)))
        assert "trades interrupted 43 0 2 3 — Read answers" in page

    def test_failures_are_listed_with_their_reasons_and_asked_again(self, stuck, lead_client):
        url = address("probe", stuck.study, stuck.pk)
        assert "No memory. 2 requests" in text_of(lead_client.get(url))
        assert lead_client.post(address("probe_retry", stuck.study, stuck.pk))["Location"] == url
        execute(Job.objects.get().pk)
        assert not stuck.answers.exclude(outcome="done").exists()

    def test_answers_made_elsewhere_cannot_be_asked_for_here(self, stuck, lead_client):
        ProbeRun.objects.filter(pk=stuck.pk).update(backend="imported")
        page = text_of(lead_client.get(address("probe", stuck.study, stuck.pk)))
        assert "No memory. 2 requests" in page
        assert "Resume" not in page
        assert "Ask failed questions again" not in page
        for name in ("probe_retry", "probe_go_on"):
            answer = lead_client.post(address(name, stuck.study, stuck.pk), follow=True)
            assert "The answers of this run were imported" in text_of(answer)
        assert stuck.answers.filter(outcome="failed").count() == 2

    def test_resuming_asks_pending_requests_and_leaves_failed_ones(self, stuck, lead_client):
        lead_client.post(address("probe_go_on", stuck.study, stuck.pk))
        execute(Job.objects.get().pk)
        assert set(Answer.objects.values_list("outcome", flat=True)) == {"done", "failed"}

    def test_a_run_with_a_job_is_cancelled_and_cannot_be_started_twice(self, stuck, lead_client):
        go_on = address("probe_go_on", stuck.study, stuck.pk)
        lead_client.post(go_on)
        assert "already being asked" in text_of(lead_client.post(go_on, follow=True))
        lead_client.post(address("probe_cancel", stuck.study, stuck.pk))
        assert Job.objects.get().state == Job.State.CANCELLED
        assert "Resume" in text_of(lead_client.get(address("probe", stuck.study, stuck.pk)))

    def test_parameters_are_shown_under_the_labels_of_the_form(self, asked, lead_client):
        page = text_of(lead_client.get(address("probe", asked.study, asked.pk)))
        assert "Bias tall: 1; short: -1" in page
        assert "Refusals 0" in page
        assert "refusal_rate" not in page

    @pytest.mark.parametrize("name", ["probes", "probe_new", "probe", "answers", "answer"])
    def test_every_page_of_probes_shows_the_tabs_of_the_study(self, asked, lead_client, name):
        places = {"probe": [asked.pk], "answers": [asked.pk], "answer": [asked.pk, asked.answers.first().pk]}
        page = lead_client.get(address(name, asked.study, *places.get(name, []))).content.decode()
        tabs = page.partition('aria-label="Parts of the study"')[2].partition("</nav>")[0]
        assert tabs.partition('aria-current="')[2].partition(">")[2].startswith("Probes<")

    def test_a_lead_raises_the_budget(self, scenarios, lead, lead_client, settings):
        settings.OPENAI_BASE_URLS = ["https://api.example.org/v1"]
        run = planned(
            scenarios, lead, backend="chat", price_in=Decimal(1), price_out=Decimal(1), budget=Decimal(1)
        )
        url = address("probe", scenarios, run.pk)
        assert "0.00 Spent of 1.00" in text_of(lead_client.get(url))
        lead_client.post(url, {"price_in": "1", "price_out": "2", "budget": "5"})
        run.refresh_from_db()
        assert (run.price_out, run.budget) == (2, 5)
        entry = AuditEntry.objects.get(action="probe.prices_changed")
        assert (entry.actor, entry.details["budget"]) == (lead, "5")
        refused = lead_client.post(url, {"budget": "-1"})
        assert refused.status_code == 400

    def test_changes_of_the_served_model_are_listed(self, asked, lead_client):
        url = address("probe", asked.study, asked.pk)
        assert "The model changed" not in text_of(lead_client.get(url))
        asked.answers.filter(pk=asked.answers.first().pk).update(served_model="script-2", fingerprint="f1")
        page = text_of(lead_client.get(url))
        assert "The model changed during this run" in page
        assert "script-2 f1 1" in page

    @pytest.mark.parametrize("name", ["probe_go_on", "probe_retry", "probe_cancel", "probe"])
    def test_only_the_lead_changes_a_run(self, asked, analyst_client, stranger_client, name):
        url = address(name, asked.study, asked.pk)
        assert [c.post(url).status_code for c in (analyst_client, stranger_client)] == [403, 404]

    @pytest.mark.parametrize("name", ["probes", "probe_new", "probe_estimate"])
    def test_strangers_cannot_open_a_run(self, asked, analyst_client, stranger_client, name):
        url = address(name, asked.study)
        expected = 200 if name == "probes" else 403
        assert [c.get(url).status_code for c in (analyst_client, stranger_client)] == [expected, 404]

    def test_a_run_of_another_study_is_not_found(self, asked, lead, lead_client):
        other = create_study(name="Other", resource=None, groups=[], by=lead)
        assert lead_client.get(address("probe", other, asked.pk)).status_code == 404
        assert lead_client.get(address("answers", other, asked.pk)).status_code == 404
