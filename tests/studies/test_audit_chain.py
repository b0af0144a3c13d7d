"""The chain over the audit trail reveals changed, removed and inserted entries."""

import json
import logging.handlers
import socket
import threading
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection

from config import env
from studies import audit
from studies.audit import chain as audit_chain
from studies.models import AuditEntry, AuditLink, Study

pytestmark = pytest.mark.django_db


@pytest.fixture
def study(lead):
    return Study.objects.create(name="Isles", slug="isles", seed=1, created_by=lead)


@pytest.fixture
def chain(study, lead):
    """Five entries, sealed."""
    for number in range(5):
        audit.record(by=lead, action="member.added", subject=study, study=study, username=f"person {number}")
    assert audit_chain.seal_entries() == 5
    return list(AuditEntry.objects.order_by("pk"))


def problems(**options):
    return list(audit_chain.verify(**options).problems)


def test_unchanged_entries_pass(chain):
    found = audit_chain.verify()
    assert (found.links, found.unsealed, found.problems) == (5, 0, ())
    assert found.head == AuditLink.objects.get(position=5).digest


def test_each_entry_is_sealed_once(chain, study, lead):
    assert audit_chain.seal_entries() == 0
    audit.record(by=lead, action="study.frozen", subject=study, study=study)
    assert audit_chain.verify().unsealed == 1
    assert audit_chain.seal_entries() == 1
    assert problems() == []


@pytest.mark.parametrize(
    "change",
    [
        {"action": "member.removed"},
        {"subject": "study:999"},
        {"details": {"username": "somebody else"}},
        {"at": "2020-01-01T00:00:00Z"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_changed_entry_is_found(chain, change):
    AuditEntry.objects.filter(pk=chain[2].pk).update(**change)
    assert problems() == [f"Entry {chain[2].pk} was changed."]


def test_a_changed_person_is_found(chain, analyst):
    AuditEntry.objects.filter(pk=chain[2].pk).update(actor=analyst)
    assert problems() == [f"Entry {chain[2].pk} was changed."]


def test_a_deleted_entry_is_found(chain):
    AuditEntry.objects.filter(pk=chain[2].pk).delete()
    assert problems() == [f"Entry {chain[2].pk} was deleted."]


def test_a_link_deleted_with_its_entry_is_found(chain):
    AuditEntry.objects.filter(pk=chain[2].pk).delete()
    AuditLink.objects.filter(position=3).delete()
    assert problems() == ["Links 3 to 3 are missing."]


def test_an_entry_taken_out_of_the_chain_is_found(chain):
    AuditLink.objects.filter(position=5).delete()
    assert problems() == [f"Entry {chain[4].pk} has lost its link."]


def test_a_link_closed_up_over_a_gap_is_found(chain):
    AuditEntry.objects.filter(pk=chain[2].pk).delete()
    AuditLink.objects.filter(position=3).delete()
    for position in (4, 5):
        AuditLink.objects.filter(position=position).update(position=position - 1)
    assert any("Link 3 was changed" in problem for problem in problems())


def test_a_removed_end_is_found_by_a_digest_noted_earlier(chain):
    head = audit_chain.verify().head
    AuditLink.objects.filter(position=5).delete()
    AuditEntry.objects.filter(pk=chain[4].pk).delete()
    assert problems() == []
    assert problems(head=head) == [
        "The digest that you noted is not in the chain: its end was removed or rewritten."
    ]
    assert problems(head=AuditLink.objects.get(position=4).digest) == []


def test_nobody_writes_a_chain_without_the_key(chain, settings):
    settings.SECRET_KEY = "another key, long enough to be one of this kind"
    assert len(problems()) == 10
    settings.SECRET_KEY_FALLBACKS = ["never used before, and long enough to be one of this kind"]
    assert len(problems()) == 10


def test_a_new_key_goes_on_where_the_old_one_ended(chain, study, lead, settings):
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another key, long enough to be one of this kind"
    audit.record(by=lead, action="study.frozen", subject=study, study=study)
    audit_chain.seal_entries()
    assert problems() == []


def test_people_and_studies_may_be_deleted(chain, study, lead):
    AuditEntry.objects.update(actor=None)
    study.delete()
    assert problems() == []


def test_details_may_be_erased_and_that_is_recorded(chain, lead):
    audit_chain.redact(entry=chain[2], by=lead, reason="the person asked for it")
    audit_chain.seal_entries()
    assert problems() == []
    assert AuditEntry.objects.get(pk=chain[2].pk).details == {}
    entry = AuditEntry.objects.get(action="audit_entry.redacted")
    assert entry.details == {"reason": "the person asked for it"}


def test_details_erased_without_a_record_are_found(chain):
    AuditEntry.objects.filter(pk=chain[2].pk).update(details={})
    AuditLink.objects.filter(entry=chain[2]).update(salt="")
    assert problems() == [f"Entry {chain[2].pk} cannot be checked, and no redaction was recorded."]


@pytest.mark.django_db(transaction=True)
def test_concurrent_workers_make_one_chain(study, lead):
    if connection.vendor == "sqlite":
        pytest.skip("another thread cannot read a database in memory that a test writes to")
    for number in range(40):
        audit.record(by=lead, action="member.added", subject=study, study=study, username=f"{number}")

    def work():
        try:
            audit_chain.seal_entries()
        finally:
            connection.close()

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    audit_chain.seal_entries()
    found = audit_chain.verify()
    assert (found.links, found.unsealed, found.problems) == (40, 0, ())


class TestCommand:
    def test_it_prints_the_digest_to_note(self, chain):
        out = StringIO()
        call_command("verify_audit", stdout=out)
        assert out.getvalue().splitlines() == [
            "5 entries are unchanged.",
            f"Latest digest: {audit_chain.verify().head}",
        ]

    def test_it_exits_with_1_when_something_was_changed(self, chain):
        AuditEntry.objects.filter(pk=chain[0].pk).update(subject="study:999")
        err = StringIO()
        with pytest.raises(SystemExit) as end:
            call_command("verify_audit", stdout=StringIO(), stderr=err)
        assert end.value.code == 1
        assert "was changed" in err.getvalue()


def test_syslog_receives_only_the_numbers_of_entries(study, lead, monkeypatch):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as syslog:
        syslog.bind(("127.0.0.1", 0))
        syslog.settimeout(10)
        monkeypatch.setenv("AUDIT_SYSLOG", f"127.0.0.1:{syslog.getsockname()[1]}")
        configured = env.syslog("AUDIT_SYSLOG")
        handler = logging.handlers.SysLogHandler(configured["address"], configured["facility"])
        log = logging.getLogger("stereoscope.audit")
        log.addHandler(handler)
        try:
            audit.record(by=lead, action="member.added", subject=study, study=study, username="a name")
            audit_chain.seal_entries()
            line = syslog.recv(4096).decode()
        finally:
            log.removeHandler(handler)
            handler.close()
    told = json.loads(line[line.index("{") : line.rindex("}") + 1])
    assert told["action"] == "member.added"
    assert told["digest"] == AuditLink.objects.get().digest
    assert "a name" not in line
    assert lead.username not in line
