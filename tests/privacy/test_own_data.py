"""“Your data”: everything stored about a person, in words and as a file, and nothing about anybody else."""

import csv
import io
import json
import zipfile

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import translation

from accounts.models import Annotator
from annotation.assignment import leases
from annotation.models import Annotation, Judgement
from foundation.languages import TRANSLATIONS
from privacy.inventory import tables
from privacy.own_data import download, words
from privacy.own_data.records import OwnRecords
from studies.models import AuditEntry
from tests.annotation.factories import new_annotator, submit
from tests.privacy.conftest import (
    ADDRESS,
    IN_LABEL_STUDIO,
    IP,
    NAME,
    NOTE,
    OWN_WORDS,
    PANEL_ID,
    SUBMISSION,
    USERNAME,
)

pytestmark = pytest.mark.django_db
OVERVIEW = "own_data:overview"


def text_of(client: Client, name: str = OVERVIEW, *place: str) -> str:
    response = client.get(reverse(name, args=place))
    assert response.status_code == 200
    return response.content.decode()


def files_of(client: Client) -> dict[str, str]:
    response = client.get(reverse("own_data:download"))
    content = b"".join(response.streaming_content)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name).decode("utf-8-sig") for name in archive.namelist()}


def rows_of(files: dict[str, str], name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(files[f"{name}.csv"])))


class TestThePage:
    def test_it_shows_what_is_stored_in_plain_words(self, person):
        page = text_of(person.client)
        for shown in (
            USERNAME,
            NAME,
            ADDRESS,
            OWN_WORDS,
            PANEL_ID,
            IP,
            IN_LABEL_STUDIO,
            person.annotator.pseudonym,
        ):
            assert shown in page
        assert "Version of the text" in page
        assert "2" in page

    def test_a_visitor_is_asked_to_sign_in_and_nobody_else_finds_anything(self, person, lead_client, client):
        assert client.get(reverse(OVERVIEW)).status_code == 302
        assert lead_client.get(reverse(OVERVIEW)).status_code == 404
        assert lead_client.get(reverse("own_data:download")).status_code == 404

    def test_it_names_no_study_group_role_or_other_person(self, person, marking, study):
        other = new_annotator(marking)
        submit(leases.next_assignment(campaign=marking, annotator=other))
        everything = "".join([text_of(person.client), *files_of(person.client).values()]).casefold()
        groups = [name for group in study.groups.all() for name in (group.name, group.display_name)]
        secrets = [
            study.name,
            study.slug,
            marking.name,
            other.pseudonym,
            NOTE,
            *groups,
            "gold",
            "random attribute",
        ]
        assert [secret for secret in secrets if secret.casefold() in everything] == []

    def test_five_thousand_answers_cost_no_more_than_five(
        self, person, marking, django_assert_max_num_queries
    ):
        answer = person.answers.latest("pk")
        Annotation.objects.bulk_create(
            Annotation(
                campaign=marking,
                task=answer.task,
                annotator=person.annotator,
                submitted_at=answer.submitted_at,
            )
            for _ in range(5000)
        )
        with django_assert_max_num_queries(75):
            page = text_of(person.client)
        assert "5,002" in page
        with django_assert_max_num_queries(15):
            answers = text_of(person.client, "own_data:table", "answers")
        assert answers.count("<dl") == 25
        assert len(rows_of(files_of(person.client), "answers")) == 5002

    def test_a_long_list_continues_on_the_next_page(self, person, marking):
        answer = person.answers.latest("pk")
        Annotation.objects.bulk_create(
            Annotation(campaign=marking, task=answer.task, annotator=person.annotator) for _ in range(28)
        )
        first = person.client.get(reverse("own_data:table", args=["answers"]))
        second = person.client.get(reverse("own_data:table", args=["answers"]) + first.context["page"].next)
        assert (len(first.context["rows"]), len(second.context["rows"])) == (25, 5)

    @pytest.mark.parametrize("name", ["nothing", "boxes"])
    def test_a_list_that_is_not_shown_is_not_found(self, person, name):
        assert person.client.get(reverse("own_data:table", args=[name])).status_code == 404

    def test_a_person_with_little_stored_data_is_shown_that(self, marking, join):
        newcomer = join(marking, ready=False)
        page = text_of(newcomer)
        assert newcomer.enrolment.annotator.pseudonym in page
        assert "What you agreed to" not in page

    @pytest.mark.parametrize("language", TRANSLATIONS)
    def test_it_is_in_the_language_of_the_page(self, person, language):
        person.client.cookies["stereoscope_language"] = language
        page = text_of(person.client)
        with translation.override(language):
            titles = [str(subject.title) for subject in words.SUBJECTS]
        assert [title for title in titles if title not in page] == []


