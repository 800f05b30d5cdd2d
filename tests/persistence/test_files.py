"""Files: those that are no models, those cut short, and writes that fail half way."""

import hashlib
import io
import json
import os
import pickle
import stat
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from recuse.costs import Costs
from recuse.persistence import archive, files, load, save, saved_digest, saved_versions, write_whole
from recuse.persistence.archive import FORMAT, members_of, sealed, zipped
from tests.persistence.handmade import made_again, named, text

# Files that are no models


def test_missing_file(path):
    for read in (load, saved_versions):
        with pytest.raises(FileNotFoundError, match=r"model.skops' does not exist"):
            read(path)


def file_of(**members):
    return zipped({f"{name}.json": content for name, content in members.items()})


HEADER = {"format": FORMAT, "versions": {}}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not a model",
        pickle.dumps(LogisticRegression()),
        file_of(),
        file_of(schema="{}"),
        sealed({"schema.json": b"{}"}, HEADER),
        sealed({"schema.json": b"["}, HEADER),
        sealed({"schema.json": b"[1]"}, HEADER),
        sealed({"schema.json": json.dumps({"protocol": 10**6}).encode()}, HEADER),
        sealed({"schema.json": json.dumps({**named("a", "b", "NoSuchNode"), "protocol": 2}).encode()}, HEADER),
        sealed({"schema.json": b"[" * 10**6}, HEADER),
        sealed({"other.json": b"{}"}, HEADER),
        file_of(schema=json.dumps({**text(1), "protocol": 2}), recuse="[]"),
        file_of(schema=json.dumps({**text(1), "protocol": 2}), recuse='{"versions": 3}'),
        file_of(schema=json.dumps({**text(1), "protocol": 2}), recuse='{"format": "x", "versions": {}}'),
        file_of(schema=json.dumps({**text(1), "protocol": 2}), recuse='{"format": 2, "versions": {}, "manifest": []}'),
    ],
)
def test_other_files_are_refused(path, content):
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"model.skops is not a model saved by recuse.save, or it is damaged\.$"):
        load(path)


# Files that were changed

MODEL = make_pipeline(StandardScaler(), LogisticRegression()).fit(np.arange(12.0).reshape(6, 2), [0, 0, 0, 1, 1, 1])
CHANGED = r"model.skops (was changed or damaged after it was saved \(.*\): take the file as it was saved, or fit and "
CHANGED += (
    r"save the model again|is not a model saved by recuse.save, or it is damaged|was saved by an? \w+er recuse .*)"
)
CHANGED += r"\.$"


@pytest.fixture
def content(path):
    save(MODEL, path)
    return path.read_bytes()


def assert_refused(path, content, match=CHANGED):
    path.write_bytes(content)
    for read in (load, saved_versions, saved_digest):
        with pytest.raises(ValueError, match=match) as caught:
            read(path)
        assert "\n" not in str(caught.value)


def test_no_byte_can_change_unnoticed(path, content):
    """Also those that unzip programs ignore, such as times and attributes."""
    rng = np.random.default_rng(0)
    for spot in [*range(40), *rng.choice(len(content), 150, replace=False), *range(len(content) - 90, len(content))]:
        assert_refused(path, content[:spot] + bytes([content[spot] ^ (1 << rng.integers(8))]) + content[spot + 1 :])


@pytest.mark.parametrize("cut", [1, 64, 65, 500])
def test_a_file_that_is_longer_or_shorter_is_refused(path, content, cut):
    for changed in (content[:-cut], content[cut:], content + b"0" * cut, b"0" * cut + content):
        assert_refused(path, changed)


def changed_array(members):
    name = next(name for name in members if name.endswith(".npy"))
    return members | {name: members[name][:-1] + bytes([members[name][-1] ^ 1])}


