"""The page of one model: what it is, and what was edited since it was fitted, before and after."""

from __future__ import annotations

from typing import Any

from .edited import edit_pages
from .html import STYLES, content_policy, environment, style_sheet
from .step_pictures import picture

_MOST_CELLS = 400  # rows of a table; a pair of features may have thousands
_PRICE_NAMES = {
    "fp": "false alarm",
    "fn": "miss",
    "reject_negative": "manual review of a negative case",
    "reject_positive": "manual review of a positive case",
}


def render_model(facts: dict[str, Any], classifier: Any) -> str:
    """Return the page of a fitted model.

    Parameters
    ----------
    facts : dict
        What `recuse.predicting.inspect_model` says of it.
    classifier : reject-option classifier
        The last step of the model; its edits are shown.

    Returns
    -------
    str
        HTML: one page without scripts, which asks for nothing from elsewhere.
    """
    edits = edit_pages(classifier) if hasattr(classifier, "edits_") else []
    for edit in edits:
        for function in edit["functions"]:
            function["picture"] = picture(function)
            function["rows"], function["unlisted"] = _listed(function["cells"])
    page: str = (
        environment()
        .get_template("model.html")
        .render(
            facts=facts,
            edits=edits,
            prices=_named_prices(facts),
            can_be_edited=hasattr(classifier, "edit"),
            policy=content_policy(),
            style=style_sheet(*STYLES, "model.css"),
        )
    )
    return page


def _listed(cells: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], int]:
    """The cells of a table, and how many are left out of it: of very many, the changed ones come first."""
    if len(cells) <= _MOST_CELLS:
        return cells, 0
    changed = [cell for cell in cells if cell["changed"]]
    listed = changed[:_MOST_CELLS]
    return listed, len(cells) - len(listed)


def _named_prices(facts: dict[str, Any]) -> dict[str, float]:
    """The prices by what they are the price of."""
    if facts["positive"] is not None:
        return {_PRICE_NAMES[name]: price for name, price in facts["prices"].items()}
    return {
        f"review of a case of {truth}" if answer == "reject" else f"{answer} answered to a case of {truth}": price
        for truth, row in facts["prices"].items()
        for answer, price in row.items()
        if answer != truth
    }
