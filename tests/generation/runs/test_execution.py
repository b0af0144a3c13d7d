"""A run's requests become images despite interruptions and failures."""

import socket
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest
from django.core.files.storage import FileSystemStorage, default_storage
from django.core.management import call_command

from foundation.errors import Conflict, DomainError
from generation.backends.sketch.backend import sketch_attributes
from generation.models import Image
from generation.prompts.creation import set_prompts
from generation.runs.execution import reopen_failed, run
from generation.runs.launch import start, start_here
from generation.runs.planning import plan_run
from jobs.engine.leases import claim
from jobs.models import Job
from jobs.progress.reporter import Cancelled, Unwatched
from jobs.run.control import cancel, retry
from jobs.run.execution import run_here
from jobs.run.recovery import sweep
from tests.foundation.database.own_database import own_server


class Stopping(Unwatched):
    """Requests a stop after some steps."""

    def __init__(self, after):
        self.left = after

    def advance(self, n=1, message=""):
        self.left -= n

    def check_cancelled(self):
        if self.left <= 0:
            raise Cancelled


class FullDisk(FileSystemStorage):
    """A storage whose writes go to the device that is always full; everything else is the ordinary folder."""

    def _save(self, name, content):
        with open("/dev/full", "wb", buffering=0) as file:
            file.write(content.read())
        return name


@contextmanager
def storage_full(settings):
    before = settings.STORAGES
    settings.STORAGES = {**before, "default": {"BACKEND": f"{__name__}.FullDisk"}}
    yield
    settings.STORAGES = before


@pytest.fixture
def planned(study, lead, prompts):
    return plan_run(study=study, backend="sketch", by=lead, parameters={"default_probability": 0.5})


@pytest.mark.django_db
class TestHere:
    def test_every_request_becomes_an_image_with_its_ground_truth(self, planned, study):
        result = run(run=planned, progress=Unwatched())
        assert (result.done, result.failed, result.left) == (12, 0, 0)
        assert Image.objects.filter(study=study).count() == 12
        request = planned.requests.select_related("image", "group").first()
        image = request.image
        assert request.outcome == "done"
        assert request.finished_at is not None
        assert (image.group, image.prompt, image.model_label) == (request.group, request.prompt, "sketch")
        assert image.provenance["seed"] == request.seed
        assert image.provenance["parameters"] == {"probabilities": {}, "default_probability": 0.5}
        for part in image.provenance["drawn"]:
            assert set(part) == {"attribute", "x", "y", "width", "height"}
        assert default_storage.size(image.file) == image.bytes

    def test_a_limited_run_is_completed_by_the_next(self, planned):
        first = run(run=planned, progress=Unwatched(), limit=5)
        assert (first.done, first.left) == (5, 7)
        assert str(first) == "5 images made, 7 left to generate."
        assert run(run=planned, progress=Unwatched()).done == 7
        assert run(run=planned, progress=Unwatched()).done == 0
        assert Image.objects.count() == 12

    def test_stopped_between_images_it_keeps_those_it_made(self, planned):
        with pytest.raises(Cancelled):
            run(run=planned, progress=Stopping(after=4))
        assert planned.requests.filter(outcome="done").count() == 4
        assert run(run=planned, progress=Unwatched()).done == 8

    def test_the_same_run_elsewhere_gives_the_same_bytes(self, planned):
        run(run=planned, progress=Unwatched())
        first = set(Image.objects.values_list("sha256", flat=True))
        planned.requests.update(outcome="pending", image=None)
        Image.objects.all().delete()
        run(run=planned, progress=Unwatched())
        assert set(Image.objects.values_list("sha256", flat=True)) == first

    def test_a_request_that_another_worker_finished_meanwhile_is_left_as_it_is(self, planned):
        """The other worker finishes all requests while this one is at its first image."""

        class Racing(Unwatched):
            raced = False

            def check_cancelled(self):
                if not self.raced:
                    self.raced = True
                    run(run=planned, progress=Unwatched())

        assert run(run=planned, progress=Racing()).done == 0
        assert Image.objects.count() == 12

    def test_a_picture_that_cannot_be_stored_fails_with_the_reason(self, study, lead, settings):
        texts = ["a {id}", "one {id}", "some {id}", "my {id}"]
        set_prompts(study=study, templates=texts, images_per_prompt=1, by=lead)
        planned = plan_run(study=study, backend="sketch", by=lead)
        settings.IMAGE_MAX_PIXELS = 1000
        with pytest.raises(
            DomainError, match="Stopped after 5 failures in a row: What the model made has 512 × 512"
        ):
            run(run=planned, progress=Unwatched())
        failed = planned.requests.filter(outcome="failed")
        assert failed.count() == 5
        assert "the limit is 1,000" in failed.first().reason
        settings.IMAGE_MAX_PIXELS = 40_000_000
        assert reopen_failed(run=planned) == 5
        assert run(run=planned, progress=Unwatched()).done == 8

    def test_one_prompt_that_always_fails_holds_up_no_other(self, study, lead, settings):
        """Its six images fail in a row; on a retry, they come after images that were never requested."""
        settings.IMAGE_MAX_BYTES = 40_000
        planned = self.with_one_that_cannot_be_kept(study, lead)
        result = run(run=planned, progress=Unwatched())
        assert (result.done, result.failed, result.left) == (6, 6, 0)
        planned.requests.filter(outcome="done").update(outcome="pending", image=None, seconds=None)
        reopen_failed(run=planned)
        first = run(run=planned, progress=Unwatched(), limit=6)
        assert (first.done, first.failed) == (6, 0)
        assert run(run=planned, progress=Unwatched()).failed == 6

    def with_one_that_cannot_be_kept(self, study, lead):
        """Many attributes make a large file, no attribute a small one."""
        set_prompts(study=study, templates=["a {id}"], images_per_prompt=6, by=lead)
        drawn = dict.fromkeys(sketch_attributes(), 1.0)
        parameters = {"probabilities": {"Orsani": drawn}, "default_probability": 0}
        return plan_run(study=study, backend="sketch", by=lead, parameters=parameters)

    def test_a_study_of_one_prompt_stops_after_many_failures_too(self, study, lead, settings):
        settings.IMAGE_MAX_PIXELS = 1000
        set_prompts(study=study, templates=["a {id}"], images_per_prompt=13, by=lead)
        with pytest.raises(DomainError, match="Stopped after 25 failures in a row"):
            run(run=plan_run(study=study, backend="sketch", by=lead), progress=Unwatched())

    def test_a_full_disk_stops_the_run_in_one_sentence_and_it_goes_on_when_there_is_room(
        self, planned, lead, settings
    ):
        """/dev/full answers every write as a full disk does."""
        run(run=planned, progress=Unwatched(), limit=2)
        with storage_full(settings), pytest.raises(DomainError) as stopped:
            start_here(run=planned, by=lead, progress=Unwatched())
        assert stopped.value.message == (
            "The storage for images is full. Free some space and try again. All images made so far are kept."
        )
        job = Job.objects.get()
        assert (job.state, job.error) == (Job.State.FAILED, stopped.value.message)
        assert planned.requests.filter(outcome="pending").count() == 10
        retry(job=job)
        assert run_here(job, Unwatched()).state == Job.State.SUCCEEDED
        assert planned.requests.filter(outcome="done").count() == 12
        assert all(default_storage.size(image.file) == image.bytes for image in Image.objects.all())

    def test_storage_that_may_not_be_written_stops_the_run(self, planned, settings, tmp_path):
        (tmp_path / "file").write_text("not a folder")
        settings.MEDIA_ROOT = tmp_path / "file"
        with pytest.raises(DomainError, match="Images cannot be stored: "):
            run(run=planned, progress=Unwatched())
        assert not planned.requests.exclude(outcome="pending").exists()

    def test_each_image_takes_a_fixed_number_of_queries(self, planned, django_assert_max_num_queries):
        with django_assert_max_num_queries(10 + 12 * 9):
            run(run=planned, progress=Unwatched())


