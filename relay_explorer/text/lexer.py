"""Split a text into tokens, one at a time, and report errors at locations in the text."""

from __future__ import annotations

import difflib
import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence

from ..ir.errors import Note, ParseError
from ..ir.span import Source, Span

# A local name may contain dots, as names of PyTorch's parameters do; `%x.0` is still field 0 of `%x`, because
# only digits follow. It may also contain slashes, as names of TensorFlow's layers do: whether `%x/f` is one
# name is decided at its use (see `local_use`).
_TOKEN = re.compile(
    r"""(?: [ \t\r\n\f\v]++ | //[^\n]*+ )*+
    (?: (?P<local> %[^\W\d]\w*+ (?: (?:\.\d++)*+ [./][^\W\d]\w*+ )*+ )
      | (?P<graph> %\d++ )
      | (?P<comment> /\* )
      | (?P<punctuation> => | -> | == | != | <= | >= | [()\[\]{},;:=+\-*/<>?] )
      | (?P<name> [^\W\d]\w*+ (?: \.[^\W\d]\w*+ )*+ )
      | (?P<number> \d++ (?:\.\d++)?+ (?:[eE][+-]?\d++)?+ \w*+ )
      | (?P<field> \.\d++ )
      | (?P<global> @ (?: [^\W\d]\w*+ (?: (?:\.\d++)*+ \.[^\W\d]\w*+ )*+
                        | ` (?: [^`\\\n]++ | \\[^\n] )*+ ` ) )
      | (?P<string> " (?: [^"\\\n]++ | \\[^\n] )*+ " )
      | (?P<quoted> ` (?: [^`\\\n]++ | \\[^\n] )*+ ` )
      | (?P<section> \#\[ )
      | (?P<end> \Z )
    )""",
    re.VERBOSE,
)
_COMMENT_EDGE = re.compile(r"/\*|\*/")
_MAX_CANDIDATES = 2000  # the number of names compared with an undefined one
METADATA = "#[metadata]"


class Lexer:
    """A text and its current token: `kind` (punctuation is its own kind), `text`, and the offsets `start` and
    `end`; `last` is the end of the previous token.
    """

    def __init__(self, text: str, source_name: str) -> None:
        self.source = Source(source_name, text)
        self.content = text
        self._match = _TOKEN.match
        self._lines: list[int] | None = None
        self.kind = ""
        self.text = ""
        self.start = self.end = self.last = 0
        self.advance()

    def advance(self) -> None:
        """Move to the next token."""
        self.last = self.end
        match = self._match(self.content, self.end)
        while match is not None and match.lastgroup == "comment":
            match = self._match(self.content, self._comment_end(match.start("comment")))
        if match is None:
            raise self._strange_character()
        kind = match.lastgroup
        assert kind is not None
        self.text = match[kind]
        self.start, self.end = match.span(kind)
        if kind == "punctuation":
            kind = self.text
        elif kind == "section":
            kind = self._section()
        self.kind = kind

    def _comment_end(self, start: int) -> int:
        """Return the end of the comment that starts at `start`; comments nest."""
        depth = 0
        for edge in _COMMENT_EDGE.finditer(self.content, start):
            depth += 1 if edge[0] == "/*" else -1
            if depth == 0:
                return edge.end()
        raise self.error(
            "this comment is not closed",
            start,
            start + 2,
            help=["end it with `*/`; comments nest, so each `/*` needs its own"],
        )

    def _section(self) -> str:
        """Return the kind of a `#[…]` section: `#[metadata]` ends the program; `#[version …]` is left to the
        parser.
        """
        if self.content.startswith(METADATA, self.start):
            self.text = ""
            return "end"
        return "section"

    def _strange_character(self) -> ParseError:
        """Return the error for an offset at which no token begins."""
        skipped = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*", re.DOTALL).match(self.content, self.end)
        at = skipped.end() if skipped else self.end
        char = self.content[at : at + 1]
        if char in ('"', "`"):
            line_end = self.content.find("\n", at)
            return self.error(
                f"expected a closing {_show(char)} before the end of the line",
                at,
                line_end if line_end >= 0 else len(self.content),
            )
        if char in ("%", "@"):
            what = "local variable (`%x`, `%0`)" if char == "%" else "global name (`@main`)"
            return self.error(f"expected the name of a {what} after `{char}`", at, at + 1)
        name = _show(char) if char.isprintable() else f"the character U+{ord(char):04X}"
        hint = [] if char.isprintable() else ["a Relay program is plain text; is this a binary file?"]
        return self.error(f"{name} means nothing in a Relay program", at, at + 1, help=hint)

    def span(self, start: int, end: int) -> Span:
        """Return the span between two offsets."""
        if self._lines is None:
            self._lines = [0, *(m.end() for m in re.finditer("\n", self.content))]
        lines = self._lines
        line = bisect_right(lines, start)
        end_line = line if line == len(lines) or end <= lines[line] else bisect_right(lines, end - 1)
        return Span(self.source, line, end_line, start - lines[line - 1] + 1, end - lines[end_line - 1] + 1)

    def here(self) -> Span:
        """Return the span of the current token."""
        return self.span(self.start, self.end)

    def error(
        self,
        message: str,
        start: int = -1,
        end: int = -1,
        notes: Sequence[Note] = (),
        help: Sequence[str] = (),
    ) -> ParseError:
        """Return an error at the current token, or between two offsets."""
        if start < 0:
            start, end = self.start, self.end
        return ParseError(message, self.span(start, end), notes, help)

    def found(self) -> str:
        """Describe the current token for an error message."""
        if self.kind == "end":
            return "the end of the text"
        return _show(self.text)

    def expect(self, kind: str, where: str, opened: int = -1) -> None:
        """Consume a token of that kind; otherwise raise an error that says what was expected `where`, and
        which bracket is open.
        """
        if self.kind == kind:
            self.advance()
            return
        notes = []
        if opened >= 0:
            notes = [
                Note(
                    f"the {_show(self.content[opened])} that is still open is here",
                    self.span(opened, opened + 1),
                )
            ]
        raise self.error(f"expected `{kind}` {where}, found {self.found()}", notes=notes)


def _show(text: str) -> str:
    cut = "".join(
        [c if c.isprintable() else "\ufffd" for c in (text if len(text) <= 40 else text[:39] + "…")]
    )
    return f"'{cut}'" if "`" in cut else f"`{cut}`"


def near(name: str, candidates: Iterable[str], sigil: str = "") -> list[str]:
    """Return suggestions for an undefined name: the most similar names, or the first few."""
    names = list(candidates)[-_MAX_CANDIDATES:]
    close = difflib.get_close_matches(name[:100], names, n=3, cutoff=0.6)
    if close:
        return [f"did you mean {' or '.join(f'`{sigil}{n}`' for n in close)}?"]
    if not names:
        return []
    return [f"there is {', '.join(f'`{sigil}{n}`' for n in names[:8])}{' …' if len(names) > 8 else ''}"]
