"""Source locations of expressions."""

from __future__ import annotations


class Source:
    """The text of one program, with the name by which errors refer to it."""

    __slots__ = ("_starts", "_text", "name")

    def __init__(self, name: str, text: str = "") -> None:
        self.name = str(name)
        self._text = text
        self._starts: list[int] | None = None

    @property
    def text(self) -> str:
        """The whole text; empty where only the name is known."""
        return self._text

    def line(self, number: int) -> str:
        """Return the text of line `number` (from 1), without its line end; an empty string where there is no
        such line.
        """
        text = self.text
        if self._starts is None:
            starts = [0]
            find = text.find
            at = find("\n")
            while at >= 0:
                starts.append(at + 1)
                at = find("\n", at + 1)
            self._starts = starts
        if not 1 <= number <= len(self._starts):
            return ""
        start = self._starts[number - 1]
        end = self._starts[number] - 1 if number < len(self._starts) else len(text)
        return text[start:end].rstrip("\r")

    def name_at(self, line: int) -> str:
        """Return the name by which a location is known: the source's; of an imported model, the node's."""
        return self.name

    def __repr__(self) -> str:
        return f"Source({self.name!r}, {len(self.text)} characters)"


class SourceName(str):
    """The name of a source: a file, or, for an imported model, the node that an expression came from."""

    __slots__ = ()

    @property
    def name(self) -> str:
        return str(self)


class Span:
    """A range of a source. Lines and columns count from 1; the end column is one past the end.

    The source may be given by its name alone.
    """

    __slots__ = ("column", "end_column", "end_line", "line", "source")

    def __init__(
        self, source: Source | str | None, line: int, end_line: int, column: int, end_column: int
    ) -> None:
        self.source = Source(source) if isinstance(source, str) else source or Source("", "")
        self.line = line
        self.end_line = end_line
        self.column = column
        self.end_column = end_column

    @property
    def source_name(self) -> SourceName | None:
        """The name of the location (`Source.name_at`); None where the source has none."""
        name = self.source.name_at(self.line)
        return SourceName(name) if name else None

    def __str__(self) -> str:
        return f"{self.source.name}:{self.line}:{self.column}"

    def __repr__(self) -> str:
        return f"Span({self})"