@pytest.mark.django_db
class TestJobs:
    def test_a_run_is_queued_once(self, planned, lead):
        job = start(run=planned, by=lead)
        assert (job.kind, job.arguments, job.study_id) == (
            "generate",
            {"run": planned.pk, "until": None},
            planned.study_id,
        )
        with pytest.raises(Conflict, match="already being generated"):
            start(run=planned, by=lead)
        cancel(job=job)
        assert start(run=planned, by=lead).pk != job.pk

    def test_a_retried_old_job_leaves_the_run_to_its_newer_job(self, planned, lead):
        old = start(run=planned, by=lead)
        cancel(job=old)
        newer = start(run=planned, by=lead)
        retry(job=old)
        with pytest.raises(Conflict, match=f"already being generated: see job {newer.pk}"):
            run_here(old, Unwatched())
        assert not Image.objects.exists()
        assert run_here(newer, Unwatched()).result["summary"] == "12 images made."
        # Once no other job works on the run, the old one may resume it.
        retry(job=old)
        assert run_here(old, Unwatched()).result["summary"] == "0 images made."
        planned.refresh_from_db()
        assert planned.job == old

    def test_the_console_leaves_a_run_to_the_worker_that_has_it(self, planned, lead):
        job = start(run=planned, by=lead)
        claim(job.pk, worker="elsewhere:7:abc")
        with pytest.raises(Conflict, match="already being generated"):
            start_here(run=planned, by=lead, progress=Unwatched())
        assert Job.objects.count() == 1

    def test_the_console_resumes_at_once_after_a_kill(self, planned, lead):
        with subprocess.Popen([sys.executable, "-c", ""]) as ended:
            ended.wait()
        killed = start(run=planned, by=lead)
        claim(killed.pk, worker=f"{socket.gethostname()[:80]}:{ended.pid}")
        done = start_here(run=planned, by=lead, progress=Unwatched())
        assert done.result["summary"] == "12 images made."
        killed.refresh_from_db()
        assert killed.state == Job.State.CANCELLED
        assert sweep().requeued == ()

    def test_a_limit_holds_for_all_attempts_of_a_job_together(self, planned, lead):
        job = start(run=planned, by=lead, limit=5)
        run(run=planned, progress=Unwatched(), limit=3)  # images of a killed attempt
        assert run_here(job, Unwatched()).result["summary"] == "2 images made, 7 left to generate."

    def test_a_job_at_the_console_waits_in_the_queue_of_its_model(self, planned, lead, settings):
        settings.GPU_QUEUE = True
        planned.backend, planned.model_id = "diffusers", "/nowhere"
        planned.save()
        with pytest.raises(DomainError, match="There is no folder"):
            start_here(run=planned, by=lead, progress=Unwatched())
        assert Job.objects.get().queue == "gpu"

    def test_a_finished_run_has_nothing_to_start(self, planned, lead):
        job = start_here(run=planned, by=lead, progress=Unwatched())
        assert job.state == Job.State.SUCCEEDED
        assert job.result == {"summary": "12 images made.", "url": "/studies/isles/images/"}
        with pytest.raises(Conflict, match="has been generated"):
            start(run=planned, by=lead)


