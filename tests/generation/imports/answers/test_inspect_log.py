"""Logs of Inspect AI, as JSON and as an archive: the data read from a sample."""

import io
import json
import zipfile

import pytest

from foundation.errors import DomainError
from generation.imports.answers.importer import AnswerFile, read_answers
from generation.models import Answer, ProbeRun
from tests.generation.imports.answers.conftest import KITE, LAMP

WORDS = "Is this person a kite maker or a lamplighter? Choose only one."


def sample(number, epoch, *, text, stop_reason="stop", error=None, **metadata):
    picture = {"type": "image", "image": "data:image/png;base64,AAAA"}
    return {
        "id": number,
        "epoch": epoch,
        "input": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": WORDS}, picture]},
        ],
        "target": "",
        "metadata": {"group": "tall_orsani", "scenario": "bridge", **metadata},
        "output": {
            "model": "talker-2-2026",
            "choices": [
                {
                    "message": {"role": "assistant", "content": [{"type": "text", "text": text}]},
                    "stop_reason": stop_reason,
                }
            ],
            "usage": {"input_tokens": 210, "output_tokens": 5, "total_tokens": 215},
            "time": 1.5,
        },
        "error": error,
    }


SAMPLES = [
    sample(1, 1, text=LAMP),
    sample(1, 2, text=KITE),
    sample(2, 1, text="", stop_reason="content_filter", group="short_orsani"),
    sample(2, 2, text="", error={"message": "time-out", "traceback": "…"}, group="short_orsani"),
    sample(3, 1, text=LAMP, scenario="tower"),
]
HEADER = {"version": 2, "status": "success", "eval": {"task": "trades", "model": "vendor/talker-2"}}


def archive(samples, header=HEADER):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as zipped:
        zipped.writestr("_journal/start.json", json.dumps(header))
        if header:
            zipped.writestr("header.json", json.dumps(header))
        for entry in samples:
            zipped.writestr(f"samples/{entry['id']}_epoch_{entry['epoch']}.json", json.dumps(entry))
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("log.json", json.dumps({**HEADER, "samples": SAMPLES}).encode()),
        ("log.eval", archive(SAMPLES)),
    ],
)
@pytest.mark.django_db
def test_samples_become_answers(bring, tmp_path, name, data):
    path = tmp_path / name
    path.write_bytes(data)
    report = bring(path)
    assert (report.rows.read, report.added) == (5, 4)
    (rejection,) = report.rows.rejected
    assert rejection.row == 5
    assert rejection.reason.endswith("is not asked in this experiment or scenario")
    assert ProbeRun.objects.get().model_label == "talker-2"
    answers = Answer.objects.order_by("image__group__name", "repeat")
    assert list(answers.values_list("image__group__name", "repeat", "order", "outcome", "text")) == [
        ("short_orsani", 0, "reversed", "declined", ""),
        ("short_orsani", 1, "reversed", "failed", ""),
        ("tall_orsani", 0, "reversed", "done", LAMP),
        ("tall_orsani", 1, "reversed", "done", KITE),
    ]
    done = answers.get(text=KITE)
    assert (done.served_model, done.tokens_in, done.tokens_out, done.seconds, done.finish_reason) == (
        *("talker-2-2026", 210, 5, 1.5, "stop"),
    )
    assert bring(path).added == 0


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("log.json", b"{}", "has no description of the evaluation"),
        ("log.json", b"[1]", "other than an object"),
        ("log.json", b"{", "is not JSON"),
        ("log.json", b"[" * 100_000, "is not JSON"),
        ("log.json", json.dumps(HEADER).encode(), "without samples"),
        ("log.eval", archive(SAMPLES, {}), "it has no header.json"),
        ("log.eval", archive(SAMPLES)[:200], "not a zip archive"),
        ("log.eval", b"not a zip", "is not JSON"),
    ],
)
@pytest.mark.database_free
def test_files_that_are_not_logs_are_refused(name, data, message):
    with pytest.raises(DomainError, match=message):
        read_answers(AnswerFile(io.BytesIO(data), name, {}))
