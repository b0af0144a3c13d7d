"""Bulk inserts and updates give the same rows as the ORM."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from django.db import IntegrityError, connection, transaction

from accounts.models import Annotator
from foundation.database.bulk import allocate_keys, insert, new_uuids, refresh_statistics
from generation.models import Image


def image_columns(study, count: int) -> dict[str, list[object]]:
    empty = [""] * count
    return {
        "public_id": new_uuids(count),
        "study_id": [study.pk] * count,
        "condition": ["default"] * count,
        "model_label": empty,
        "prompt": empty,
        "sha256": empty,
        "file": empty,
        "source_name": [f"{n}.png" for n in range(count)],
        "provenance": [{"n": n, "nested": [None, "é"]} for n in range(count)],
        "retracted_reason": empty,
        "retracted_at": [datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=timezone(timedelta(hours=2)))] * count,
    }


def test_what_is_inserted_is_read_back_by_the_orm(study):
    with transaction.atomic():
        columns = image_columns(study, 3)
        assert insert(Image, columns) == 3
    images = list(Image.objects.order_by("source_name"))
    assert [image.public_id for image in images] == columns["public_id"]
    assert images[2].provenance == {"n": 2, "nested": [None, "é"]}
    assert images[0].retracted_at == datetime(2026, 1, 2, 1, 4, 5, 678, tzinfo=UTC)
    assert images[0].created_at is not None  # the database's own default
    assert Image.objects.filter(provenance__n=1).count() == 1


def test_allocated_keys_are_new_and_the_orm_goes_on_after_them(db):
    before = Annotator.objects.create()
    with transaction.atomic():
        keys = allocate_keys(Annotator, 3)
        insert(
            Annotator,
            {
                "id": keys,
                "pseudonym": ["A-1", "A-2", "A-3"],
                "origin": ["imported"] * 3,
                "source": [""] * 3,
                "source_id": [""] * 3,
            },
        )
    after = Annotator.objects.create()
    assert len({before.pk, after.pk, *keys}) == 5
    assert after.pk > max(keys) > min(keys) > before.pk
    assert list(Annotator.objects.filter(pk__in=keys).order_by("pk").values_list("pseudonym", flat=True)) == [
        "A-1",
        "A-2",
        "A-3",
    ]


def test_no_keys_and_no_rows_are_fine(study):
    with transaction.atomic():
        assert allocate_keys(Image, 0) == []
        assert insert(Image, image_columns(study, 0)) == 0


def test_the_constraints_of_the_database_hold(study):
    columns = image_columns(study, 2) | {"source_name": ["same.png", "same.png"]}
    with pytest.raises(IntegrityError), transaction.atomic():
        insert(Image, columns)
    assert not Image.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_keys_are_only_allocated_inside_a_transaction():
    with pytest.raises(transaction.TransactionManagementError):
        allocate_keys(Annotator, 1)


def test_a_name_that_is_no_column_is_refused(study):
    with pytest.raises(TypeError, match=r"Image\.tasks is not a column"):
        insert(Image, {"tasks": [1]})


def test_the_database_knows_how_much_was_inserted(study):
    with transaction.atomic():
        insert(Image, image_columns(study, 3))
        refresh_statistics(Image, Annotator)
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT reltuples FROM pg_class WHERE relname = %s", [Image._meta.db_table])
            assert cursor.fetchone()[0] == Image.objects.count()
    else:
        with connection.cursor() as cursor:
            cursor.execute("SELECT stat FROM sqlite_stat1 WHERE tbl = %s", [Image._meta.db_table])
            assert {stat.split()[0] for (stat,) in cursor.fetchall()} == {str(Image.objects.count())}
