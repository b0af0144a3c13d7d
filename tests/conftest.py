"""What every test may use: three people, a small invented study, the published data where it is there."""

import gc
import os
import shutil
from collections.abc import Iterator
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol
from django.db import connection
from django.template.base import Template
from django.test import Client
from django.utils import translation
from hypothesis import HealthCheck
from hypothesis import settings as property_tests
from hypothesis.internal.conjecture import providers

from accounts.models import Annotator, User
from catalog.models import Resource
from foundation.call_stack import in_one_chunk
from studies.models import Study
from tests.foundation.database.keys import restart_keys
from tests.foundation.database.migrated import load_into, migrated_database
from tests.foundation.database.module_rows import FAST_HASHES, module_rows
from tests.foundation.database.postgres import UNSYNCHRONIZED, delete_instead_of_truncating
from tests.services.label_studio.server import LabelStudio, label_studio_server
from tests.services.prolific.fake import FakeProlific, fake_prolific
from tests.studies import isles
from tests.web.design.contexts import render_and_keep_context
from tests.web.static_files import index_static_files_once

ROOT = Path(__file__).resolve().parents[1]

_run_in_one_chunk = in_one_chunk(runtestprotocol)

# Searches among everything that lives long took most of the time of all searches; tests make little garbage that stays.
GARBAGE_THRESHOLDS = (20_000, 20, 50)

# The same examples each time, even on a slow machine, so that failures can be reproduced.
property_tests.register_profile(
    "stereoscope", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
property_tests.load_profile("stereoscope")
# Hypothesis draws numbers and words also from the modules that happen to be loaded, which differ by process.
providers._get_local_constants = lambda: providers._local_constants


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[object]:
    """Leave modules and tests, which stay to the end, out of each search for garbage: it would take half the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(*GARBAGE_THRESHOLDS)
        gc.enable()


@pytest.hookimpl
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> object:
    """Run a test as pytest does, with its calls in one chunk: `in_one_chunk` says what this saves."""
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    _run_in_one_chunk(item, nextitem=nextitem)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Let parallel processes begin with the slow tests: none still runs one when the others have nothing left."""
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: item.get_closest_marker("slow") is None)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(request, django_db_use_migrations, django_db_blocker):
    """Give each parallel process a database of its own: a copy of one that was migrated once.

    On SQLite it is in memory. Without migrations (`--no-migrations`) the tables are made from the models.
    """
    options = connection.settings_dict["TEST"]
    if connection.vendor != "sqlite":
        request.getfixturevalue("django_db_modify_db_settings_parallel_suffix")
    if not django_db_use_migrations:
        yield
        return
    options["MIGRATE"] = False
    if connection.vendor == "sqlite":
        # A database in memory has one cache for all connections: without this, a page that a live server reads fails
        # at the moment in which the test writes. Files, which are what is shipped, are read while they are written.
        connection.settings_dict["OPTIONS"]["init_command"] += " PRAGMA read_uncommitted=ON;"
        with closing(load_into(connection.creation._get_test_db_name())):
            yield
    else:
        options["TEMPLATE"] = migrated_database()
        connection.settings_dict["OPTIONS"]["options"] = UNSYNCHRONIZED
        yield


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup, django_db_blocker):
    """End what a killed process or a thread of a test left connected, so that the database can be dropped."""
    if connection.vendor == "postgresql":
        delete_instead_of_truncating(connection)
    yield
    if connection.vendor == "postgresql":
        with django_db_blocker.unblock(), connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )


@pytest.fixture(autouse=True)
def _keys_from_one(request):
    """Give rows the same keys whatever ran before: who is asked what follows from hashes of them."""
    if "_django_db_helper" in request.fixturenames or request.node.get_closest_marker("django_db"):
        request.getfixturevalue("_django_db_helper")
        restart_keys(connection)


@pytest.fixture(scope="session", autouse=True)
def _one_index_of_static_files() -> Iterator[None]:
    with index_static_files_once():
        yield


@pytest.fixture(scope="session", autouse=True)
def _contexts_without_fields(django_test_environment) -> None:
    """Keep, for `response.context`, what a page and its pieces are rendered with, and not that of each field."""
    Template._render = render_and_keep_context


@pytest.fixture(autouse=True)
def _own_files(settings, tmp_path):
    """Keep files of a test in its own folder, and hash passwords fast."""
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.ERASURES_FILE = tmp_path / "erasures.jsonl"
    settings.MODEL_DIGESTS = tmp_path / "model-digests.json"
    settings.PASSWORD_HASHERS = FAST_HASHES


