"""Images made elsewhere: folders, archives, manifests, and their possible faults."""

import io
import json
import zipfile
from importlib import import_module

import pytest
from django.apps import apps
from django.core.files.storage import default_storage
from django.core.management import call_command
from django.db import connection

from foundation.errors import DomainError, NotFound
from generation.imports.importer import import_images
from generation.imports.options import ImageImportOptions
from generation.models import Condition, Image
from jobs.progress.reporter import Cancelled, Unwatched
from studies.models import AuditEntry, Study, StudyGroup

pytestmark = pytest.mark.django_db


@pytest.fixture
def folder(tmp_path, picture):
    """Two groups with two pictures each."""
    root = tmp_path / "pictures"
    for group, shade in (("Velmari", 10), ("Orsani", 100)):
        (root / group).mkdir(parents=True)
        for index in range(2):
            (root / group / f"{index}.png").write_bytes(picture((shade + index, 0, 0)))
    return root


def zipped(folder, **more):
    """Pack a folder; `more` adds members by name."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            archive.write(path, path.relative_to(folder.parent))
        for name, data in more.items():
            archive.writestr(name, data)
    file.seek(0)
    return file


def stored_files():
    images = default_storage.path("images")
    from pathlib import Path

    return [path for path in Path(images).rglob("*") if path.is_file()]


class TestFolder:
    def test_each_folder_is_a_group(self, study, folder, lead):
        report = import_images(
            study=study, path=folder, by=lead, options=ImageImportOptions(model_label="painter-2")
        )
        assert str(report) == "4 files: 4 kept (0 of them repaired), 0 duplicates, 0 rejected."
        cells = Image.objects.values_list("group__name", "model_label", "condition", "source_name")
        assert set(cells) == {
            (group, "painter-2", "default", f"{group}/{index}.png")
            for group in ("Velmari", "Orsani")
            for index in range(2)
        }
        entry = AuditEntry.objects.get(action="images.imported")
        assert (entry.actor, entry.details["kept"]) == (lead, 4)

    def test_a_single_enclosing_folder_is_ignored(self, study, folder, tmp_path):
        assert import_images(study=study, path=tmp_path, by=None).kept == 4

    def test_an_unknown_group_is_rejected_by_name_and_the_others_are_kept(self, study, folder, picture):
        (folder / "Tavren").mkdir()
        (folder / "Tavren" / "1.png").write_bytes(picture())
        report = import_images(study=study, path=folder, by=None)
        assert report.kept == 4
        assert [str(remark) for remark in report.rejected] == [
            "Tavren/1.png: The study has no identity group “Tavren”."
        ]

    def test_unknown_groups_are_added_when_asked(self, study, folder, picture):
        (folder / "tavren_isle").mkdir()
        (folder / "tavren_isle" / "1.png").write_bytes(picture())
        report = import_images(
            study=study, path=folder, by=None, options=ImageImportOptions(create_groups=True)
        )
        assert (report.kept, report.new_groups) == (5, ("tavren_isle",))
        assert StudyGroup.objects.get(name="tavren_isle").display_name == "Tavren isle"

    def test_a_group_spelled_differently_is_repaired_and_reported(self, study, folder):
        (folder / "Velmari").rename(folder / "VELMARI")
        report = import_images(study=study, path=folder, by=None)
        assert report.kept == 4
        assert str(report.repaired[0]) == "VELMARI/0.png: group “VELMARI” read as “Velmari”"

    def test_a_duplicate_picture_is_reported_and_stored_once(self, study, folder, picture):
        (folder / "Velmari" / "copy.png").write_bytes(picture((10, 0, 0)))
        report = import_images(study=study, path=folder, by=None)
        assert report.kept == 4
        assert [str(remark) for remark in report.duplicates] == [
            "Velmari/copy.png: the same picture as Velmari/0.png"
        ]

    def test_importing_again_finds_everything_present(self, study, folder):
        import_images(study=study, path=folder, by=None)
        again = import_images(study=study, path=folder, by=None)
        assert (again.kept, len(again.duplicates)) == (0, 4)
        assert again.duplicates[0].reason == "the study already has this image"
        assert Image.objects.count() == 4
        assert len(stored_files()) == 4

    def test_each_bad_file_is_rejected_with_its_reason(self, study, folder, picture, settings):
        (folder / "notes.txt").write_text("hello")
        (folder / "Velmari" / "text.png").write_text("hello")
        (folder / "Velmari" / "cut.png").write_bytes(picture((1, 2, 3), size=(200, 200))[:-30])
        (folder / "Velmari" / "wide.png").write_bytes(picture(size=(2000, 2)))
        (folder / "Velmari" / ".DS_Store").write_bytes(b"x")
        settings.IMAGE_MAX_PIXELS = 3000
        report = import_images(study=study, path=folder, by=None)
        assert report.kept == 4
        assert {str(remark) for remark in report.rejected} == {
            "notes.txt: the file is not in a group's folder.",
            "Velmari/text.png: it is not an image.",
            "Velmari/cut.png: it has 200 × 200 pixels; the limit is 3,000 in all.",
            "Velmari/wide.png: it has 2,000 × 2 pixels; the limit is 3,000 in all.",
        }

    def test_a_file_without_valid_images_is_refused_in_one_sentence(self, study, tmp_path):
        (tmp_path / "x" / "Velmari").mkdir(parents=True)
        (tmp_path / "x" / "Velmari" / "1.png").write_text("hello")
        with pytest.raises(DomainError) as refusal:
            import_images(study=study, path=tmp_path / "x", by=None)
        assert refusal.value.message == (
            "None of 1 files could be imported. Velmari/1.png: it is not an image."
        )
        assert not AuditEntry.objects.exists()

    def test_a_symlink_out_of_the_folder_is_rejected(self, study, folder, tmp_path, picture):
        (tmp_path / "secret.png").write_bytes(picture((7, 7, 7)))
        (folder / "Velmari" / "link.png").symlink_to(tmp_path / "secret.png")
        report = import_images(study=study, path=folder, by=None)
        assert [remark.reason for remark in report.rejected] == [
            "it is outside the folder or archive that is imported."
        ]

    @pytest.mark.parametrize("what", ["nothing", "empty"])
    def test_an_empty_import_is_reported(self, study, tmp_path, what):
        if what == "empty":
            (tmp_path / what).mkdir()
        with pytest.raises(DomainError, match=r"There is nothing at|There is no file to import"):
            import_images(study=study, path=tmp_path / what, by=None)


class TestFailure:
    def test_an_import_that_fails_half_way_leaves_neither_rows_nor_files(self, study, folder):
        class Stopping(Unwatched):
            steps = 0

            def check_cancelled(self):
                self.steps += 1
                if self.steps == 4:
                    raise Cancelled

        with pytest.raises(Cancelled):
            import_images(study=study, path=folder, by=None, progress=Stopping())
        assert not Image.objects.exists()
        assert stored_files() == []

    def test_files_used_by_another_image_are_kept(self, study, folder):
        other = Study.objects.create(name="Other", slug="other", seed=1)
        import_images(study=other, path=folder, by=None)

        class Stopping(Unwatched):
            def check_cancelled(self):
                if len(stored_files()) == 4:
                    raise Cancelled

        with pytest.raises(Cancelled):
            import_images(study=study, path=folder, by=None, progress=Stopping())
        assert len(stored_files()) == 4


class TestArchive:
    def test_a_zip_is_read_like_a_folder(self, study, folder):
        assert import_images(study=study, path=zipped(folder), by=None).kept == 4

    @pytest.mark.parametrize(
        ("name", "sentence"),
        [
            ("../evil.png", "“../evil.png” is outside"),
            ("pictures/../../evil.png", "is outside"),
            ("/etc/evil.png", "is outside"),
            ("C:/evil.png", "is outside"),
            ("..\\evil.png", "is outside"),
        ],
    )
    def test_an_archive_with_a_path_outside_it_is_refused(self, study, folder, name, sentence):
        with pytest.raises(DomainError) as refusal:
            import_images(study=study, path=zipped(folder, **{name: b"x"}), by=None)
        assert sentence in refusal.value.message
        assert stored_files() == []

    def test_an_archive_with_a_symlink_is_refused(self, study, folder):
        file = zipped(folder)
        with zipfile.ZipFile(file, "a") as archive:
            link = zipfile.ZipInfo("pictures/Velmari/link.png")
            link.external_attr = 0o120777 << 16
            archive.writestr(link, "/etc/passwd")
        with pytest.raises(DomainError, match="is a symbolic link; archives with links are not opened"):
            import_images(study=study, path=file, by=None)

    def test_an_archive_with_an_encrypted_member_is_refused(self, study, folder):
        data = bytearray(zipped(folder).getvalue())
        # The flags of the last entry of the central directory.
        data[data.rindex(b"PK\x01\x02") + 8] |= 1
        with pytest.raises(DomainError, match="is encrypted; pack the archive without a password"):
            import_images(study=study, path=io.BytesIO(bytes(data)), by=None)

    def test_a_decompression_bomb_is_refused(self, study, folder):
        with pytest.raises(DomainError, match="is compressed too much: it would unpack to 50 MiB"):
            import_images(study=study, path=zipped(folder, **{"Velmari/bomb.png": bytes(50 << 20)}), by=None)

    def test_an_archive_over_the_total_limit_is_refused(self, study, folder, settings):
        settings.ARCHIVE_MAX_BYTES = 200
        with pytest.raises(DomainError, match="unpacks to more than the limit"):
            import_images(study=study, path=zipped(folder), by=None)

    def test_a_false_size_is_detected_while_reading(self, study, folder, picture, settings):
        """The directory claims that a member is small; unpacked, it exceeds the limit for an image."""
        file = zipped(
            folder, **{"pictures/Velmari/big.png": picture((5, 5, 5), size=(400, 400), compress_level=0)}
        )
        data = bytearray(file.getvalue())
        place = data.rindex(b"PK\x01\x02")
        data[place + 24 : place + 28] = (100).to_bytes(4, "little")
        settings.IMAGE_MAX_BYTES = 20_000
        report = import_images(study=study, path=io.BytesIO(bytes(data)), by=None)
        assert report.kept == 4
        (remark,) = report.rejected
        assert remark.where == "pictures/Velmari/big.png"

    def test_an_archive_within_the_archive_is_not_opened(self, study, folder):
        inner = zipped(folder).getvalue()
        report = import_images(
            study=study, path=zipped(folder, **{"pictures/Velmari/in.zip": inner}), by=None
        )
        assert [str(remark) for remark in report.rejected] == ["pictures/Velmari/in.zip: it is not an image."]

    @pytest.mark.parametrize("data", [b"", b"hello", b"PK\x03\x04broken"])
    def test_files_that_are_not_archives_are_reported(self, study, data):
        with pytest.raises(DomainError, match="is not a zip archive, or it is damaged"):
            import_images(study=study, path=io.BytesIO(data), by=None)

    def test_a_damaged_member_is_rejected_alone(self, study, folder):
        data = bytearray(zipped(folder).getvalue())
        first = data.index(b"PK\x03\x04", data.index(b"0.png"))  # the member after the first picture
        data[first - 12] ^= 0xFF
        report = import_images(study=study, path=io.BytesIO(bytes(data)), by=None)
        assert report.kept == 3
        assert len(report.rejected) == 1

    def test_files_added_by_operating_systems_are_not_counted(self, study, folder):
        file = zipped(folder, **{"__MACOSX/pictures/._0.png": b"x", "pictures/Thumbs.db": b"x"})
        assert import_images(study=study, path=file, by=None).files == 4


class TestManifest:
    def write(self, folder, text, name="manifest.csv"):
        (folder / name).write_text(text, encoding="utf-8")
        return folder

    def test_a_csv_says_what_each_image_is(self, study, folder):
        self.write(
            folder,
            "path,group,model,condition,prompt,attribute\n"
            'Velmari/0.png,Velmari,painter-2,stereotypical,"a Velmari person, tall",Tall  Hat\n'
            "Velmari/1.png,orsani,,,,\n"
            "Orsani/0.png,,painter-2,target,a lantern,\n",
        )
        report = import_images(
            study=study, path=folder, by=None, options=ImageImportOptions(model_label="other")
        )
        assert report.kept == 3
        found = Image.objects.order_by("source_name")
        assert list(
            found.values_list("source_name", "group__name", "model_label", "condition", "prompt")
        ) == [
            ("Orsani/0.png", None, "painter-2", "target", "a lantern"),
            ("Velmari/0.png", "Velmari", "painter-2", "stereotypical", "a Velmari person, tall"),
            ("Velmari/1.png", "Orsani", "other", "default", ""),
        ]
        assert found[1].attribute.text == "tall hat"
        assert str(report.repaired[0]) == "row 3 (Velmari/1.png): group “orsani” read as “Orsani”"

    def test_json_lines_say_the_same(self, study, folder):
        rows = [{"path": "Velmari/0.png", "group": "Velmari"}, {"path": "Orsani/1.png", "group": "Orsani"}]
        self.write(folder, "\n".join(map(json.dumps, rows)), "manifest.jsonl")
        assert import_images(study=study, path=folder, by=None).kept == 2

    def test_a_manifest_may_have_any_name_and_lie_in_an_archive(self, study, folder):
        self.write(folder, "path,group\nVelmari/0.png,Velmari\n", "list.csv")
        assert import_images(study=study, path=folder / "list.csv", by=None).kept == 1
        (folder / "list.csv").rename(folder / "manifest.csv")
        report = import_images(study=study, path=zipped(folder), by=None)
        assert (report.kept, len(report.duplicates)) == (0, 1)

    def test_every_bad_row_is_named(self, study, folder):
        self.write(
            folder,
            "path,group,condition\n"
            "Velmari/0.png,Velmari,default\n"
            "../../etc/passwd,Velmari,default\n"
            "/etc/passwd,Velmari,default\n"
            "Velmari/none.png,Velmari,default\n"
            ",Velmari,default\n"
            "Velmari/1.png,Tavren,default\n"
            "Velmari/1.png,,default\n"
            "Velmari/1.png,Velmari,sideways\n"
            "Velmari/1.png,Velmari,default,more\n",
        )
        report = import_images(study=study, path=folder, by=None)
        assert report.kept == 1
        assert [str(remark) for remark in report.rejected] == [
            "row 3 (../../etc/passwd): the path is outside the folder or archive that is imported.",
            "row 4 (/etc/passwd): the path is outside the folder or archive that is imported.",
            "row 5 (Velmari/none.png): it does not exist.",
            "row 6: the row has no path.",
            "row 7 (Velmari/1.png): The study has no identity group “Tavren”.",
            "row 8 (Velmari/1.png): The image has no identity group.",
            f"row 9 (Velmari/1.png): The condition “sideways” is not one of {', '.join(Condition.values)}.",
            "row 10: the row has 4 cells, but the header has 3.",
        ]

    @pytest.mark.parametrize(
        ("data", "sentence"),
        [
            (b"file,group\na,b\n", "needs a column “path”"),
            (b"", "needs a column “path”"),
            (b"path,group\n\xff\xfe,b\n", "is not UTF-8 text"),
            (b'path,group\n"a,b\n', "Row 2 of “manifest.csv” is not CSV"),
        ],
    )
    def test_an_unreadable_table_is_refused_completely(self, study, folder, data, sentence):
        (folder / "manifest.csv").write_bytes(data)
        with pytest.raises(DomainError) as refusal:
            import_images(study=study, path=folder, by=None)
        assert sentence in refusal.value.message

    def test_a_line_that_is_not_json_is_named(self, study, folder):
        self.write(folder, '{"path": "Velmari/0.png", "group": "Velmari"}\nhello\n[1]\n', "manifest.jsonl")
        report = import_images(study=study, path=folder, by=None)
        assert [str(remark) for remark in report.rejected] == [
            "row 2: the line is not JSON.",
            "row 3: the line is not a JSON object.",
        ]

    def test_lines_that_are_not_text_are_rejected_and_the_others_kept(self, study, folder):
        lines = [
            '{"path": "Velmari/0.png", "group": "Velmari"}',
            '{"path": "\\ud800.png", "group": "Velmari"}',
            '{"path": "Velmari/1.png", "group": "Velmari", "prompt": "a\\u0000b"}',
            "[" * 100_000,
        ]
        self.write(folder, "\n".join(lines), "manifest.jsonl")
        report = import_images(study=study, path=folder, by=None)
        assert report.kept == 1
        assert [str(remark) for remark in report.rejected] == [
            "row 2 (\\ud800.png): The path or description of the file is not UTF-8 text.",
            "row 3 (Velmari/1.png): The path or description of the file is not UTF-8 text.",
            "row 4: the line is not JSON.",
        ]


class TestCommand:
    def test_the_pairs_tree_is_imported_completely(self, shared_data, capsys):
        call_command(
            "import_images", "--study", "Pairs", "--create", "--layout", "pairs", str(shared_data / "pairs")
        )
        out = capsys.readouterr().out
        assert "200 files: 200 kept (1 of them repaired), 0 duplicates, 0 rejected." in out
        assert "New groups: black_man, black_woman, white_man, white_woman" in out
        assert "status/phone/white_man1.png: variant “white_man1” read as “white_man”" in out
        study = Study.objects.get(name="Pairs")
        assert study.protocol == Study.Protocol.PAIRS
        assert study.groups.get(name="black_man").factors == {"race": "black", "gender": "man"}
        images = Image.objects.filter(study=study)
        assert images.values("experiment", "scenario").distinct().count() == 50
        assert {images.filter(group__name=name).count() for name in ("black_man", "white_woman")} == {50}
        taxi = images.get(source_name="occupations/taxi/black_man.png")
        assert (taxi.experiment, taxi.scenario) == ("occupations", "taxi")
        assert taxi.provenance == {
            "imported": True,
            "experiment": "occupations",
            "scenario": "taxi",
            "variant": "black_man",
        }

    def test_scenarios_of_earlier_imports_are_read_from_their_provenance(self, study):
        group = StudyGroup.objects.create(study=study, name="green_woman", display_name="green woman")
        said = {"imported": True, "experiment": "trades", "scenario": "kiln", "variant": "green_woman"}
        image, other = (
            Image.objects.create(study=study, group=group, source_name=name, provenance=provenance)
            for name, provenance in (("kiln/green_woman.png", said), ("a.png", {"scenario": "none"}))
        )
        migration = import_module("generation.migrations.0005_scenarios_from_provenance")
        migration.fill_from_provenance(apps, connection.schema_editor())
        image.refresh_from_db()
        other.refresh_from_db()
        group.refresh_from_db()
        assert (image.experiment, image.scenario) == ("trades", "kiln")
        assert (other.experiment, other.scenario) == ("", "")
        assert group.factors == {"race": "green", "gender": "woman"}

    def test_a_missing_study_is_reported_with_how_to_create_it(self, folder):
        with pytest.raises(NotFound, match=r"There is no study “Isles”; add --create to create it\."):
            call_command("import_images", "--study", "Isles", str(folder))

    def test_a_created_study_takes_its_groups_from_the_images(self, folder, lead, capsys):
        call_command("import_images", "--study", "New isles", "--create", "--by", "lena", str(folder))
        study = Study.objects.get(name="New isles")
        assert set(study.groups.values_list("name", flat=True)) == {"Velmari", "Orsani"}
        assert study.memberships.get().user == lead
        assert capsys.readouterr().out.startswith("4 files: 4 kept")

    def test_rejected_files_are_listed(self, study, folder, capsys):
        (folder / "Velmari" / "text.png").write_text("hello")
        call_command("import_images", "--study", "isles", str(folder))
        assert "Rejected: Velmari/text.png: it is not an image." in capsys.readouterr().out
