"""Parse dimensions: a number, `?`, a name, or arithmetic with these, as in `(2 * n + 1, floordiv(m, 2))`.

This is an operator-precedence parser with explicit stacks, so nesting needs no recursion.
"""

from __future__ import annotations

from ..ir.show import counted
from ..ir.size import Value, is_whole, whole
from ..ir.size_parts import FUNCTIONS, applied
from ..ir.types import Any, Dim, Size, SizeVar
from .lexer import Lexer, near

_BINDS = {"+": 1, "-": 1, "*": 2, "neg": 3}


class _Reader:
    """The parser of one dimension: a stack of operands, and a stack of pending operators with their
    offsets.
    """

    def __init__(self, lexer: Lexer, names: dict[str, SizeVar]) -> None:
        self.lexer = lexer
        self.names = names
        self.values: list[Value] = []
        self.pending: list[tuple[str, int]] = []  # operators, "(", and names of functions, with an offset
        self.counts: list[int] = []  # the number of arguments read of each open function

    def run(self, first: int | None = None) -> Value:
        """Parse the dimension; `first` is a number that has already been read."""
        while True:
            if first is None:
                self._operand()
            else:
                self.values.append(first)
                first = None
            while self.lexer.kind == ")" and self._close():
                pass
            if self.lexer.kind == "," and self._next_argument():
                continue
            if self.lexer.kind not in _BINDS:
                break
            self._operator(self.lexer.kind)
            self.lexer.advance()
        self._reduce(0)
        if self.pending:
            self.lexer.expect(")", "in this dimension", self.pending[-1][1])
        return self.values.pop()

    def _operand(self) -> None:
        """Parse a number, a name or `?`, with the signs and brackets before it."""
        lexer = self.lexer
        while True:
            kind, text, start = lexer.kind, lexer.text, lexer.start
            if kind == "-":
                self.pending.append(("neg", start))
            elif kind == "(":
                self.pending.append(("(", start))
            elif kind == "number":
                self.values.append(self._number(text))
                lexer.advance()
                return
            elif kind == "?":
                self.values.append(Any())
                lexer.advance()
                return
            elif kind == "name":
                lexer.advance()
                if lexer.kind != "(":
                    self.values.append(self.names.setdefault(text, SizeVar(text)))
                    return
                if text not in FUNCTIONS:
                    raise lexer.error(
                        f"there is no function of sizes called `{text[:40]}`",
                        start, lexer.last, help=near(text, FUNCTIONS),
                    )  # fmt: skip
                self.pending.append((text, lexer.start))
                self.counts.append(1)
            else:
                raise lexer.error(f"expected a dimension (a number, `?`, or a name), found {lexer.found()}")
            lexer.advance()

    def _number(self, text: str) -> int | float:
        if text.isdecimal() and len(text) <= 19:
            return int(text)
        if len(text) <= 40 and text.replace(".", "", 1).isdecimal() and self.pending:
            return float(text)  # the factor of a rounded size; a dimension itself is an integer
        raise self.lexer.error(f"a dimension is a whole number such as `3`, not {self.lexer.found()}")

    def _operator(self, operator: str) -> None:
        self._reduce(_BINDS[operator])
        self.pending.append((operator, self.lexer.start))

    def _reduce(self, binds: int) -> None:
        """Apply the pending operators that bind at least as tightly as `binds`."""
        while self.pending and _BINDS.get(self.pending[-1][0], -1) >= binds:
            operator, _ = self.pending.pop()
            right = self.values.pop()
            if operator == "neg":
                self.values.append(-right)
                continue
            left = self.values.pop()
            self.values.append(
                left + right if operator == "+" else left - right if operator == "-" else left * right
            )

    def _open(self) -> str | None:
        """Apply all pending operators, and return the innermost open bracket or function."""
        self._reduce(0)
        return self.pending[-1][0] if self.pending else None

    def _close(self) -> bool:
        """Consume a `)`, unless it closes the shape itself; return whether one was consumed."""
        name = self._open()
        if name is None:
            return False
        _, start = self.pending.pop()
        if name != "(":
            count, arity = self.counts.pop(), FUNCTIONS[name]
            if count != arity:
                raise self.lexer.error(
                    f"`{name}` expects {counted(arity, 'size')}, got {count}", start, self.lexer.end
                )
            args = [self.values.pop() for _ in range(count)][::-1]
            if name.startswith("floor") and count == 2 and args[1] == 0:
                raise self.lexer.error("a size is divided by 0", start, self.lexer.end)
            self.values.append(applied(name, args))
        self.lexer.advance()
        return True

    def _next_argument(self) -> bool:
        """Consume a `,` between a function's arguments; return whether one was consumed."""
        name = self._open()
        if name is None or name == "(":
            return False
        self.counts[-1] += 1
        self.lexer.advance()
        return True


def parse_size(lexer: Lexer, names: dict[str, SizeVar]) -> Dim:
    """Parse the dimension at the lexer's token. `names` are the sizes named so far; a name denotes the same
    dynamic dimension throughout the text.
    """
    start, first = lexer.start, None
    if lexer.kind == "number" and lexer.text.isdecimal() and len(lexer.text) <= 19:  # the usual case
        first = int(lexer.text)
        lexer.advance()
        if lexer.kind in (",", ")"):
            return first
    value = _Reader(lexer, names).run(first)
    if isinstance(value, Any):
        return value
    if not is_whole(value) or (not isinstance(value, Size) and value < 0):
        raise lexer.error(
            f"a dimension is a whole number such as `3`, not {value!r:.60}", start, lexer.last,
            help=[f"bring it to one, as in `round({value!r:.40})`"] if not is_whole(value) else [],
        )  # fmt: skip
    dim = whole("trunc", value)
    assert isinstance(dim, (int, Any, Size))
    return dim
