"""Packets for Label Studio: tasks as its import reads them, a page for its labelling, and its exports read back.

A task's data are ``task``, ``shown`` and, unless the packet is blind, ``model``; the export of Label Studio gives them
back beside the annotations. Both its exports are read: JSON, and JSON_MIN, which has one flat entry per annotation.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from .classes import as_text
from .tasks import GivenTask, ReturnedTask

SUFFIX = ".json"
VERDICT, NOTE = "verdict", "note"


def packet(tasks: Sequence[GivenTask]) -> bytes:
    """Tasks for Label Studio's import."""
    entries = []
    for task in tasks:
        model = {} if task.answer is None else {"model": dict(task.answer)}
        entries.append({"data": {"task": task.task, "shown": dict(task.shown), **model}})
    return json.dumps(entries, ensure_ascii=False, indent=1).encode()


def labelling_page(classes: Sequence[Any], blind: bool) -> bytes:
    """The labelling configuration that fits the tasks: the case as a table, one choice per class, room for a note."""
    model = "" if blind else '  <Header value="What the model says"/>\n  <Table name="model" value="$model"/>\n'
    choices = "".join(f"    <Choice value={quoteattr(str(label))}/>\n" for label in classes)
    return (
        '<View>\n  <Table name="case" value="$shown"/>\n'
        f'{model}  <Choices name="{VERDICT}" toName="case" choice="single" required="true">\n{choices}  </Choices>\n'
        f'  <TextArea name="{NOTE}" toName="case" placeholder="note"/>\n</View>\n'
    ).encode()


def returned(path: Path, shown: dict[str, Sequence[str]]) -> list[ReturnedTask]:
    """The annotations in an export; tasks that nobody has annotated count as open."""
    del shown  # the data of a task say themselves what they are
    try:
        entries = json.loads(path.read_bytes())
    except ValueError as error:
        raise ValueError(f"{path} is not JSON ({error}): give the export of Label Studio as it was written.") from None
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise ValueError(f"{path} is no export of Label Studio: it must be a list of tasks (its JSON or JSON-MIN).")
    return [task for number, entry in enumerate(entries, 1) for task in _annotations(entry, f"{path} task {number}")]


def _annotations(entry: Mapping[str, Any], where: str) -> Iterator[ReturnedTask]:
    minimal = "data" not in entry
    data = entry if minimal else entry["data"]
    if not isinstance(data, dict) or not isinstance(data.get("task"), str):
        raise ValueError(f"{where} has no task identity in its data: it was not given out by `recuse review out`.")
    task, seen = data["task"], {name: as_text(value) for name, value in dict(data.get("shown") or {}).items()}
    if minimal:
        person, time = as_text(entry.get("annotator")), as_text(entry.get("updated_at") or entry.get("created_at"))
        yield ReturnedTask(where, task, as_text(entry.get(VERDICT)), seen, person, time, _note(entry.get(NOTE)))
        return
    annotations = [part for part in entry.get("annotations") or [] if not part.get("was_cancelled")]
    if not annotations:
        yield ReturnedTask(where, task, "", seen)
    for part in annotations:
        verdict, note = _results(part.get("result") or [])
        time = as_text(part.get("updated_at") or part.get("created_at"))
        yield ReturnedTask(where, task, verdict, seen, _person(part.get("completed_by")), time, note)


def _results(results: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    values = {result.get("from_name"): result.get("value") or {} for result in results}
    choices = values.get(VERDICT, {}).get("choices") or []
    # Two choices for one case are shown as they came, and are no class.
    return " and ".join(map(as_text, choices)), _note(values.get(NOTE, {}).get("text"))


def _note(value: Any) -> str:
    return " ".join(map(as_text, value)) if isinstance(value, list) else as_text(value)


def _person(value: Any) -> str:
    """Who annotated: an address where the export has it, else the number of the account."""
    return as_text(value.get("email") or value.get("id")) if isinstance(value, dict) else as_text(value)
