"""Mutated model files and fuzzed tables: every one must end in an answer or in one line, within 60 s and 2 GiB.

Model files of six methods are damaged and edited in many ways, and `recuse predict` is asked to answer with them: no
changed file may give an answer. Some are edited and given a fresh manifest, as only a person would: these may answer,
but not with NaN, and never against the digest of the original. Then tables are damaged, in cells, rows, headers,
encodings, compression and types, and a sound model answers them, or a model is fitted on them. "Ours" counts the runs
that broke the rule, of the number in `size`; "peer's" is the number allowed. Seconds are of the processor; a command
that takes three minutes by the clock is ended, and counts as a traceback. The files follow from a seed.
"""

import gzip
import io
import json
import os
import select
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

import recuse
from recuse.comparison import fit
from recuse.persistence import saved_digest
from recuse.persistence.archive import members_of, sealed, zipped
from recuse.persistence.names import nodes

from .runner import Row

METHODS = (
    "ensemble",
    "logistic-chow",
    "boosting-chow",
    "abstention-boosting",
    "exactboost",
    "double-hinge",
    "coupled-one-class",
)
SECONDS, MEBIBYTES = 60.0, 2048.0
_HANGS = 3 * SECONDS  # then it is ended


def run(quick=False):
    """Yield one row per rule."""
    yield from model_rows(60 if quick else 1_200, 20 if quick else 300)
    yield from table_rows(60 if quick else 600)


# The runs


class Outcome(NamedTuple):
    """What became of a command: exit code (None: a traceback, or it died), messages, processor seconds, mebibytes."""

    code: int | None
    errors: str
    seconds: float
    mebibytes: float

    @property
    def is_clean(self):
        """Whether it ended as a command should: done, or one line that says what is wrong."""
        # Said before the table is looked at closely, or while it is read.
        known = ("recuse: warning: ", ": the positive outcome is ", "columns are separated by ", " is read as ")
        known += (
            " s so far",
            ": it is read as ",
            ", and read as ",
            " are set aside.",
            " is positive, the other ",
            " sheets is read, ",
            ": a false alarm costs ",
        )
        lines = [line for line in self.errors.splitlines() if not any(part in line for part in known)]
        return self.code == 0 or (self.code == 1 and len(lines) == 1 and lines[0].startswith("recuse: "))


class Commands:
    """Runs commands in a worker process, and starts another one when it hangs or dies."""

    def __init__(self):
        self._worker = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._end()

    def run(self, *arguments):
        """What becomes of a command."""
        if self._worker is None:
            self._start()
        self._worker.stdin.write(json.dumps([str(argument) for argument in arguments]) + "\n")
        self._worker.stdin.flush()
        ready, _, _ = select.select([self._worker.stdout], [], [], _HANGS)
        line = self._worker.stdout.readline() if ready else ""
        if not line:
            self._end()
            return Outcome(None, "died" if ready else "hung", 0.0 if ready else _HANGS, 0.0)
        return Outcome(**json.loads(line))

    def _start(self):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
        command, folder = [sys.executable, "-m", "benchmarks.hostile_worker"], Path(__file__).parents[1]
        self._worker = subprocess.Popen(command, cwd=folder, env=os.environ | threads, **pipes)

    def _end(self):
        if self._worker is not None:
            self._worker.kill()
            self._worker.communicate()
            self._worker = None


def _limits(what, cases, size):
    """Rows for the slowest and the largest run; their names are printed."""
    for unit, measure, limit in (("processor seconds", "seconds", SECONDS), ("MiB", "mebibytes", MEBIBYTES)):
        name, done = max(cases, key=lambda case: getattr(case[1], measure))
        print(f"    most {unit}: {name}: {done.code} {done.errors.strip()[:200]}")
        yield Row(f"{what}: most {unit}", size, "limit", getattr(done, measure), limit, 1.0)


def _none_of(what, size, broken):
    """A row for a rule that no run may break; what broke it is printed."""
    for name, done in broken[:5]:
        print(f"    {what}: {name}: {done.code} {done.errors.strip()[-800:]}")
    return Row(what, size, "allowed", float(len(broken)), 0.0, 1.0)


def _require_done(done):
    """Without a change, there is an answer: else refusing would prove nothing."""
    if done.code != 0:
        raise RuntimeError(f"a sound file was refused: {done.errors}")


def _has_nan(path):
    answers = pd.read_csv(path)
    return bool(answers[["h", "r"]].isna().any().any())


