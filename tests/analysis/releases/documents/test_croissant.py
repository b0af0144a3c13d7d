"""croissant.json is valid by its authors' reader, and the data loads through it."""

import json
import subprocess
import sys

import pytest

from analysis.releases.documents import write_documents
from analysis.releases.documents.croissant import croissant_json
from analysis.releases.tables.columns import TABLES
from tests.analysis.releases.documents.example_release import ROWS, a_release

pytestmark = pytest.mark.database_free

READ = """
import json, os, sys, warnings
warnings.simplefilter("ignore")
from absl import logging
said = []
logging.get_absl_logger().addFilter(lambda record: said.append(record.getMessage()) or False)
import mlcroissant
dataset = mlcroissant.Dataset(jsonld=sys.argv[1])
issues = dataset.metadata.ctx.issues
def plain(value):
    return value.decode() if isinstance(value, bytes) else value if value is None or isinstance(value, bool) \\
        else float(value) if isinstance(value, (int, float)) else str(value)[:40]
names = [one.id for one in dataset.metadata.record_sets]
rows = {name: [{k: plain(v) for k, v in row.items()} for row in dataset.records(name)] for name in names}
print(json.dumps({"errors": list(issues.errors), "warnings": list(issues.warnings), "said": said, "rows": rows}))
sys.stdout.flush()
os._exit(0)  # what the reader loads has threads that now and then end a process that ends by itself with an abort
"""


def read(folder):
    """Read every record set in a separate process: the reader imports much and writes to the log."""
    done = subprocess.run(
        [sys.executable, "-c", READ, str(folder / "croissant.json")],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={"HOME": str(folder), "PATH": "", "NO_PROXY": "*"},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def expected(name):
    def plain(value):
        if value is None or isinstance(value, bool):
            return value
        return float(value) if isinstance(value, int | float) else str(value)

    return [{f"{name}/{key}": plain(value) for key, value in row.items()} for row in ROWS[name]]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("formats", "picture"),
    [(("parquet", "images"), "png"), (("parquet", "images"), "webp"), (("jsonl",), "png")],
)
def test_the_reader_finds_no_fault_and_gives_every_row(tmp_path, formats, picture):
    write_documents(contents=a_release(tmp_path, formats=formats, picture=picture), folder=tmp_path)
    found = read(tmp_path)
    pictures = "images" in formats and picture == "png"
    assert (found["errors"], found["warnings"], found["said"]) == ([], [], [])
    assert set(found["rows"]) == {*TABLES, *(["pictures"] if pictures else [])}
    for name in TABLES:
        rows = found["rows"][name]
        for row in rows:
            for key, value in row.items():
                if isinstance(value, str) and value.endswith(" 00:00:00"):
                    row[key] = value.removesuffix(" 00:00:00")
        assert rows == expected(name)
    if pictures:
        assert found["rows"]["pictures"][0]["pictures/file"] == "I-1.png"


@pytest.mark.slow
def test_an_empty_release_is_valid_too(tmp_path):
    contents = a_release(tmp_path, formats=("parquet",), rows={name: [] for name in TABLES})
    write_documents(contents=contents, folder=tmp_path)
    found = read(tmp_path)
    assert (found["errors"], found["warnings"]) == ([], [])
    assert all(rows == [] for rows in found["rows"].values())


def test_files_have_their_size_and_digest_and_pictures_are_one_set(tmp_path):
    contents = a_release(tmp_path)
    written = json.loads(croissant_json(contents))
    objects = {one["@id"]: one for one in written["distribution"] if one["@type"] == "cr:FileObject"}
    files = {str(one.path): one for one in contents.files if one.path.parts[0] != "images"}
    assert objects.keys() == files.keys()
    for path, one in objects.items():
        assert one["sha256"] == files[path].sha256
        assert one["contentSize"] == f"{files[path].bytes} B"
        assert one["encodingFormat"] == "application/x-parquet"
    (pictures,) = (one for one in written["distribution"] if one["@type"] == "cr:FileSet")
    assert pictures["includes"] == "images/*.png"


def test_pictures_that_readers_cannot_open_are_files_without_records(tmp_path):
    contents = a_release(tmp_path, picture="webp")
    written = json.loads(croissant_json(contents))
    (pictures,) = (one for one in written["distribution"] if one["@type"] == "cr:FileSet")
    assert (pictures["includes"], pictures["encodingFormat"]) == ("images/*.webp", "image/webp")
    assert "pictures" not in {one["@id"] for one in written["recordSet"]}


def test_columns_refer_to_the_tables_they_name(tmp_path):
    written = json.loads(croissant_json(a_release(tmp_path)))
    fields = {field["@id"]: field for one in written["recordSet"] for field in one["field"]}
    referring = {
        name: (reference["fileObject"]["@id"], reference["extract"]["column"])
        for name, field in fields.items()
        if (reference := field.get("references"))
    }
    assert referring["judgements/annotator"] == ("data/annotators.parquet", "annotator")
    assert referring["judgements/image"] == ("data/images.parquet", "image")
    assert referring["boxes/judgement"] == ("data/judgements.parquet", "judgement")
    sources = {
        (f["source"]["fileObject"]["@id"], f["name"]) for f in fields.values() if "fileObject" in f["source"]
    }
    assert set(referring.values()) <= sources


def test_simulated_labels_are_announced_first(tmp_path):
    written = json.loads(croissant_json(a_release(tmp_path, simulated=True)))
    assert written["description"].startswith("Simulated.")
    assert written["rai:annotatorDemographics"] == ["none, because the annotators are simulated"]


def test_equal_contents_give_equal_bytes(tmp_path):
    contents = a_release(tmp_path)
    assert croissant_json(contents) == croissant_json(contents)
