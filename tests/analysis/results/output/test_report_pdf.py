"""report.pdf: the numbers of the tables, tags for screen readers, and nothing fetched while it is made."""

import csv
import io
import random
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from django.urls import reverse
from PIL import ImageFile
from pypdf import PdfReader

from accounts.models import Annotator
from analysis.results.output import report_pdf
from analysis.results.parameters import parameters_of
from analysis.results.reports import compute_report
from annotation.models import Enrolment
from studies.models import AuditEntry
from tests.analysis.conftest import mark_pictures

pytestmark = pytest.mark.django_db
with_pango = pytest.mark.skipif(not report_pdf.can_make_pdf(), reason="the system library Pango is missing")
NUMBER = r"−?[\d,]*\.\d+"
# As the table of groups prints a row: each mean with its interval, θ, θ smoothed, offensiveness with its interval.
ROW = re.compile(
    rf"^(?P<group>Velmari|Orsani) (?P<stereotypes>\d+) (?P<random_attributes>\d+)"
    rf" (?P<likelihood_stereotype>{NUMBER}|—)"
    rf" (?:(?P<likelihood_stereotype_low>{NUMBER}) to (?P<likelihood_stereotype_high>{NUMBER})|—)"
    rf" (?P<likelihood_random>{NUMBER}|—)"
    rf" (?:(?P<likelihood_random_low>{NUMBER}) to (?P<likelihood_random_high>{NUMBER})|—)"
    rf" (?P<theta>{NUMBER}|—) (?:(?P<theta_low>{NUMBER}) to (?P<theta_high>{NUMBER}|∞)|—)"
    rf" (?P<theta_smoothed>{NUMBER}|—) (?P<offensiveness>{NUMBER}|—)"
    rf"(?:\s+\((?P<ci_low>{NUMBER})\s+to\s+(?P<ci_high>{NUMBER})\))?",
    re.MULTILINE,
)


def address(name: str, **places: str) -> str:
    return reverse(f"analysis:{name}", kwargs={"study": "isles", **places})


@pytest.fixture
def judged(marked, analyst):
    """The study with thirty more pictures of each group, so that its measures have intervals, and results of it."""
    generator = random.Random(4)
    people = {name: Annotator.objects.create(source="isles", source_id=name) for name in "stuvwxyz"}
    marked.annotators.update(people)
    for annotator in people.values():
        Enrolment.objects.create(campaign=marked.campaign, annotator=annotator)
    for group in marked.study.groups.filter(name__in=("Velmari", "Orsani")):
        pictures = {}
        for number in range(30):
            ticks = {
                name: "".join(str(int(generator.random() < share)) for share in (0.6, 0.5, 0.3, 0.2))
                for name in generator.sample(sorted(people), 3)
            }
            pictures[f"{group.name}{number}"] = ticks
        mark_pictures(marked, group, pictures)
    compute_report(study=marked.study, parameters=parameters_of(marked.study, resamples=200), by=analyst)
    return marked


def table(client, name: str) -> dict[str, dict[str, str]]:
    text = client.get(address("table", table=name)).content.decode().removeprefix("\ufeff")
    return {row["identity_group"]: row for row in csv.DictReader(io.StringIO(text))}


def printed(value: str, digits: int) -> str:
    """A number of a CSV file as a page prints it."""
    return f"{float(value):.{digits}f}".replace("-", "−") if value else "—"


@with_pango
def test_every_number_in_the_table_of_groups_equals_the_csv_files(judged, analyst_client):
    answer = analyst_client.get(address("report_pdf"))
    assert answer["Content-Type"] == "application/pdf"
    assert answer["Content-Disposition"] == 'attachment; filename="isles-report.pdf"'
    text = "\n".join(page.extract_text() for page in PdfReader(io.BytesIO(answer.content)).pages)
    rows = {row["group"]: row.groupdict() for row in ROW.finditer(text)}
    tendency, offensiveness = table(analyst_client, "tendency"), table(analyst_client, "offensiveness")
    assert set(rows) == set(tendency) == {"Velmari", "Orsani"}
    for group, cells in rows.items():
        expected = tendency[group] | offensiveness[group]
        for column, cell in cells.items():
            if column == "group":
                continue
            digits = 0 if column in ("stereotypes", "random_attributes") else 2 if "theta" in column else 3
            is_end = column.endswith(("_low", "_high"))
            assert cell == (None if is_end and not expected[column] else printed(expected[column], digits)), (
                group,
                column,
            )
        for column in ("likelihood_stereotype_low", "likelihood_random_high", "theta_low"):
            assert cells[column], f"{group}: {column} has no value to compare"
    assert "Design. The study follows the protocol" in text
    assert "Limitations" in text


