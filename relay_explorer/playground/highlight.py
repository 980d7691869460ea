"""The classes of a program's tokens, by the package's own lexer, for the editor's colors."""

from __future__ import annotations

from ..ir.errors import RelayError
from ..ir.op import Op
from ..text import rows as printed
from ..text.lexer import Lexer

MAX_TOKENS = 20_000  # later tokens stay plain

_KEYWORDS = frozenset({"def", "let", "fn", "if", "else", "match", "type", "extern", "free_var", "ref"})
_CLASSES = {
    "local": printed.LOCAL,
    "graph": printed.LOCAL,
    "global": printed.GLOBAL,
    "number": printed.LITERAL,
    "string": printed.LITERAL,
}


def tokens(text: str) -> list[int]:
    """Return `[start, length, class, …]` for the tokens that have a color, up to the first that the lexer
    rejects. Offsets count UTF-16 units, as JavaScript does.
    """
    result: list[int] = []
    units = _Units(text)
    try:
        lexer = Lexer(text, "program")
        while len(result) < 3 * MAX_TOKENS:
            result += _comment(text, lexer.last, lexer.start, units)
            kind, word, start, end = lexer.kind, lexer.text, lexer.start, lexer.end
            if kind == "end":
                break
            lexer.advance()
            cls = _CLASSES.get(kind) or (_named(word, lexer.kind) if kind in ("name", "quoted") else 0)
            if cls:
                result += [units.at(start), units.at(end) - units.at(start), cls]
    except RelayError:
        pass
    return result


def _comment(text: str, start: int, end: int, units: _Units) -> list[int]:
    """Return the entry of a comment between two tokens, or nothing."""
    between = text[start:end]
    comment = between.strip()
    if not comment.startswith(("//", "/*")):
        return []
    begin = start + between.index(comment)
    return [units.at(begin), units.at(begin + len(comment)) - units.at(begin), printed.COMMENT]


def _named(word: str, following: str) -> int:
    """Return the class of a name, by the word and the kind of the token after it."""
    if word in _KEYWORDS:
        return printed.KEYWORD
    if word in ("True", "False"):
        return printed.LITERAL
    if following == "=":
        return printed.ATTRIBUTE
    if Op.find(word) is not None:
        return printed.OPERATOR
    if word[:1].isupper() and word != "Tensor":
        return printed.CONSTRUCTOR
    return printed.TYPE_NAME


class _Units:
    """Converts ascending offsets in characters to offsets in UTF-16 units."""

    def __init__(self, text: str) -> None:
        self._text = None if text.isascii() else text
        self._last = self._extra = 0

    def at(self, offset: int) -> int:
        if self._text is None:
            return offset
        if offset < self._last:
            self._last = self._extra = 0
        self._extra += sum(c > "\uffff" for c in self._text[self._last : offset])
        self._last = offset
        return offset + self._extra
