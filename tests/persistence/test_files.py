"""Files: those that are no models, those cut short, and writes that fail half way."""

import io
import json
import os
import pickle
import stat
import zipfile

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from recuse.costs import Costs
from recuse.persistence import files, load, save, saved_versions, write_whole
from tests.persistence.handmade import named, text

# Files that are no models


def test_missing_file(path):
    for read in (load, saved_versions):
        with pytest.raises(FileNotFoundError, match=r"model.skops' does not exist"):
            read(path)


def zip_of(**members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.json", content)
    return buffer.getvalue()


VERSIONS = json.dumps({"format": 1, "versions": {}})


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not a model",
        pickle.dumps(LogisticRegression()),
        zip_of(),
        zip_of(recuse=VERSIONS),
        zip_of(schema="{}"),
        zip_of(schema="{}", recuse=VERSIONS),
        zip_of(schema="[", recuse=VERSIONS),
        zip_of(schema=json.dumps({"protocol": 10**6}), recuse=VERSIONS),
        zip_of(schema=json.dumps({**named("a", "b", "NoSuchNode"), "protocol": 2}), recuse=VERSIONS),
        zip_of(schema=json.dumps({**text(1), "protocol": 2}), recuse="[]"),
        zip_of(schema=json.dumps({**text(1), "protocol": 2}), recuse='{"versions": 3}'),
        zip_of(schema=json.dumps({**text(1), "protocol": 2}), recuse='{"format": "x", "versions": {}}'),
        zip_of(schema="[1]", recuse=VERSIONS),
    ],
)
def test_other_files_are_refused(path, content):
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"model.skops is not a model saved by recuse.save, or it is damaged\.$"):
        load(path)


def test_damaged_model_is_refused(path):
    save(StandardScaler().fit(np.arange(12.0).reshape(2, 6)), path)
    whole = path.read_bytes()
    assert load(path).n_features_in_ == 6
    for content in (whole[:-1], whole[: len(whole) // 2], whole[:10]):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"is not a model saved by recuse.save, or it is damaged"):
            load(path)
    # A flipped bit in an array is caught by its checksum.
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        array = next(info for info in archive.infolist() if info.filename.endswith(".npy"))
    spot = array.header_offset + 30 + len(array.filename) + array.compress_size // 2
    path.write_bytes(whole[:spot] + bytes([whole[spot] ^ 1]) + whole[spot + 1 :])
    with pytest.raises(ValueError, match=r"it is damaged"):
        load(path)


# Whole or not at all


def test_write_whole_creates_and_replaces(path):
    write_whole(path, b"first")
    assert path.read_bytes() == b"first"
    write_whole(str(path), b"second")
    assert path.read_bytes() == b"second"
    assert os.listdir(path.parent) == [path.name]


def fail(*_, **__):
    raise OSError("disk full")


def interrupt(*_, **__):
    raise KeyboardInterrupt


STEPS = [(files, "open", fail), (os, "fsync", fail), (os, "replace", fail), (os, "replace", interrupt)]


@pytest.mark.parametrize(("module", "name", "failure"), [*STEPS, (os, "chmod", fail)])
def test_failure_at_any_step_leaves_the_old_file(path, monkeypatch, module, name, failure):
    path.write_bytes(b"old")
    monkeypatch.setattr(module, name, failure, raising=False)
    with pytest.raises((OSError, KeyboardInterrupt)):
        write_whole(path, b"new")
    monkeypatch.undo()
    assert path.read_bytes() == b"old"
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.parametrize(("module", "name", "failure"), STEPS)
def test_failure_at_any_step_leaves_no_file_where_none_was(path, monkeypatch, module, name, failure):
    monkeypatch.setattr(module, name, failure, raising=False)
    with pytest.raises((OSError, KeyboardInterrupt)):
        write_whole(path, b"new")
    monkeypatch.undo()
    assert os.listdir(path.parent) == []


def test_failure_while_writing_leaves_the_old_file(path):
    path.write_bytes(b"old")
    with pytest.raises(TypeError):
        write_whole(path, "text, which a binary file refuses")
    assert path.read_bytes() == b"old"
    assert os.listdir(path.parent) == [path.name]


def test_failed_save_leaves_the_old_model(path, monkeypatch):
    save(Costs(reject=0.1), path)
    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        save(Costs(reject=0.3), path)
    assert load(path) == Costs(reject=0.1)
    assert os.listdir(path.parent) == [path.name]


def test_content_is_on_disk_before_the_rename_and_the_rename_after(path, monkeypatch):
    steps = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(
        os, "fsync", lambda handle: (steps.append(stat.S_ISDIR(os.fstat(handle).st_mode)), fsync(handle))
    )
    monkeypatch.setattr(os, "replace", lambda *names: (steps.append("replace"), replace(*names)))
    write_whole(path, b"new")
    assert steps == [False, "replace", True] if os.name == "posix" else steps[:2] == [False, "replace"]


def test_folder_that_cannot_be_synced_is_no_failure(path, monkeypatch):
    monkeypatch.setattr(os, "open", fail)
    write_whole(path, b"new")
    assert path.read_bytes() == b"new"
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.skipif(os.name != "posix", reason="permissions and links of POSIX systems")
def test_permissions_and_links_are_those_of_an_ordinary_write(path, tmp_path):
    before = os.umask(0o027)
    try:
        write_whole(path, b"new")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o600)
    write_whole(path, b"newer")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    link = tmp_path / "link"
    link.symlink_to(path)
    write_whole(link, b"newest")
    assert link.is_symlink()
    assert path.read_bytes() == b"newest"


def test_places_that_cannot_be_written(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"cannot be written: create the folder .*nowhere first"):
        write_whole(tmp_path / "nowhere" / "model", b"")
    with pytest.raises(IsADirectoryError, match=r"is a folder or a device: give the name of a file"):
        write_whole(tmp_path, b"")
    with pytest.raises(FileNotFoundError, match=r"create the folder"):
        save(Costs(), tmp_path / "nowhere" / "model")