# Model files


def model_rows(n_changed, n_made_again, seed=0):
    """Yield the rows about model files."""
    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as folder, Commands() as commands:
        folder = Path(folder)
        data, out, victim = folder / "data.csv", folder / "out.csv", folder / "model.skops"
        table(40, seed=1).to_csv(data, index=False)
        originals = _originals(folder)
        digests = {name: saved_digest(path) for name, path in originals.items()}
        for path in originals.values():
            _require_done(commands.run("predict", path, data, "-o", out))
        changed, made_again, against_digest = [], [], []
        for number in range(n_changed):
            name, edit = METHODS[number % len(METHODS)], EDITS[number // len(METHODS) % len(EDITS)]
            original = originals[name].read_bytes()
            content = edit(original, rng)
            while content == original:
                content = edit(original, rng)
            victim.write_bytes(content)
            changed.append((f"{name}, {edit.__name__}, {number}", commands.run("predict", victim, data, "-o", out)))
        for number in range(n_made_again):
            name, edit = METHODS[number % len(METHODS)], MEMBER_EDITS[number // len(METHODS) % len(MEMBER_EDITS)]
            members = edit(members_of(originals[name].read_bytes()), rng)
            header = json.loads(members.pop("recuse.json"))
            victim.write_bytes(sealed(members, header))
            what = f"{name}, {edit.__name__}, {number}"
            out.unlink(missing_ok=True)
            made_again.append((what, commands.run("predict", victim, data, "-o", out), out.exists() and _has_nan(out)))
            verified = commands.run("predict", victim, data, "-o", out, "--verify", digests[name])
            against_digest.append((what, verified))
    size = f"{n_changed:,} changed files"
    yield _none_of("models: tracebacks", size, [case for case in changed if not case[1].is_clean])
    yield _none_of("models: answers from a changed file", size, [case for case in changed if case[1].code == 0])
    yield from _limits("models", changed, size)
    size = f"{n_made_again:,} with a fresh manifest"
    yield _none_of("models: tracebacks", size, [case[:2] for case in made_again if not case[1].is_clean])
    yield _none_of("models: answers of NaN", size, [case[:2] for case in made_again if case[2]])
    yield _none_of("models: answers against the digest", size, [case for case in against_digest if case[1].code == 0])
    yield from _limits("models", [case[:2] for case in made_again], size)


def _originals(folder):
    """A saved model of each method."""
    paths, cases = {}, table(120, seed=0)
    for name in METHODS:
        paths[name] = folder / f"{name}.skops"
        recuse.save(fit(cases, "y", method=name, positive="yes"), paths[name])
    return paths


def flip_bits(content, rng):
    changed = bytearray(content)
    for spot in rng.integers(len(content), size=rng.integers(1, 9)):
        changed[spot] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def overwrite(content, rng):
    start, length = int(rng.integers(len(content))), int(rng.integers(1, 200))
    return content[:start] + rng.bytes(min(length, len(content) - start)) + content[start + length :]


def cut_out(content, rng):
    start, end = sorted(rng.integers(len(content) + 1, size=2))
    return content[:start] + content[end:]


def cut_short(content, rng):
    return content[: int(rng.integers(len(content)))]


def insert(content, rng):
    spot = int(rng.integers(len(content) + 1))
    return content[:spot] + rng.bytes(int(rng.integers(1, 500))) + content[spot:]


def repeat(content, rng):
    start, end = sorted(rng.integers(len(content) + 1, size=2))
    return content[:end] + content[start:]


def another_format(content, rng):
    """The header of another format, or without a manifest."""
    members = members_of(content)
    header = json.loads(members["recuse.json"])
    header |= [{"format": 1}, {"format": 0}, {"format": 3}, {"format": 2.0}, {"format": -1}][int(rng.integers(5))]
    if rng.random() < 0.5:
        header.pop("manifest")
    return zipped(members | {"recuse.json": json.dumps(header).encode()})


def edit_members(content, rng):
    """An edit that a person would make: the manifest is that of the original."""
    return zipped(MEMBER_EDITS[int(rng.integers(len(MEMBER_EDITS)))](members_of(content), rng))


EDITS = (flip_bits, overwrite, cut_out, cut_short, insert, repeat, another_format, edit_members, edit_members)


def change_number(members, rng):
    """Another number in the schema: a parameter, or a fitted number."""
    schema = json.loads(members["schema.json"])
    spots = [node for node in nodes(schema) if node.get("__loader__") == "JsonNode"]
    node = spots[int(rng.integers(len(spots)))]
    node["content"] = json.dumps([0, -1, 10**400, 1e308, float("nan"), "x", None, [], True, 2][int(rng.integers(10))])
    return members | {"schema.json": json.dumps(schema).encode()}


def change_text(members, rng):
    """A few characters of the schema overwritten."""
    return members | {"schema.json": overwrite(members["schema.json"], rng)}


def drop_node(members, rng):
    """A key of the schema left out."""
    schema = json.loads(members["schema.json"])
    spots = [node for node in nodes(schema) if node]
    node = spots[int(rng.integers(len(spots)))]
    node.pop(list(node)[int(rng.integers(len(node)))])
    return members | {"schema.json": json.dumps(schema).encode()}


def swap_nodes(members, rng):
    """Two parts of the schema exchanged."""
    schema = json.loads(members["schema.json"])
    spots = [node for node in nodes(schema) if "__class__" in node]
    one, other = (spots[int(spot)] for spot in rng.integers(len(spots), size=2))
    one_copy, other_copy = (json.loads(json.dumps(node)) for node in (one, other))
    one.clear(), one.update(other_copy)
    other.clear(), other.update(one_copy)
    return members | {"schema.json": json.dumps(schema).encode()}


def change_array(members, rng):
    """The bytes of an array, its type or its shape."""
    name = _an_array(members, rng)
    array = np.load(io.BytesIO(members[name]), allow_pickle=False)
    flat = array.ravel().copy()
    choice = int(rng.integers(5))
    if choice == 0 and flat.dtype.kind == "f" and flat.size:
        flat[int(rng.integers(flat.size))] = [np.nan, np.inf, 1e308][int(rng.integers(3))]
    elif choice == 1:
        flat = flat[:-1]
    elif choice == 2 and flat.dtype.kind in "iu" and flat.size:
        flat[int(rng.integers(flat.size))] = [-1, 10**6, 127][int(rng.integers(3))] % np.iinfo(flat.dtype).max
    elif choice == 3:
        flat = np.concatenate([flat, flat])
    else:
        return members | {name: overwrite(members[name], rng)}
    buffer = io.BytesIO()
    np.save(buffer, flat.reshape(array.shape) if flat.size == array.size else flat, allow_pickle=False)
    return members | {name: buffer.getvalue()}


def swap_arrays(members, rng):
    """Two arrays exchanged."""
    one, other = _an_array(members, rng), _an_array(members, rng)
    return members | {one: members[other], other: members[one]}


def drop_array(members, rng):
    """An array left out."""
    name = _an_array(members, rng)
    return {other: data for other, data in members.items() if other != name}


MEMBER_EDITS = (change_number, change_text, drop_node, swap_nodes, change_array, change_array, swap_arrays, drop_array)


def _an_array(members, rng):
    names = [name for name in members if name.endswith(".npy")]
    return names[int(rng.integers(len(names)))]


# Tables


def table(n, seed):
    """Numbers, categories, dates and text, some missing, with an outcome."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n).round(3)
    return pd.DataFrame(
        {
            "x": x,
            "z": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n).round(2)),
            "count": rng.integers(0, 50, n),
            "town": rng.choice(["Ulm", "Bonn", "Köln", None], n),
            "since": (pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), unit="D")).strftime(
                "%Y-%m-%d"
            ),
            "note": [f"seen in spring {number}" for number in rng.integers(0, 60, n)],
            "y": np.where(x + 0.7 * rng.normal(size=n) > 0, "yes", "no"),
        }
    )


def table_rows(n_tables, seed=0, fuzzes=None):
    """Yield the rows about tables."""
    fuzzes = FUZZES if fuzzes is None else fuzzes
    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as folder, Commands() as commands:
        folder = Path(folder)
        model, out = folder / "model.skops", folder / "out.csv"
        recuse.save(fit(table(120, seed=0), "y", method="logistic-chow", positive="yes"), model)
        data = folder / "sound.csv"
        table(40, seed=1).to_csv(data, index=False)
        _require_done(commands.run("predict", model, data, "-o", out))
        _require_done(commands.run("fit", data, "-t", "y", "-m", "logistic-chow", "-o", folder / "fitted.skops"))
        cases = []
        for number in range(n_tables):
            fuzz = fuzzes[number % len(fuzzes)]
            name, content = fuzz(rng)
            data = folder / name
            data.write_bytes(content)
            out.unlink(missing_ok=True)
            if number // len(fuzzes) % 4 == 3:
                done = commands.run("fit", data, "-t", "y", "-m", "logistic-chow", "-o", folder / "fitted.skops")
            elif number // len(fuzzes) % 4 == 2 and fuzzes is not FUZZES:
                done = commands.run("check", data, "-t", "y")
                done = done._replace(code=0) if done.code == 3 else done  # it found something to look at
            else:
                done = commands.run("predict", model, data, "-o", out)
            cases.append((f"{fuzz.__name__}, {number}", done, out.exists() and _has_nan(out)))
            data.unlink()
    counts = Counter(done.code for _, done, _ in cases)
    size = f"{n_tables:,} tables, {counts[0]:,} of them answered or fitted"
    yield _none_of("tables: tracebacks", size, [case[:2] for case in cases if not case[1].is_clean])
    yield _none_of("tables: answers of NaN", size, [case[:2] for case in cases if case[2]])
    yield from _limits("tables", [case[:2] for case in cases], size)


CELLS = (
    "9" * 400, "-" + "9" * 400, "1e400", "-1e-400", "18446744073709551616", "9" * 5_000, "nan", "inf", "NULL", "true",
    "0x1F", "1_000", "1,5", '"', '""', "'", "=1+1", "@x", "\0", "\ufeff", "\u202e", "😀" * 50, "x" * 99_000,
    "x" * 200_000, "2020-02-30", "9999-12-31", "0000-00-00", "1677-01-01", "2262-12-31T00:00:00Z", " ", "\t", "\r",
    "\n", "a\nb", "<b>",
)  # fmt: skip


def _frame(rng):
    return table(int(rng.integers(12, 60)), int(rng.integers(1_000)))


def _csv(frame, **options):
    return frame.to_csv(index=False, **options).encode()


def odd_cells(rng):
    frame = _frame(rng).astype(object)
    for _ in range(int(rng.integers(1, 6))):
        frame.iat[int(rng.integers(len(frame))), int(rng.integers(7))] = CELLS[int(rng.integers(len(CELLS)))]
    return "t.csv", _csv(frame)


def odd_column(rng):
    frame = _frame(rng)
    frame[frame.columns[int(rng.integers(7))]] = CELLS[int(rng.integers(len(CELLS)))]
    return "t.csv", _csv(frame)


def odd_cells_unquoted(rng):
    lines = _csv(_frame(rng)).decode().splitlines()
    for _ in range(int(rng.integers(1, 6))):
        row = lines[spot := int(rng.integers(1, len(lines)))].split(",")
        row[int(rng.integers(len(row)))] = CELLS[int(rng.integers(len(CELLS)))]
        lines[spot] = ",".join(row)
    return "t.csv", "\n".join(lines).encode()


def changed_bytes(rng):
    edit = (flip_bits, overwrite, cut_out, cut_short, insert, repeat)[int(rng.integers(6))]
    return "t.csv", edit(_csv(_frame(rng)), rng)


def odd_rows(rng):
    lines = _csv(_frame(rng)).splitlines()
    for _ in range(int(rng.integers(1, 6))):
        spot = int(rng.integers(len(lines)))
        line = lines[spot]
        lines[spot : spot + 1] = [
            [line + b","], [line.rpartition(b",")[0]], [b""], [], [line, line], [b"," * 7], [line + b",1,2,3"],
            [b'"' + line],
        ][int(rng.integers(8))]  # fmt: skip
    ends = (b"\n", b"\r\n", b"\r", b"\n\n")[int(rng.integers(4))]
    return "t.csv", ends.join(lines)


def odd_header(rng):
    frame = _frame(rng)
    names = list(frame.columns)
    choice = int(rng.integers(6))
    if choice == 0:
        names[int(rng.integers(7))] = names[int(rng.integers(7))]
    elif choice == 1:
        names[int(rng.integers(7))] = CELLS[int(rng.integers(len(CELLS)))]
    elif choice == 2:
        frame = frame[[names[spot] for spot in rng.permutation(7)]]
        names = list(frame.columns)
    elif choice == 3:
        names = [f" {name} " for name in names]
    elif choice == 4:
        frame = frame.drop(columns=names.pop(int(rng.integers(7))))
    else:
        names[0] = ""
    frame.columns = names
    return "t.csv", _csv(frame, header=rng.random() < 0.9)


def wide(rng):
    frame, columns = _frame(rng), int(rng.choice([300, 20_000, 100_000]))
    lines = _csv(frame).splitlines()
    more = ",".join(f"w{number}" for number in range(columns)).encode()
    return "t.csv", b"\n".join([lines[0] + b"," + more, *(line + b",0" * columns for line in lines[1:3])])


def giant(rng):
    lines = _csv(_frame(rng)).splitlines()
    field = bytes([int(rng.integers(97, 123))]) * int(rng.choice([150_000, 5_000_000, 50_000_000]))
    spot = int(rng.integers(len(lines)))
    lines[spot] = [field, b'"' + field, lines[spot] + field, b"," * 100_000, b'"x,\n' * 10_000][int(rng.integers(5))]
    return "t.csv", b"\n".join(lines)


def encodings(rng):
    text = _csv(_frame(rng)).decode()
    code = ("utf-16", "utf-16-le", "utf-32", "latin-1", "utf-8-sig", "utf-7", "cp037")[int(rng.integers(7))]
    return "t.csv", text.encode(code)


def separators(rng):
    separator, name = [(";", "t.csv"), ("\t", "t.csv"), (",", "t.tsv"), ("\t", "t.tsv"), ("|", "t.csv")][
        int(rng.integers(5))
    ]
    return name, _csv(_frame(rng), sep=separator)


def gzipped(rng):
    content = gzip.compress(_csv(_frame(rng)))
    edit = (flip_bits, overwrite, cut_short, insert, lambda content, rng: content * 2)[int(rng.integers(5))]
    return "t.csv.gz", edit(content, rng)


def bomb(rng):
    buffer = io.BytesIO()
    with gzip.open(buffer, "wb", compresslevel=9) as file:
        file.write(_csv(_frame(rng)))
        block = (b"0,0,0,a,2020-01-01,x,yes\n", b"0", b"\n", b",")[int(rng.integers(4))]
        for _ in range(int(rng.choice([80, 400]))):
            file.write(block * (2**20 // len(block)))
    return "t.csv.gz", buffer.getvalue()


def parquet(rng):
    frame = _frame(rng)
    name = frame.columns[int(rng.integers(7))]
    n = len(frame)
    columns = [
        lambda: [[1, 2]] * n,
        lambda: [{"a": 1}] * n,
        lambda: [b"\xff\xfe"] * n,
        lambda: pd.Categorical(["a"] * n),
        lambda: pd.to_timedelta(np.arange(n), unit="s"),
        lambda: pd.date_range("2020", periods=n, tz="Europe/Berlin"),
        lambda: pd.array(np.arange(n), dtype="Int64"),
        lambda: pd.array(np.arange(n) % 2 == 0, dtype="boolean"),
        lambda: [None] * n,
        lambda: np.full(n, 2**64 - 1, dtype=np.uint64),
        lambda: [pd.Timestamp("2020-01-01").time()] * n,
        lambda: np.full(n, np.inf),
        lambda: ["x" * 150_000] * n,
        lambda: np.float16(np.arange(n)),
    ]
    if rng.random() < 0.7:
        frame[name] = columns[int(rng.integers(len(columns)))]()
    buffer = io.BytesIO()
    frame.to_parquet(buffer)
    content = buffer.getvalue()
    if rng.random() < 0.5:
        content = (flip_bits, overwrite, cut_out, cut_short)[int(rng.integers(4))](content, rng)
    return ("t.parquet", content) if rng.random() < 0.8 else ("t.parquet.gz", gzip.compress(content))


def parquet_bomb(rng):
    buffer = io.BytesIO()
    rows = int(rng.choice([1_000_000, 20_000_000]))
    pd.DataFrame({"x": np.zeros(rows, dtype=np.int8), "y": "yes"}).to_parquet(buffer)
    return "t.parquet", buffer.getvalue()


def odd_files(rng):
    contents = (b"", b"\n", b"\0" * 5_000, b"x", b'"', b"PK\x03\x04", b"y\nyes\nno\n", b"x,y\n" * 50, rng.bytes(5_000))
    return ("t.csv", "t.parquet", "t.tsv.gz")[int(rng.integers(3))], contents[int(rng.integers(len(contents)))]


FUZZES = (
    odd_cells, odd_column, odd_cells_unquoted, changed_bytes, odd_rows, odd_header, encodings, separators, gzipped,
    parquet, odd_files, odd_cells, odd_column, odd_cells_unquoted, changed_bytes, odd_rows, parquet, wide, giant, bomb,
    parquet_bomb,
)  # fmt: skip
