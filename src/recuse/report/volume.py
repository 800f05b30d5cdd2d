"""A summary retold for another number of cases."""

from __future__ import annotations

from typing import Any

from ..staffing import Volume


def with_volume(summary: dict[str, Any], volume: Volume) -> dict[str, Any]:
    """A summary as if the run had been told this volume."""
    verdict, chosen = summary["verdict"], summary["winner"]
    row = next(row for row in summary["leaderboard"] if row["method"] == chosen)
    text = volume.sentences(verdict["cost"], verdict["reviewing_saved"], 1 - row["coverage"])
    # What an hour is worth was told for the volume of the run.
    others = {key: sentence for key, sentence in verdict["conclusions"].items() if key != "hours"}
    told = verdict | {"conclusions": others | {"volume": text}}
    return summary | {"volume": volume.as_dict(), "verdict": told}
