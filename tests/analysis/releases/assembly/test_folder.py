"""The target folder of a release: symlinks, mounts, and folders that cannot be moved or deleted."""

import errno
import json
import os
from pathlib import Path

import pytest

from analysis.releases.assembly import folder
from foundation.errors import Conflict

pytestmark = pytest.mark.database_free


def a_release(place: Path, words: str = "old") -> Path:
    place.mkdir()
    (place / folder.MANIFEST).write_text(json.dumps({"study": {"slug": "isles"}}))
    (place / "README.md").write_text(words)
    return place


def put(output: Path) -> None:
    folder.require_folder(output, study="isles")
    with folder.workplace(output) as place:
        folder.put_in_place(a_release(place / "ready", "new"), output)


def test_a_folder_behind_a_symlink_is_replaced(tmp_path):
    there = tmp_path / "disk"
    there.mkdir()
    target = a_release(there / "isles")
    link = tmp_path / "link"
    link.symlink_to(target)
    put(link)
    assert link.is_symlink()
    assert (target / "README.md").read_text() == "new"
    assert [one.name for one in there.iterdir()] == ["isles"]


def test_a_folder_behind_a_dangling_symlink_is_created(tmp_path):
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "later")
    put(link)
    assert (tmp_path / "later" / "README.md").read_text() == "new"


def test_a_symlink_to_itself_is_refused(tmp_path):
    link = tmp_path / "link"
    link.symlink_to(link)
    with pytest.raises(Conflict):
        put(link)


def test_a_mounted_disk_is_refused_before_anything_is_built(tmp_path, monkeypatch):
    output = a_release(tmp_path / "out")
    monkeypatch.setattr(folder.os.path, "ismount", lambda path: Path(path) == output)
    with pytest.raises(Conflict, match="mounted"):
        folder.require_folder(output, study="isles")


def test_the_old_release_stays_where_the_new_one_cannot_be_moved(tmp_path, monkeypatch):
    output = a_release(tmp_path / "out")
    rename = Path.rename

    def refuse(self, target):
        if self.name == "ready":
            raise OSError(errno.EBUSY, "Device or resource busy")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(Conflict, match="busy"):
        put(output)
    assert (output / "README.md").read_text() == "old"
    assert os.listdir(tmp_path) == ["out"]


def test_an_old_release_that_cannot_be_deleted_does_not_stop_the_new_one(tmp_path, monkeypatch):
    output = a_release(tmp_path / "out")
    remove = os.unlink

    def refuse(path, *rest, **options):
        if Path(path).name == "README.md":
            raise PermissionError(errno.EPERM, "Operation not permitted")
        remove(path, *rest, **options)

    monkeypatch.setattr(os, "unlink", refuse)
    put(output)
    assert (output / "README.md").read_text() == "new"


def test_only_a_full_disk_is_blamed_on_the_target(tmp_path):
    with (
        pytest.raises(OSError, match="truncated") as found,
        folder.workplace(tmp_path / "out"),
    ):
        raise OSError("image file is truncated")
    assert not isinstance(found.value, Conflict)
    with pytest.raises(Conflict, match="No space left"), folder.workplace(tmp_path / "out"):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert os.listdir(tmp_path) == []
