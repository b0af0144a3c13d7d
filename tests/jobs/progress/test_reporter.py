"""Reports of a running job: steps, pace, time left, log."""

import pytest
from django.db import transaction

from foundation import redaction
from jobs.engine.leases import claim
from jobs.models import Job
from jobs.progress import log
from jobs.progress.pace import Pace
from jobs.progress.reporter import JobProgress

pytestmark = pytest.mark.django_db


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_pace_counts_from_the_first_step_that_was_done():
    clock = Clock()
    pace = Pace(clock)
    assert pace.rate(0) is None
    clock.now = 90.0  # a model was loaded, and 500 steps were done by an earlier attempt
    pace.note(500)
    assert pace.rate(500) is None
    clock.now = 100.0
    pace.note(520)
    assert pace.rate(520) == 2.0


def test_pace_looks_back_a_minute_or_ten_slow_steps():
    clock = Clock()
    pace = Pace(clock)
    for second in range(200):
        clock.now = float(second)
        pace.note(min(second, 100) * 10)
    assert pace.rate(1000) == 0 or pace.rate(1000) is None
    slow = Pace(clock)
    for step in range(5):
        clock.now = 1000.0 + 100 * step
        slow.note(step)
    assert slow.rate(4) == pytest.approx(0.01)


def test_time_left_follows_from_the_recent_pace():
    job = Job(state=Job.State.RUNNING, steps_total=100, steps_done=40, rate=2.0)
    assert job.seconds_left == 30
    job.rate = None
    assert job.seconds_left is None
    assert Job(state=Job.State.QUEUED, steps_total=100, rate=2.0).seconds_left is None


def test_a_named_step_is_logged_and_restarts_the_count(make_job):
    job = make_job()
    progress = JobProgress(claim(job.pk))
    progress.step("Reading")
    progress.start(3)
    progress.advance(3)
    progress.step("Checking")
    progress.start(10)
    progress.advance(1)
    progress.write()
    job.refresh_from_db()
    assert (job.step, job.steps_done, job.steps_total) == ("Checking", 1, 10)
    assert [line.text for line in job.lines.all()] == ["Checking", "Reading"]


def test_progress_is_logged_once_a_minute(make_job):
    job = make_job()
    progress = JobProgress(claim(job.pk))
    progress.start(2000)
    progress._line_at -= 61
    progress.advance(120, "a drawing of a Velmari person")
    progress.write()
    assert job.lines.get().text == "120 of 2,000: a drawing of a Velmari person"


def test_lines_logged_inside_a_transaction_are_written_after_it(make_job):
    job = make_job()
    progress = JobProgress(claim(job.pk))
    with transaction.atomic():
        progress.log("a remark")
        assert not job.lines.exists()
    progress.write()
    assert job.lines.get().text == "a remark"


def test_a_log_keeps_its_newest_lines(make_job, monkeypatch):
    monkeypatch.setattr(log, "MOST_LINES", 5)
    job, other = make_job(), make_job()
    log.note(other, "of another job")
    for number in range(12):
        log.note(job, f"line {number}")
    assert [line.text for line in job.lines.all()] == [f"line {number}" for number in range(11, 6, -1)]
    assert other.lines.count() == 1


def test_a_line_is_one_line_and_not_too_long(make_job):
    job = make_job()
    log.note(job, "two\nlines " + "x" * 1000)
    text = job.lines.get().text
    assert text.startswith("two lines xxx")
    assert len(text) == 500


@pytest.fixture
def own_secrets(monkeypatch, tmp_path):
    (tmp_path / "token").write_text("from-a-secret-file\n")
    monkeypatch.setenv("IMAGES_API_KEY", "0123456789abcdef")
    monkeypatch.setenv("HUB_TOKEN_FILE", str(tmp_path / "token"))
    redaction._own_secrets.cache_clear()
    yield
    redaction._own_secrets.cache_clear()


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("refused key 0123456789abcdef", "0123456789abcdef"),
        ("the hub said from-a-secret-file", "from-a-secret-file"),
        ("connect to redis://user:opensesame@broker:6379/0", "opensesame"),
        ("Authorization: Bearer abcdefghijkl", "abcdefghijkl"),
        ("Incorrect API key provided: sk-abcdEFGH1234", "sk-abcdEFGH1234"),
        ('{"password": "hunter22"}', "hunter22"),
        ("api_key=zyxwvuts", "zyxwvuts"),
        ("Authorization: Token 0123456789abcdef0123456789abcdef01234567", "89abcdef0123456789abcdef01234567"),
        ("unknown: eyJhbGciOiJIUzI1.eyJ0b2tlbl90eXBl.c2lnbmF0dXJl", "eyJ0b2tlbl90eXBl"),
        ("shown as eyJhbGciOiJIUzI1.eyJ0b2tlbl90eXBl", "eyJ0b2tlbl90eXBl"),
        ("POST https://a.example/hook?bridge=1&key=zyxwvutsrqponm", "zyxwvutsrqponm"),
    ],
)
def test_keys_passwords_and_tokens_are_removed_from_logs_messages_and_errors(
    make_job, own_secrets, text, hidden
):
    job = make_job()
    progress = JobProgress(claim(job.pk))
    progress.log(text)
    progress.advance(1, text)
    progress.write()
    job.refresh_from_db()
    for said in (job.message, job.lines.get().text):
        assert hidden not in said
        assert "[hidden]" in said


def test_words_that_only_resemble_secrets_stay():
    text = "The key of the map is on page 3: tokens of 12 words, at http://127.0.0.1:8000/a"
    assert redaction.without_secrets(text) == text