@pytest.fixture(autouse=True)
def _own_language():
    """Leave the language of a test's last request behind."""
    yield
    translation.deactivate()


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of published data, or a skip that says what is missing."""
    folder = Path(os.environ.get("STEREOSCOPE_SHARED_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"published data not found in {folder}; set STEREOSCOPE_SHARED_DATA")
    return folder


@pytest.fixture
def lead(db) -> User:
    return isles.new_lead()


@pytest.fixture
def analyst(db) -> User:
    return isles.new_analyst()


@pytest.fixture
def stranger(db) -> User:
    """Lead and analyst elsewhere, member of nothing here."""
    return User.objects.create_user("stella", password="a long password", is_lead=True, is_analyst=True)


@pytest.fixture
def annotator(db) -> Annotator:
    user = User.objects.create_user("person-1", password="a long password")
    return Annotator.objects.create(user=user)


@pytest.fixture
def resource(db) -> Resource:
    """Two invented peoples; each lists four attributes, of which the last has too few raters."""
    return isles.new_resource()


@pytest.fixture
def study(lead, analyst, resource) -> Study:
    """A study of both invented peoples, seen by `lead` and `analyst`."""
    return isles.new_study(lead=lead, analyst=analyst, resource=resource)


@pytest.fixture(scope="module")
def shared_rows(request, django_db_setup, django_db_blocker, tmp_path_factory) -> Iterator[None]:
    """What the `write_rows` of the test's module wrote, once for all its tests: see `module_rows`."""
    folder = tmp_path_factory.mktemp("shared")
    with module_rows(request.module.write_rows, unblock=django_db_blocker.unblock, folder=folder):
        yield


@pytest.fixture
def lead_client(lead) -> Client:
    client = Client()
    client.force_login(lead)
    return client


@pytest.fixture
def analyst_client(analyst) -> Client:
    client = Client()
    client.force_login(analyst)
    return client


@pytest.fixture
def stranger_client(stranger) -> Client:
    client = Client()
    client.force_login(stranger)
    return client


@pytest.fixture(scope="session")
def _label_studio_of_process() -> Iterator[LabelStudio]:
    with label_studio_server() as server:
        yield server


@pytest.fixture
def label_studio(settings, _label_studio_of_process) -> LabelStudio:
    """A real Label Studio on loopback, one for all tests of this process: make a project of your own in it.

    It runs, also when the test before stopped it, and our own settings let us connect to it.
    """
    settings.LABEL_STUDIO_ALLOWED_HOSTS = ["127.0.0.1"]
    _label_studio_of_process.start()
    return _label_studio_of_process


@pytest.fixture(scope="session")
def _prolific_of_process(tmp_path_factory) -> Iterator[FakeProlific]:
    with fake_prolific(tmp_path_factory.mktemp("prolific")) as started:
        yield started


# The shell has no windows, menus or tabs to draw: browser tests take two thirds of the processor time.
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def _executable() -> str | None:
    named = os.environ.get("STEREOSCOPE_CHROMIUM")
    return named or next(filter(None, map(shutil.which, BROWSERS)), None)


@pytest.fixture(scope="session")
def browser() -> Iterator:
    """Chromium, or a skip that says how to get it."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    executable = _executable()
    if executable is None:
        pytest.skip("no Chromium found; install it or set STEREOSCOPE_CHROMIUM")
    # Playwright's synchronous interface runs an event loop in this thread, which Django takes for an
    # asynchronous caller; and there can be only one of it in a process, so every browser test shares this.
    with pytest.MonkeyPatch.context() as patch, sync_api.sync_playwright() as playwright:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        # Playwright gives up after five seconds, in which a busy machine may not even have begun.
        sync_api.expect.set_options(timeout=30_000)
        opened = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        yield opened
        opened.close()


# Tests of a group run in one process, one after the other, and share what their modules or the session set up. Browsers
# that compete for two cores run into their time-outs; a Label Studio takes seconds to start and hundreds of megabytes;
# a process that imports torch and diffusers spends 17 seconds and more than a gigabyte on it.
GROUPS = {
    "tests/accounts/sign_in/providers": "openid",
    "tests/e2e": "browser",
    "tests/operations/test_refusals.py": "backups",
    "tests/operations/test_round_trip.py": "backups",
    "tests/operations/test_verify.py": "backups",
    "tests/services/label_studio": "label-studio",
    "tests/services/test_killed.py": "killed",
    "tests/analysis/scoring": "models",
    "tests/generation/answerers/test_transformers.py": "models",
    "tests/generation/backends/test_diffusers.py": "models",
    "tests/generation/backends/test_model_files.py": "models",
    "tests/generation/backends/test_variation.py": "models",
    "tests/generation/runs/test_no_image.py": "models",
}
# A module with one of these runs in one process: each other would set up the same again. Scripts open a browser profile
# for each module.
ONCE_FOR_A_MODULE = ("shared_rows", 'scope="module"', 'scope="session"')
MODULES_OF_BROWSER = "tests/annotation/annotator/scripts/"


@cache
def _runs_in_one_process(file: str) -> bool:
    if file.startswith(MODULES_OF_BROWSER):
        return True
    text = (ROOT / file).read_text(encoding="utf-8")
    return any(mark in text for mark in ONCE_FOR_A_MODULE)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Group by path: the groups that xdist marks by renaming a test are lost since pytest 9.2 fixed its name."""
    if config.getvalue("dist") != "loadgroup":
        return None
    from xdist.scheduler import LoadGroupScheduling

    class ByPath(LoadGroupScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.partition("::")[0]
            groups = (group for path, group in GROUPS.items() if file == path or file.startswith(f"{path}/"))
            return next(groups, file if _runs_in_one_process(file) else nodeid)

    return ByPath(config, log)