class TestTheFile:
    def test_it_has_every_row_about_the_person(self, person):
        files = files_of(person.client)
        everything = json.loads(files["your-data.json"])
        records = OwnRecords(person.annotator)
        counts = {download.file_name(table): records.rows(table.model).count() for table in records.tables()}
        counts["sessions"] = 1
        written = {name: len(rows) for name, rows in everything.items() if name != "made_at"}
        assert written == {name: count for name, count in counts.items() if count}
        assert {name.removesuffix(".csv") for name in files if name.endswith(".csv")} == set(written)

    def test_it_lists_every_identifier_of_the_person(self, person):
        content = "".join(files_of(person.client).values())
        known = [USERNAME, NAME, ADDRESS, PANEL_ID, SUBMISSION, IP, OWN_WORDS, IN_LABEL_STUDIO]
        assert [word for word in known if word not in content] == []

    def test_answers_are_identified_by_their_numbers(self, person):
        files = files_of(person.client)
        answers, parts = rows_of(files, "answers"), rows_of(files, "parts_of_answers")
        assert [row["number"] for row in answers] == ["1", "2"]
        assert {row["annotation"] for row in parts} == {"1", "2"}
        judged = Judgement.objects.filter(annotation__annotator=person.annotator)
        assert {row["about"] for row in parts} == set(judged.values_list("attribute__text", flat=True))

    def test_secrets_are_left_out(self, person):
        person.annotator.user.set_password("correct horse battery")
        person.annotator.user.save()
        person.client.force_login(person.annotator.user)
        content = "".join(files_of(person.client).values())
        user = person.annotator.user
        token = user.api_tokens.get()
        assert [secret for secret in (user.password, token.key_hash) if secret in content] == []

    def test_spreadsheet_formulas_are_neutralised(self, person):
        person.answers.update(justification="=HYPERLINK(1)")
        files = files_of(person.client)
        assert {row["justification"] for row in rows_of(files, "answers")} == {"'=HYPERLINK(1)"}
        assert json.loads(files["your-data.json"])["answers"][0]["justification"] == "=HYPERLINK(1)"

    def test_the_download_is_recorded_in_the_history(self, person):
        files_of(person.client)
        entry = AuditEntry.objects.get(action="own_data.downloaded")
        assert (entry.actor, entry.study, entry.details) == (person.annotator.user, None, {})

    def test_a_readme_says_what_is_in_it_in_the_language_of_the_page(self, person):
        person.client.cookies["stereoscope_language"] = "de"
        readme = files_of(person.client)["README.txt"]
        assert readme.startswith("Ihre Daten")


def test_every_table_about_people_has_words():
    """Add words for a new table in `privacy/own_data/words.py`, and their translations."""
    records = OwnRecords(Annotator(pk=0))
    listed = {part.model for subject in words.subjects() for part in subject.tables}
    assert {table.model for table in records.tables()} - listed == set()


def test_words_name_columns_that_exist_and_that_no_secret_is_in():
    records = OwnRecords(Annotator(pk=0))
    declared = {table.model: table for table in tables()}
    for subject in words.subjects():
        for part in subject.tables:
            if part.model in declared:
                assert set(part.columns) <= set(records.fields(declared[part.model])), part.model


def test_the_names_of_files_differ():
    records = OwnRecords(Annotator(pk=0))
    names = [download.file_name(table) for table in records.tables()]
    assert len(names) == len(set(names))
