"""`make demo` as newcomers use it: one real process, every page of every role, and Ctrl-C."""

import http.cookiejar
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import psutil
import pytest

from demo.seed import seed_demo
from foundation.errors import Forbidden
from jobs.progress.reporter import Unwatched

ROOT = Path(__file__).resolve().parents[2]
# Forms, and the preview, which shows the annotator's screen and is equally blind.
WITHOUT_NUMBERS = ("generate/", "import/", "?kind=stereotype_marking", "preview/", "progress/")
STUDIES = (
    "/studies/invented-peoples/",
    "/studies/islanders-in-everyday-scenes/",
    "/studies/words-about-islanders/",
)
START_SECONDS = 240  # on a busy machine; an idle one needs a tenth of it


class Demo:
    """The process that `make demo` starts, with a separate folder and port."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.env = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"} | {
            "STEREOSCOPE_DEMO": "1",
            "STEREOSCOPE_VAR": str(folder),
            "PYTHONUNBUFFERED": "1",
        }

    def start(self) -> None:
        self.log = (self.folder / "log").open("w+")
        command = [sys.executable, "manage.py", "demo", "--port", str(self.port)]
        self.process = subprocess.Popen(command, cwd=ROOT, env=self.env, stdout=self.log, stderr=self.log)
        deadline = time.monotonic() + START_SECONDS
        while "Press Ctrl-C to stop" not in self.printed():
            assert self.process.poll() is None, self.printed()
            assert time.monotonic() < deadline, self.printed()
            time.sleep(0.5)

    def printed(self) -> str:
        return (self.folder / "log").read_text()

    def stop(self) -> int:
        self.process.send_signal(signal.SIGINT)
        self.log.close()
        return self.process.wait(timeout=120)

    def ask(self, code: str):
        """Run Python in the demo's database and return the value of its variable `answer`."""
        command = [
            sys.executable,
            "manage.py",
            "shell",
            "-v",
            "0",
            "-c",
            f"{code}\nimport json\nprint(json.dumps(answer))",
        ]
        done = subprocess.run(command, cwd=ROOT, env=self.env, capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    def visitor(self, username: str, password: str) -> urllib.request.OpenerDirector:
        """Sign in as a browser does, and return an opener with the session."""
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))
        address = f"http://127.0.0.1:{self.port}/account/sign-in/"
        form = opener.open(address).read().decode()
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', form)
        assert token is not None
        fields = {"csrfmiddlewaretoken": token[1], "username": username, "password": password}
        assert "sign-in" not in opener.open(address, urllib.parse.urlencode(fields).encode()).url
        return opener


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    demo = Demo(tmp_path_factory.mktemp("demo"))
    demo.start()
    yield demo
    if demo.process.poll() is None:
        demo.stop()


@pytest.mark.slow
@pytest.mark.database_free
def test_every_page_of_every_role_is_there_and_the_work_is_kept(demo):
    signs_in = {
        role: (name, password)
        for role, name, password in re.findall(
            r"^  (\S+(?: \S+)?) {2,}(\S+) +(\S+)$", demo.printed(), re.MULTILINE
        )
    }
    assert set(signs_in) == {"lead", "coordinator", "data steward", "analyst", "annotator"}
    pages = demo.ask("from demo.pages import pages_by_role\nanswer = pages_by_role()")
    for role, paths in pages.items():
        visitor = demo.visitor(*signs_in[role])
        for path in paths:
            with visitor.open(f"http://127.0.0.1:{demo.port}{path}") as answer:
                assert answer.status == 200, path
                page = answer.read().decode()
            if path.startswith(STUDIES) and not path.endswith(WITHOUT_NUMBERS):
                assert "simulated" in page.lower(), f"{path} does not say where its labels come from"
    check_planted_differences(demo)
    check_planted_associations(demo)
    annotator = demo.visitor(*signs_in["annotator"])
    with pytest.raises(urllib.error.HTTPError, match="404"):
        annotator.open(f"http://127.0.0.1:{demo.port}/studies/invented-peoples/results/")

    count = "from annotation.models import Annotation\nanswer = Annotation.objects.count()"
    labelled = demo.ask(count)
    children = psutil.Process(demo.process.pid).children(recursive=True)
    assert len(children) >= 2  # web and worker, and their children
    assert demo.stop() == 0
    assert not any(child.is_running() for child in children)

    demo.start()
    assert demo.ask(count) == labelled
    assert demo.stop() == 0


def check_planted_differences(demo: Demo) -> None:
    """Check that the results of the islanders show the one planted difference and no other."""
    rows, description = demo.ask(
        "from analysis.models import Report\nfrom demo import pairs\n"
        "report = Report.objects.filter(study__name=pairs.STUDY).latest('pk')\n"
        "answer = [report.rows('pairs_tests'), report.study.description]"
    )
    assert "“harbour − hill” is −0.57" in description
    for row in rows:
        planted = -0.57 if (row["model"], row["factor"]) == ("script-slanted", "home") else 0
        assert row["ci_low"] <= planted <= row["ci_high"], row
        assert (row["p_holm"] < 0.05) == bool(planted), row
    assert len(rows) == 6


def check_planted_associations(demo: Demo) -> None:
    """Check that the exact test finds the planted associations in both settings, and at most one other (rate 5 %)."""
    found, planted = demo.ask(
        "from analysis.models import Report\nfrom demo import truth, words\n"
        "report = Report.objects.filter(study__name=words.STUDY).latest('pk')\n"
        "rows = [row for row in report.rows('significant_associations') if row['significant_exact']]\n"
        "found = {(r['model'], r['setting'], r['descriptor'], r['word']) for r in rows}\n"
        "planted = [[model, setting, name, word] for model, of in truth.ISLANDER_ASSOCIATIONS.items()\n"
        "    for setting in ('plural', 'singular') for name, said in of.items() for word in said]\n"
        "answer = [sorted(found), sorted(planted)]"
    )
    extra = [pair for pair in found if pair not in planted]
    assert [pair for pair in found if pair in planted] == planted
    assert len(extra) <= 1


@pytest.mark.django_db
def test_a_server_that_is_no_demo_is_not_filled_with_published_passwords(settings):
    settings.DEMO = False
    with pytest.raises(Forbidden, match="STEREOSCOPE_DEMO"):
        seed_demo(progress=Unwatched(), say=print)
