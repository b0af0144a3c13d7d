"""The language of each answer, from the database to the tables of labels."""

import pytest

from accounts.models import Annotator
from analysis.results.data.labels import load
from analysis.results.parameters import parameters_of
from analysis.results.tables.labels import LABEL_TABLES
from annotation.models import Annotation

pytestmark = pytest.mark.django_db


def read_in(annotator: Annotator, language: str) -> None:
    Annotation.objects.filter(annotator=annotator).update(language=language)


def columns_of(data):
    return {name: list(LABEL_TABLES[name](data)) for name in ("judgements", "ratings")}


def test_tables_have_a_language_only_where_there_are_several(marked):
    parameters = parameters_of(marked.study)
    before = columns_of(load(study=marked.study, parameters=parameters))
    for annotator in marked.annotators.values():
        read_in(annotator, "en")
    assert columns_of(load(study=marked.study, parameters=parameters)) == before
    assert not any("language" in columns for columns in before.values())
    read_in(marked.annotators["q"], "de")
    data = load(study=marked.study, parameters=parameters)
    pseudonym = marked.annotators["q"].pseudonym
    for name in ("judgements", "ratings"):
        table = LABEL_TABLES[name](data)
        assert set(table.loc[table["annotator"] == pseudonym, "language"]) == {"de"}
        assert set(table.loc[table["annotator"] != pseudonym, "language"]) == {"en"}
