"""Whoever builds with another k than before is told what that gives away, before and while it is built."""

import pytest
from django.core.management import call_command
from django.urls import reverse

from accounts.errors import Conflict
from analysis.releases.requesting import latest_release, warning_of_k
from tests.analysis.releases.past import past_release

pytestmark = pytest.mark.django_db

CHOICES = {"k": "7", "licence": "CC-BY-4.0", "formats": ["parquet"]}


def page(client, query: str = "") -> str:
    return client.get(reverse("releases:list", args=["isles"]) + query).content.decode()


def test_the_first_release_and_the_same_k_have_nothing_to_warn_of(marked, lead, lead_client):
    assert warning_of_k(latest_release(marked.study), k=7) == ""
    assert "Another k than before" not in page(lead_client, "?k=7")
    past_release(marked.study, lead)  # k = 5
    assert warning_of_k(latest_release(marked.study), k=5) == ""
    shown = page(lead_client)
    assert "Another k than before" not in shown
    assert "Release 2 has k = 5. Keep it" in shown


def test_the_page_warns_of_another_k_before_it_builds_and_when_it_is_asked_to(marked, lead, lead_client):
    past_release(marked.study, lead)
    warning = "Release 2 has k = 5, this one would have k = 7."
    assert warning in page(lead_client, "?k=7")
    answer = lead_client.post(reverse("releases:build", args=["isles"]), CHOICES, follow=True)
    assert warning in answer.content.decode()


def test_the_command_warns_before_it_builds(marked, lead, tmp_path, capsys):
    past_release(marked.study, lead)
    for k, warned in (("5", False), ("7", True)):
        # A folder of somebody else's: nothing is built, and the warning was there before.
        (tmp_path / "theirs.txt").touch()
        with pytest.raises(Conflict, match="other files"):
            call_command("release", "--study", "isles", "--output", str(tmp_path), "--k", k)
        assert ("Release 2 has k = 5" in capsys.readouterr().err) == warned
