"""Annotators who may be one person are shown to the lead."""

import pytest

from annotation.people import invitations
from annotation.people.doubles import suspected_doubles

pytestmark = pytest.mark.django_db


@pytest.fixture
def batch(marking, lead):
    return invitations.invite(campaign=marking, by=lead, label="Class", limit=3)


def accept(token, fingerprint="", device=""):
    return invitations.accept(token=token, user=None, fingerprint=fingerprint, device=device)


def test_equal_fingerprints_are_suspected_doubles_and_reveal_no_browser(batch):
    first = accept(batch[1], fingerprint="198.51.100.7 Browser/1")
    second = accept(batch[1], fingerprint="198.51.100.7 Browser/1")
    accept(batch[1], fingerprint="198.51.100.8 Browser/1")
    (double,) = suspected_doubles(first.campaign)
    assert double.pseudonyms == (first.annotator.pseudonym, second.annotator.pseudonym)
    assert "198.51" not in first.joined_print


def test_a_room_of_people_behind_one_address_is_not_suspected(marking, lead):
    _, token = invitations.invite(campaign=marking, by=lead, limit=60)
    for number in range(60):
        browser = "Rare/1" if number < 2 else "Browser/1"
        accept(token, fingerprint=f"198.51.100.7 {browser}", device=f"{number}")
    assert suspected_doubles(marking) == []


def test_one_browser_is_suspected_wherever_it_is(batch):
    first = accept(batch[1], fingerprint="198.51.100.7 Browser/1", device="a")
    second = accept(batch[1], fingerprint="203.0.113.5 Browser/2", device="a")
    accept(batch[1], fingerprint="203.0.113.6 Browser/2", device="b")
    (double,) = suspected_doubles(first.campaign)
    assert double.same_browser
    assert double.pseudonyms == (first.annotator.pseudonym, second.annotator.pseudonym)


def test_a_group_of_doubles_within_another_is_not_listed_separately(batch):
    both = [accept(batch[1], fingerprint="198.51.100.7 Browser/1", device="a") for _ in range(2)]
    (double,) = suspected_doubles(both[0].campaign)
    assert double.same_browser
    accept(batch[1], fingerprint="198.51.100.7 Browser/1", device="b")
    (double,) = suspected_doubles(both[0].campaign)
    assert len(double.enrolments) == 3
    assert not double.same_browser


def test_people_without_a_print_are_not_suspected(batch, marking):
    accept(batch[1])
    accept(batch[1])
    assert suspected_doubles(marking) == []