@with_pango
def test_a_screen_reader_finds_headings_tables_and_a_text_for_each_drawing(judged, analyst_client):
    document = PdfReader(io.BytesIO(analyst_client.get(address("report_pdf")).content))
    root = document.trailer["/Root"]
    assert root["/Lang"] == "en"
    assert root["/MarkInfo"]["/Marked"]
    assert b"pdfuaid" in root["/Metadata"].get_object().get_data()
    assert document.metadata.title == "Isles · results"
    tags: dict[str, list] = {}
    pending = [root["/StructTreeRoot"].get_object()]
    while pending:
        element = pending.pop()
        if not hasattr(element, "get"):
            continue
        tags.setdefault(element.get("/S", ""), []).append(element)
        children = element.get("/K", [])
        pending += [child.get_object() for child in (children if isinstance(children, list) else [children])]
    assert {"/H1", "/H2", "/Table", "/TH", "/Caption", "/Figure"} <= set(tags)
    assert all(figure["/Alt"] for figure in tags["/Figure"])
    assert any("stereotypes marked more often" in figure["/Alt"] for figure in tags["/Figure"])


@with_pango
def test_nothing_is_fetched_for_any_address_in_a_report(tmp_path):
    asked: list[str] = []

    class Records(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(404)

    secret = tmp_path / "secret.svg"
    secret.write_text('<svg xmlns="http://www.w3.org/2000/svg"><text y="9">hidden words</text></svg>')
    with ThreadingHTTPServer(("127.0.0.1", 0), Records) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        host = f"http://127.0.0.1:{server.server_port}"
        html = f"""<html lang="en"><head><title>Report</title><link rel="stylesheet" href="{host}/style.css">
            <style>@import "{host}/import.css"; p {{ background: url({host}/background.png) }}
            @font-face {{ font-family: Own; src: url({host}/font.ttf) }}</style></head>
            <body><p style="font-family: Own">Words</p><img alt="" src="{host}/picture.png">
            <img alt="" src="{secret.as_uri()}"><object data="{secret.as_uri()}"></object>
            <a rel="attachment" href="{secret.as_uri()}">A file</a>
            <svg viewBox="0 0 9 9" width="9" height="9"><title>Drawing</title><image href="{host}/inner.png"/>
            <use href="{secret.as_uri()}#text"/></svg></body></html>"""
        document = PdfReader(io.BytesIO(report_pdf.report_pdf(html)))
        server.shutdown()
    assert asked == []
    text = "".join(page.extract_text() for page in document.pages)
    assert "Words" in text
    assert "hidden words" not in text
    assert not document.attachments


@with_pango
def test_each_download_is_recorded(judged, analyst, analyst_client):
    analyst_client.get(address("report_pdf"))
    entry = AuditEntry.objects.get(action="file.downloaded", details__file="report.pdf")
    assert (entry.actor, entry.study) == (analyst, judged.study)


def test_strangers_cannot_download_a_report(judged, stranger_client):
    assert stranger_client.get(address("report_pdf")).status_code == 404


def test_a_server_without_pango_says_so_and_records_no_download(judged, analyst_client, monkeypatch):
    monkeypatch.setattr(report_pdf, "PANGO", ("libno-such-library.so.0",))
    report_pdf.can_make_pdf.cache_clear()
    try:
        assert "it lacks the library Pango" in " ".join(
            analyst_client.get(address("overview")).content.decode().split()
        )
        answer = analyst_client.get(address("report_pdf"))
    finally:
        report_pdf.can_make_pdf.cache_clear()
    assert answer.status_code == 409
    assert "Download the report as HTML" in answer.content.decode()
    assert not AuditEntry.objects.filter(details__file="report.pdf").exists()


def test_damaged_images_stay_refused_where_a_pdf_was_made(monkeypatch):
    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", True)  # as WeasyPrint leaves it once it is loaded
    report_pdf.report_pdf("<html lang='en'><title>A report</title><p>Nothing yet.</p></html>")
    assert ImageFile.LOAD_TRUNCATED_IMAGES is False
