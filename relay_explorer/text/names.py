"""Make names unique, and spell them so that they can be parsed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from .literals import SPECIAL, quote

LOCAL = re.compile(r"[^\W\d]\w*(?:(?:\.\d+)*[./][^\W\d]\w*)*")
GLOBAL = re.compile(r"[^\W\d]\w*(?:(?:\.\d+)*\.[^\W\d]\w*)*")
PLAIN = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
KEYWORDS = frozenset(
    (
        "def",
        "type",
        "extern",
        "let",
        "fn",
        "if",
        "else",
        "match",
        "ref",
        "ref_read",
        "ref_write",
        "meta",
        "free_var",
        "True",
        "False",
        "None",
    )
)
TYPE_WORDS = frozenset(("Tensor", "fn", "ref", "Ref", "_", "meta"))
DTYPE = re.compile(r"(?:float|bfloat|int|uint|bool|handle|void)\d*(?:x\d+)?|custom\w*|e\dm\d\w*")


class Names:
    """Unique names for one text: the first `x` is `x`, the next `x1`, `x2` …"""

    def __init__(self, reserved: Iterable[str] = ()) -> None:
        self._count: dict[str, int] = dict.fromkeys(reserved, 0)

    def unique(self, hint: str) -> str:
        count = self._count
        if hint not in count:
            count[hint] = 0
            return hint
        while True:
            count[hint] += 1
            name = f"{hint}{count[hint]}"
            if name not in count:
                count[name] = 0
                return name


def local_hint(hint: str) -> str:
    """Return a variable's name, with characters that a name cannot contain replaced by `_`."""
    if LOCAL.fullmatch(hint):
        return hint
    plain = re.sub(r"\W", "_", hint)
    return plain if plain and not plain[0].isdigit() and PLAIN.fullmatch(plain) else f"v{plain}"


def global_name(name: str) -> str:
    """Write `@main`; between backquotes if the name is not an identifier, because functions are looked up by
    name.
    """
    return f"@{name}" if GLOBAL.fullmatch(name) else f"@{quote(name, '`')}"


@lru_cache(1000)
def plain_name(name: str) -> str:
    """Write the name of an operator, a type or a constructor; between backquotes if it is not an identifier,
    or has another meaning.
    """
    if (
        PLAIN.fullmatch(name)
        and name not in KEYWORDS
        and name not in TYPE_WORDS
        and name not in SPECIAL
        and not DTYPE.fullmatch(name)
    ):
        return name
    return quote(name, "`")


def type_var_hint(hint: str) -> str:
    """Return a type variable's name, changed where it would not be parsed as one."""
    plain = re.sub(r"\W", "_", hint)
    if (
        not plain
        or plain[0].isdigit()
        or not PLAIN.fullmatch(plain)
        or plain in KEYWORDS
        or plain in TYPE_WORDS
        or DTYPE.fullmatch(plain)
    ):
        return f"t{plain}"
    return plain
