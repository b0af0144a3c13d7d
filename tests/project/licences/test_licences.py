"""The table of licences agrees with the installed packages, and names those of the GNU family."""

import pytest

from tests.project.licences import licences

pytestmark = pytest.mark.database_free


@pytest.fixture(scope="module")
def table():
    return licences.stored(licences.PAGE.read_text(encoding="utf-8"))


def test_every_installed_package_stands_in_the_table_as_it_is(table):
    assert sorted(set(licences.lines()) - set(table)) == [], "Run “make licences”."


def test_no_line_is_of_another_version_than_the_pinned_one(table):
    pins = licences.versions()
    assert {line.package for line in table if pins.get(line.package) != line.version} == set()
    assert [line.package for line in table] == sorted({line.package for line in table})


def test_what_we_ask_for_by_name_is_in_the_table(table):
    packages = {line.package: line.use for line in table}
    assert (packages["django"], packages["torch"], packages["pytest"]) == ("server", "worker", "tests")


def test_licences_of_the_gnu_family_are_named(table):
    head = licences.PAGE.read_text(encoding="utf-8").partition("## All packages")[0]
    gnu = [line for line in table if "GPL" in line.licence or "GNU" in line.licence]
    assert "krippendorff" in {line.package for line in gnu}
    for line in gnu:
        assert f"- **{line.package}** {line.version}: {line.licence} ({line.use})" in head


def test_a_package_without_declaration_is_shown_as_such(table):
    undeclared = {line.package for line in table if line.licence == licences.UNDECLARED}
    assert undeclared == {"cuda-toolkit", "mlcroissant"}
