"""Results on disk: written whole after every part, and taken up again by a later run with the same settings."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..persistence import write_whole


def settings(part: Any) -> dict[str, Any]:
    """All that the outcomes of a part depend on, as it comes back from a file."""
    facts: dict[str, Any] = json.loads(json.dumps(asdict(part)))
    return facts


def write_results(out: Path, stem: str, data: dict[str, Any], page: Iterable[str], indent: int | None = 1) -> None:
    """Write the figures and the page that shows them, each file whole or not at all."""
    out.mkdir(parents=True, exist_ok=True)
    write_whole(out / f"{stem}.json", (json.dumps(data, indent=indent) + "\n").encode())
    write_whole(out / f"{stem}.md", "\n".join(page).encode())


def read_results(file: Path) -> dict[str, Any]:
    """The figures of an earlier run; nothing where there is none."""
    if not file.exists():
        return {}
    try:
        data: dict[str, Any] = json.loads(file.read_text())
    except ValueError as error:
        raise ValueError(f"{file} cannot be read ({error}): remove it, or give another folder.") from error
    return data


def read_outcomes(file: Path, planned: dict[str, Any]) -> list[dict[str, Any]]:
    """The outcomes of an earlier run, of those parts (by label) that were run as they are planned now."""
    data = read_results(file)
    known = data.get("settings", {})
    same = {label for label, part in planned.items() if known.get(label) == settings(part)}
    return [outcome for outcome in data.get("outcomes", []) if outcome["part"] in same]