@pytest.mark.django_db
class TestCommand:
    def generate(self, *arguments, **options):
        call_command("generate", "--study", "Isles", *arguments, **options)

    def test_the_command_plans_makes_and_resumes_a_run(self, study, prompts, capsys):
        self.generate("--limit", "5")
        assert capsys.readouterr().out == "5 images made, 7 left to generate.\n"
        self.generate()
        assert capsys.readouterr().out == "7 images made.\n"

    def test_the_command_takes_prompts_and_parameters(self, study, capsys):
        probabilities = 'probabilities={"Velmari": {"kite": 1}}'
        prompt = ["--prompt", "{a_an} {id} person", "--images-per-prompt", "2"]
        self.generate(
            *prompt, "--param", probabilities, "--param", "default_probability=0", "--label", "kites"
        )
        images = Image.objects.filter(model_label="kites")
        assert images.count() == 4
        assert all(
            [part["attribute"] for part in image.provenance["drawn"]] == ["kite"]
            for image in images.filter(group__name="Velmari")
        )
        with pytest.raises(Conflict, match="already has prompts"):
            self.generate(*prompt)

    def test_the_command_queues_a_run(self, study, prompts, capsys):
        self.generate("--queue")
        assert capsys.readouterr().out == f"Queued as job {Job.objects.get().pk}.\n"
        assert not Image.objects.exists()

    @pytest.mark.parametrize(
        ("arguments", "sentence"),
        [
            (["--study", "Nowhere"], "There is no study “Nowhere”."),
            (["--param", "steps"], "Write --param as NAME=VALUE, not “steps”."),
            (["--by", "nobody"], "no active user named “nobody”"),
            (
                ["--backend", "diffusers", "--model", "/nowhere"],
                "There is no folder “/nowhere” on this server.",
            ),
        ],
    )
    def test_the_command_reports_errors_in_one_sentence(self, study, prompts, arguments, sentence):
        with pytest.raises(DomainError) as refusal:
            self.generate(*arguments)
        assert sentence in refusal.value.message


@pytest.mark.slow
def test_a_worker_killed_while_it_draws_leaves_no_duplicate_and_no_gap(tmp_path):
    with own_server(
        tmp_path, JOB_LEASE_SECONDS="2", JOB_BACKOFF_SECONDS="0", JOB_MAX_ATTEMPTS="20"
    ) as server:
        server.ask(
            "from generation.prompts.creation import set_prompts\n"
            "study = Study.objects.create(name='Isles', slug='isles', seed=7)\n"
            "[StudyGroup.objects.create(study=study, name=name, display_name=name) for name in ('Velmari', "
            "'Orsani')]\n"
            "set_prompts(study=study, templates=['a {id}'], images_per_prompt=20, by=None)\n"
            "answer = 0"
        )
        server.run("generate", "--study", "Isles", "--queue")
        done = "SELECT count(*) FROM generation_generationrequest WHERE outcome = 'done'"
        for least in (4, 12):
            with server.start("db_worker", "--no-startup-delay", "--interval", "0.1") as worker:
                end = time.monotonic() + 60
                while server.rows(done)[0][0] < least:
                    assert time.monotonic() < end, "the worker makes no images"
                    time.sleep(0.02)
                worker.kill()
            server.bring_back_jobs()
            assert server.rows("SELECT state FROM jobs_job") == [("queued",)]
        assert server.rows(done)[0][0] < 40
        server.run("db_worker", "--batch", "--no-startup-delay")
        assert server.rows("SELECT state FROM jobs_job") == [("succeeded",)]
        assert server.rows(done) == [(40,)]
        assert server.rows("SELECT count(*), count(DISTINCT sha256) FROM generation_image") == [(40, 40)]
        files = list((tmp_path / "var" / "media" / "images").rglob("*.png"))
        # Each kill leaves at most one file without a row; it has the name that the next attempt will use.
        assert len(files) == 40
