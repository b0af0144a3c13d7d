"""`draft.js`: the drafts kept on the device, their owner and expiry."""

import json
import re

import pytest

from tests.annotation.annotator.scripts.conftest import until
from tests.annotation.annotator.scripts.pages import NOW

pytestmark = [pytest.mark.e2e, pytest.mark.database_free]

MODULE = "/static/annotation/annotator/submission/draft.js"
KEY = "annotate:draft:1:task-1:answer"
SWITCHED_OFF = """Object.defineProperty(window, "localStorage", {
  get() { throw new DOMException("Storage is switched off.", "SecurityError"); },
})"""


@pytest.fixture
def drafts(page):
    """Return a function that runs an expression with the module's exports and a `draft` of somebody called w1."""
    page.goto("/")

    def run(expression: str, **values):
        return page.evaluate(
            f"""async (values) => {{
              const {{ Draft, unsent, forgetBegun, sweep, newSubmissionId, WEEK }} = await import("{MODULE}");
              const draftOf = (who, changes = {{}}) => new Draft(
                {{ who, campaign: 1, assignment: "task-1", purpose: "answer", until: Date.now() + WEEK, ...changes }});
              const draft = draftOf("w1");
              return {expression};
            }}""",
            values,
        )

    return run


def stored(page) -> dict[str, dict]:
    return {key: json.loads(text) for key, text in page.evaluate("({...localStorage})").items()}


def test_a_draft_is_read_back_with_owner_and_expiry(drafts, page):
    assert drafts("draft.keep({ answer: { rating: 4 }, seconds: 3 })") is True
    end = int(NOW.timestamp() * 1000) + 7 * 24 * 3600 * 1000
    assert stored(page) == {KEY: {"answer": {"rating": 4}, "seconds": 3, "who": "w1", "until": end}}
    assert drafts("draft.read()")["answer"] == {"rating": 4}


@pytest.mark.parametrize(
    ("who", "changes", "is_read"),
    [
        ("w1", {}, True),
        ("w2", {}, False),
        ("w1", {"purpose": "correction"}, False),
        ("w1", {"assignment": "task-2"}, False),
        ("w1", {"campaign": 2}, False),
    ],
)
def test_a_draft_belongs_to_one_person_task_and_purpose(drafts, who, changes, is_read):
    drafts("draft.keep({ seconds: 3 })")
    kept = drafts("draftOf(values.who, values.changes).read()", who=who, changes=changes)
    assert (kept is not None) is is_read


@pytest.mark.parametrize("text", ["{", "null", '"text"', "[]", "{}"])
def test_foreign_text_under_our_key_is_not_a_draft(drafts, text):
    assert drafts("localStorage.setItem(draft.key, values.text) ?? draft.read()", text=text) is None
    assert drafts("unsent('w1')") == []


def test_a_device_whose_storage_is_switched_off_keeps_nothing_and_breaks_nothing(page, drafts):
    page.evaluate(SWITCHED_OFF)
    assert drafts("draft.keep({ seconds: 3 })") is False
    assert drafts("[draft.read(), draft.drop(), unsent('w1'), forgetBegun(), sweep()]") == [
        None,
        None,
        [],
        None,
        None,
    ]


def test_a_device_whose_storage_is_full_says_that_it_keeps_nothing(drafts):
    fill = """(() => {
      for (let size = 2 ** 22; size >= 1; size /= 2) {
        try {
          for (let n = 0; ; n += 1) localStorage.setItem(`fill${size}:${n}`, "x".repeat(size));
        } catch { /* it is full */ }
      }
    })()"""
    drafts(fill)
    assert drafts("draft.keep({ seconds: 3 })") is False
    assert drafts("draft.read()") is None


@pytest.mark.parametrize(
    ("key", "value", "meaning"),
    [
        (KEY, {"who": "w1", "answer": {"rating": 4}}, {"who": "w1", "answer": {"rating": 4}}),
        (KEY, {"who": "w1", "over": True}, {"who": "w1", "over": True}),
        (KEY, {"who": "w2", "answer": {"rating": 4}}, None),
        ("annotate:draft:1:task-2:answer", {"who": "w1"}, None),
        ("annotate:draft:1:task-1:correction", {"who": "w1"}, None),
        (KEY, None, None),
        (None, None, None),
    ],
)
def test_writes_of_another_tab_are_noticed_for_the_same_person_and_task(drafts, key, value, meaning):
    event = {"key": key, "newValue": None if value is None else json.dumps(value)}
    assert drafts("draft.heard(values)", **event) == meaning


def test_dropping_a_draft_notifies_other_tabs_and_leaves_nothing(page, drafts):
    other = page.context.new_page()
    other.goto("/")
    listen = "() => { window.heard = []; onstorage = (event) => heard.push(event.newValue); }"
    other.evaluate(listen)
    drafts("draft.keep({ seconds: 3 })")
    drafts("draft.drop()")
    assert stored(page) == {}
    until(other, lambda: other.evaluate("heard.length") == 3)
    kept, over, gone = other.evaluate("heard")
    assert json.loads(kept)["seconds"] == 3
    assert json.loads(over) == {"who": "w1", "until": 0, "over": True}
    assert gone is None


def test_only_answers_sent_by_this_person_are_unconfirmed(drafts):
    drafts(
        """[draft.keep({ sent: null }),
        draftOf("w1", { assignment: "task-2" }).keep({ sent: { submission_id: "s2" } }),
        draftOf("w2", { assignment: "task-3" }).keep({ sent: { submission_id: "s3" } })]"""
    )
    assert drafts("unsent('w1').map(({ assignment, body }) => [assignment, body])") == [
        ["task-2", {"submission_id": "s2"}]
    ]


@pytest.mark.parametrize(("now_sent", "left"), [("s1", 0), ("s2", 1)])
def test_a_confirmed_answer_is_dropped_unless_another_tab_sent_since(page, drafts, now_sent, left):
    drafts("draft.keep({ sent: { submission_id: 's1' } })")
    resent = "[unsent('w1'), draft.keep({ sent: { submission_id: values.now } })][0][0].drop()"
    drafts(resent, now=now_sent)
    assert len(stored(page)) == left


def test_signing_out_deletes_drafts_and_keeps_sent_answers(page, drafts):
    drafts(
        """[draft.keep({ answer: {}, sent: null }),
        draftOf("w1", { assignment: "task-2" }).keep({ sent: { submission_id: "s2" } }),
        localStorage.setItem("annotate:keys-off", "1"), forgetBegun()]"""
    )
    assert set(stored(page)) == {"annotate:draft:1:task-2:answer", "annotate:keys-off"}


@pytest.mark.parametrize(("until", "left"), [(999, 0), (1000, 0), (1001, 1), (None, 0)])
def test_expired_drafts_are_deleted(page, drafts, until, left):
    drafts("localStorage.setItem(draft.key, JSON.stringify({ who: 'w1', until: values.until }))", until=until)
    drafts("sweep(1000)")
    assert len(stored(page)) == left


def test_each_submission_id_is_a_random_uuid(drafts):
    ids = drafts("Array.from({ length: 100 }, newSubmissionId)")
    assert len(set(ids)) == 100
    pattern = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
    assert all(pattern.fullmatch(submission_id) for submission_id in ids)
