"""What reviewers do with packets: they fill in the true class, in a table or in Label Studio."""

import json

import pandas as pd

from recuse.tables import restored


def read_packet(path):
    """A CSV packet as text."""
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def fill_table(path, truth, out=None, **columns):
    """Write verdicts into a CSV packet, by the number of the customer."""
    packet = read_packet(path)
    verdicts = [truth[customer] for customer in restored(packet)["customer"]]
    packet.assign(verdict=verdicts, **columns).to_csv(out or path, index=False)


def exported(path, truth, *, minimal=False):
    """What Label Studio exports after every task was annotated."""
    tasks = json.loads(path.read_text(encoding="utf-8"))
    entries = [_annotated(number, task["data"], truth, minimal) for number, task in enumerate(tasks, 1)]
    export = path.with_name("export.json")
    export.write_text(json.dumps(entries), encoding="utf-8")
    return export


def _annotated(number, data, truth, minimal):
    verdict, time = truth[data["shown"]["customer"]], "2026-03-02T09:15:00.123456Z"
    if minimal:
        own = {"id": number, "annotator": 4, "annotation_id": number, "created_at": time, "updated_at": time}
        return data | own | {"verdict": verdict, "lead_time": 2.5}
    choice = {"from_name": "verdict", "to_name": "case", "type": "choices", "value": {"choices": [verdict]}}
    note = {"from_name": "note", "to_name": "case", "type": "textarea", "value": {"text": ["as", "usual"]}}
    annotation = {
        "id": 9000 + number,
        "completed_by": {"id": 4, "email": "anna@example.org"},
        "result": [choice, note],
        "was_cancelled": False,
        "created_at": time,
        "updated_at": time,
    }
    skipped = annotation | {"result": [], "was_cancelled": True}
    return {"id": number, "data": data, "annotations": [skipped, annotation], "predictions": [], "project": 1}
