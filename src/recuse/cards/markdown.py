"""A card as Markdown. Names and texts of others cannot become markup: not HTML, not a column of a table, not a link."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from .figures import Cell, FactTable, Section

_MARKUP = re.compile(r"([\\`*_\[\]#|~])")
_NOT_SHOWN = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]+")
_NAMED = 4  # more figures of one place are named by the place alone
_LONG = 120  # sources longer than that stand at the end


def escaped(text: str) -> str:
    """A text that shows as it is, on one line."""
    plain = _NOT_SHOWN.sub(" ", text)
    plain = _MARKUP.sub(r"\\\1", plain)
    return plain.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("://", ":&#47;&#47;")


def render(title: Cell, beginning: Iterable[Cell], sections: Iterable[Section]) -> str:
    """The whole card."""
    return _Page().render(title, beginning, sections)


class _Page:
    """The lines of a card, and the long sources that are listed at its end."""

    def __init__(self) -> None:
        self._long: dict[str, int] = {}

    def render(self, title: Cell, beginning: Iterable[Cell], sections: Iterable[Section]) -> str:
        lines = [f"# {title.filled(escaped)}", ""]
        for paragraph in beginning:
            lines += [paragraph.filled(escaped), ""]
        for section in sections:
            lines += [f"## {section.title}", "", *self._body(section)]
        if self._long:
            lines += ["## Long sources", "", *(f"{number}. {places}" for places, number in self._long.items())]
        return "\n".join(lines).rstrip() + "\n"

    def _body(self, section: Section) -> Iterator[str]:
        for statement in section.statements:
            if statement.stated:
                answer = statement.answer
                yield f"**{statement.question}** {escaped(answer.text)} ({self._named([Cell((answer,))])})"
            else:
                yield f"**To be stated by the owner:** {statement.question}"
            yield ""
        for table in section.tables:
            yield from self._table(table)
            yield ""
        for note in section.notes:
            places = self._named([note])
            yield f"- {note.filled(escaped)}" + (f" ({places})" if places else "")
        if section.notes:
            yield ""

    def _table(self, table: FactTable) -> Iterator[str]:
        traced = any(cell.figures for row in table.rows for cell in row)
        columns = [*table.columns, "source"] if traced else list(table.columns)
        yield f"| {' | '.join(columns)} |"
        yield f"| {' | '.join(['---'] * len(columns))} |"
        for row in table.rows:
            cells = [cell.filled(escaped) for cell in row]
            yield f"| {' | '.join([*cells, self._named(row)] if traced else cells)} |"

    def _named(self, cells: Iterable[Cell]) -> str:
        """Where figures are from; a long answer is a number in the list at the end."""
        places = _places(cells)
        if len(places) <= _LONG:
            return places
        return f"long source {self._long.setdefault(places, len(self._long) + 1)}"


def _places(cells: Iterable[Cell]) -> str:
    """Where figures are from; what stands in one place is named together."""
    sources = dict.fromkeys(figure.source for cell in cells for figure in cell.figures)
    together: dict[str, list[str]] = {}
    for source in sources:
        # A share names the two counts that it is made of.
        if not any(source in _parts(other) for other in sources if other != source):
            parent = source.rpartition("/")[0] if "#/" in source else source
            together.setdefault(parent, []).append(source)
    return "; ".join(_place(_joined(parent, group)) for parent, group in together.items())


def _parts(source: str) -> list[str]:
    """The sources of the two counts of a share."""
    name, _, quotient = source.partition("#")
    return [f"{name}#{part}" for part in quotient.split(" / ")] if quotient.startswith("tasks") else []


def _joined(parent: str, group: list[str]) -> str:
    if len(group) > _NAMED:
        return parent
    return ", ".join([group[0], *(source[len(parent) + 1 :] for source in group[1:])])


def _place(source: str) -> str:
    """A source as code, unless it holds what would end that."""
    plain = _NOT_SHOWN.sub(" ", source)
    return escaped(plain) if re.search(r"[`|&]|<[a-zA-Z/!?]", plain) else f"`{plain}`"
