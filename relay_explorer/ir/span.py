"""Where an expression stands in its program's text."""

from __future__ import annotations


class Source:
    """The text of one program, under the name by which errors call it."""

    __slots__ = ("_starts", "name", "text")

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text
        self._starts: list[int] | None = None

    def line(self, number: int) -> str:
        """The text of line `number` (from 1), without its line end; empty when there is no such line."""
        if self._starts is None:
            starts = [0]
            find = self.text.find
            at = find("\n")
            while at >= 0:
                starts.append(at + 1)
                at = find("\n", at + 1)
            self._starts = starts
        if not 1 <= number <= len(self._starts):
            return ""
        start = self._starts[number - 1]
        end = self._starts[number] - 1 if number < len(self._starts) else len(self.text)
        return self.text[start:end].rstrip("\r")

    def __repr__(self) -> str:
        return f"Source({self.name!r}, {len(self.text)} characters)"


class Span:
    """A stretch of a source. Lines and columns count from 1; the end column is one past the end."""

    __slots__ = ("column", "end_column", "end_line", "line", "source")

    def __init__(self, source: Source, line: int, end_line: int, column: int, end_column: int) -> None:
        self.source = source
        self.line = line
        self.end_line = end_line
        self.column = column
        self.end_column = end_column

    @property
    def source_name(self) -> str:
        return self.source.name

    def __str__(self) -> str:
        return f"{self.source.name}:{self.line}:{self.column}"

    def __repr__(self) -> str:
        return f"Span({self})"