EDITS = {
    "an array": changed_array,
    "the schema": lambda members: members | {"schema.json": members["schema.json"].replace(b'"C"', b'"D"')},
    "a member more": lambda members: members | {"more.npy": b""},
    "a member less": lambda members: {name: data for name, data in members.items() if not name.endswith(".npy")},
    "the versions": lambda members: members | {"recuse.json": members["recuse.json"].replace(b"numpy", b"Numpy")},
    "no manifest": lambda members: members | {"recuse.json": json.dumps(HEADER).encode()},
    "an older format": lambda members: members | {"recuse.json": json.dumps(HEADER | {"format": 1}).encode()},
    "a newer format": lambda members: members | {"recuse.json": json.dumps(HEADER | {"format": 3}).encode()},
    "nothing but the zip's own records": lambda members: members,
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_an_edited_file_is_refused(path, content, edit):
    assert_refused(path, zipped(edit(members_of(content))))


def test_the_part_that_was_changed_is_named(path, content):
    edited = zipped(EDITS["the schema"](members_of(content)))
    assert_refused(path, edited, match=r"was changed or damaged after it was saved \(schema.json\): take the file")


def test_nothing_is_built_from_a_changed_file(path, content, monkeypatch):
    import skops.io

    monkeypatch.setattr(skops.io, "loads", pytest.fail)
    assert_refused(path, zipped(EDITS["an array"](members_of(content))))


def test_a_file_made_again_as_a_whole_is_told_by_the_digest(path, content):
    """The manifest is no signature: only a digest kept elsewhere tells."""
    kept = saved_digest(path)
    assert load(path, digest=kept).predict([[0, 1]]) == [0]
    assert load(path, digest=f" {kept.upper()}\n").predict([[0, 1]]) == [0]
    members = members_of(content)
    other = made_again(content, {"schema.json": members["schema.json"].replace(b"lbfgs", b"lbfgz")})
    path.write_bytes(other)
    assert load(path)[-1].solver == "lbfgz"
    with pytest.raises(ValueError, match=rf"has the digest {saved_digest(path)}, not {kept}: it is another file"):
        load(path, digest=kept)
    for wrong in ("", "12", 12, "g" * 64):
        with pytest.raises(ValueError, match=r"is no digest: give the 64 hexadecimal digits"):
            load(path, digest=wrong)


def test_the_digest_is_that_of_the_file(path, content):
    assert saved_digest(path) == hashlib.sha256(content).hexdigest()


def test_a_file_that_unpacks_to_far_more_than_a_model_is_refused(path, content):
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as writer:
        with writer.open("schema.json", "w", force_zip64=True) as member:
            for _ in range(300):
                member.write(bytes(2**20))
        writer.writestr("recuse.json", json.dumps(HEADER))
    assert_refused(path, bomb.getvalue())


def test_what_compresses_too_well_is_stored_as_it_is(path, monkeypatch):
    monkeypatch.setattr(archive, "_SMALL", 1000)
    save(StandardScaler().fit(np.zeros((2, 30_000))), path)
    assert path.stat().st_size > 3 * 8 * 30_000
    assert load(path).n_features_in_ == 30_000


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes of POSIX systems")
def test_a_pipe_is_no_model(path):
    os.mkfifo(path)
    with pytest.raises(FileNotFoundError, match=r"is a folder or a device: give the file that save wrote"):
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


# What killed writers leave behind

WRITER = """
import sys
from recuse.persistence import open_whole
with open_whole(sys.argv[1]) as file:
    file.write(b"half")
    file.flush()
    print("writing", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def start_writer(path):
    """Start a process that has written half of a file, and waits."""
    writers = []

    def start():
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        writers.append(subprocess.Popen([sys.executable, "-c", WRITER, str(path)], **pipes))
        assert writers[-1].stdout.readline() == b"writing\n"
        return writers[-1]

    yield start
    for writer in writers:
        writer.kill()
        writer.communicate()


def test_the_next_write_removes_what_a_killed_one_left(path, start_writer):
    other = path.with_name(f".{path.name}.old.{'0' * 16}.tmp")  # of another file
    other.touch()
    writer = start_writer()
    writer.kill()
    writer.wait()
    assert len(os.listdir(path.parent)) == 2
    write_whole(path, b"whole")
    assert set(os.listdir(path.parent)) == {path.name, other.name}


@pytest.mark.skipif(os.name != "posix", reason="elsewhere a file that is open cannot be replaced")
def test_a_write_under_way_is_left_alone(path, start_writer):
    writer = start_writer()
    write_whole(path, b"faster")
    assert len(os.listdir(path.parent)) == 2
    writer.communicate(b"")
    assert writer.returncode == 0
    assert path.read_bytes() == b"half"
    assert os.listdir(path.parent) == [path.name]


def test_names_with_special_characters_are_taken_literally(tmp_path):
    bystander = tmp_path / ".model.0123.tmp"
    bystander.touch()
    write_whole(tmp_path / "mod[e]l", b"")
    write_whole(tmp_path / "m*", b"")
    assert bystander.exists()


def test_places_that_cannot_be_written(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"cannot be written: create the folder .*nowhere first"):
        write_whole(tmp_path / "nowhere" / "model", b"")
    with pytest.raises(IsADirectoryError, match=r"is a folder or a device: give the name of a file"):
        write_whole(tmp_path, b"")
    with pytest.raises(FileNotFoundError, match=r"create the folder"):
        save(Costs(), tmp_path / "nowhere" / "model")
