"""Where a figure of a card is said to be from: read again, by other means than those of the card."""

import csv
import hashlib
import json
import operator
import re
import shlex
import tomllib

from typer.testing import CliRunner

from recuse.cli import app


class Places:
    """Files by their names, and what commands print of them."""

    def __init__(self, *files):
        self._files = {file.name: file for file in files}
        self._printed, self._read = {}, {}

    def value(self, source):
        """What is at a source."""
        name, _, place = source.partition("#")
        if place.startswith("tasks"):
            whole = [self._count(name, part) for part in re.split(r" / (?=tasks)", place)]
            return whole[0] if len(whole) == 1 else operator.truediv(*whole)
        if place == "sha256":
            return hashlib.sha256(self._files[name].read_bytes()).hexdigest()
        if place == "head":
            return json.loads(self._files[name].read_bytes().splitlines()[-1])["hash"]
        return resolved(self._content(name), place)

    def _content(self, name):
        if name not in self._read:
            self._read[name] = self._read_anew(name)
        return self._read[name]

    def _read_anew(self, name):
        if name.startswith("recuse "):
            return self._print(name)
        content = self._files[name].read_text(encoding="utf-8")
        if name.endswith(".csv"):
            return list(csv.DictReader(content.splitlines()))
        if name.endswith(".toml"):
            return tomllib.loads(content)
        return [json.loads(line) for line in content.splitlines()] if name.endswith(".jsonl") else json.loads(content)

    def _print(self, command):
        if command not in self._printed:
            _, *words = shlex.split(command)
            words = [str(self._files.get(word, word)) for word in words]
            result = CliRunner().invoke(app, words if "--json" in words else [*words, "--json"])
            assert result.exit_code in (0, 3), result.output
            self._printed[command] = json.loads(result.stdout.splitlines()[-1])
        return self._printed[command]

    def _count(self, name, place):
        """How many tasks fulfil the conditions, counted from the lines of the log."""
        found = re.findall(r"\[(\w+)(!?=)(.*?)\](?=\[|$)", place)
        assert place == "tasks" + "".join(f"[{key}{sign}{value}]" for key, sign, value in found)
        rows = list(self._tasks(name))
        reviewers = list(dict.fromkeys(row["reviewer"] for row in self._of_model(rows, found) if row["reviewer"]))
        for key, sign, value in found:
            wanted = reviewers[int(value[1:]) - 1] if key == "reviewer" and value.startswith("#") else value
            rows = [row for row in rows if (row[key] == wanted) == (sign == "=")]
        return len(rows)

    @staticmethod
    def _of_model(rows, conditions):
        models = [value for key, sign, value in conditions if key == "model" and sign == "="]
        return [row for row in rows if [row["model"]] == models]

    def _tasks(self, name):
        records = self._content(name)
        draws = {record["draw"]: record for record in records if record["kind"] == "draw"}
        verdicts = {record["task"]: record for record in records if record["kind"] == "verdict"}
        for task in (record for record in records if record["kind"] == "task"):
            draw, verdict = draws[task["draw"]], verdicts.get(task["task"])
            agrees = verdict and verdict["verdict"] == task["answer"]["forced"]
            yield {
                "model": draw["model"]["digest"][:12],
                "stratum": task["stratum"],
                "kind": task["answer"]["kind"],
                "blind": "yes" if draw["blind"] else "no",
                "reviewer": verdict["reviewer"] if verdict else None,
                "verdict": "open" if not verdict else "agrees" if agrees else "differs",
            }


def resolved(content, pointer):
    """The value at a JSON pointer."""
    for step in pointer.split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        content = content[int(step)] if isinstance(content, list) else content[step]
    return content


def figures_of(part):
    """All figures of a card, wherever they stand."""
    if isinstance(part, dict):
        if "source" in part:
            yield part
        part = part.values()
    if not isinstance(part, str) and hasattr(part, "__iter__"):
        for each in part:
            yield from figures_of(each)
