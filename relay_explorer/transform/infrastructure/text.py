"""Pipelines as text: `SimplifyInference, FuseOps(max_depth=4)`.

The text is a Python expression that is parsed and never evaluated: names of registered passes, calls of them
with literals as options, and lists of them where an option takes passes.
"""

from __future__ import annotations

import ast
import inspect

from ...ir.errors import PassOptionError, RelayError
from ...ir.span import Source, Span
from . import registry
from .passes import Pass, instance, signature

MAX_LENGTH = 100_000  # characters of a pipeline's text
EXAMPLE = 'a pipeline is written like "SimplifyInference, FuseOps(max_depth=4)"'
_UNREADABLE = (ValueError, TypeError, SyntaxError, RecursionError, MemoryError)


def parse_passes(text: str) -> tuple[Pass, ...]:
    """Parse a list of passes from text; see `parse_pipeline`."""
    if len(text) > MAX_LENGTH:
        raise RelayError(f"the pipeline has {len(text):,} characters, but at most {MAX_LENGTH:,} are allowed")
    return _Reader(text).passes()


class _Reader:
    """Turns the syntax tree of a pipeline's text into passes."""

    def __init__(self, text: str) -> None:
        self.source = Source("<passes>", text)

    def passes(self) -> tuple[Pass, ...]:
        try:
            # The parenthesis lets the text break lines; it has a line of its own, so columns stay.
            tree = ast.parse(f"(\n{self.source.text}\n)", mode="eval").body
        except _UNREADABLE as error:
            raise self._misread(error) from None
        items = tree.elts if isinstance(tree, ast.Tuple) else [tree]
        if not items:
            raise RelayError("the pipeline names no pass", help=[EXAMPLE])
        return tuple(self.one(item) for item in items)

    def one(self, node: ast.expr) -> Pass:
        """Parse one pass."""
        call = node if isinstance(node, ast.Call) else None
        name = call.func if call else node
        if not isinstance(name, ast.Name):
            raise RelayError(f"`{_text(node)}` is not a pass", self._span(node), help=[EXAMPLE])
        entry = registry.find(name.id)
        if entry is None:
            names = registry.names()
            near = registry.nearest(name.id, names)
            hint = f"did you mean {' or '.join(near)}?" if near else f"passes are {', '.join(names)}"
            raise RelayError(f"there is no pass called `{name.id}`", self._span(name), help=[hint])
        return self._create(name, entry, call)

    def _create(self, name: ast.Name, entry: registry.Entry, call: ast.Call | None) -> Pass:
        """Create a pass with the options that the text gives it."""
        takes = signature(entry)
        args = [self.value(arg) for arg in call.args] if call else []
        words = call.keywords if call else []
        keywords = {self._option(name.id, takes, word): self.value(word.value) for word in words}
        try:
            takes.bind(*args, **keywords)
            return instance(entry, *args, **keywords)
        except PassOptionError as error:
            raise PassOptionError(
                error.message, error.span or self._span(call or name), help=error.help
            ) from None
        except TypeError as error:
            at, help = self._span(call or name), [_options_of(name.id, takes)]
            raise PassOptionError(f"{name.id}: {error}", at, help=help) from None

    def _option(self, name: str, takes: inspect.Signature, word: ast.keyword) -> str:
        """Return the name of an option that the pass has; reject any other."""
        if word.arg is None:
            raise RelayError("`**` is not allowed in a pipeline", self._span(word.value), help=[EXAMPLE])
        any_name = any(p.kind is p.VAR_KEYWORD for p in takes.parameters.values())
        if any_name or word.arg in takes.parameters:
            return word.arg
        near = registry.nearest(word.arg, takes.parameters)
        help = f"did you mean {' or '.join(near)}?" if near else _options_of(name, takes)
        raise PassOptionError(f"{name} has no option `{word.arg}`", self._span(word), help=[help])

    def value(self, node: ast.expr) -> object:
        """Parse an option: a literal, a pass, or a list of passes."""
        if isinstance(node, ast.List) and any(isinstance(item, (ast.Name, ast.Call)) for item in node.elts):
            return [self.one(item) for item in node.elts]
        try:
            return ast.literal_eval(node)
        except _UNREADABLE:
            raise RelayError(
                f"`{_text(node)}` is not a literal",
                self._span(node),
                help=["options are numbers, strings, True, False, None, lists, tuples and dictionaries"],
            ) from None

    def _span(self, node: ast.expr | ast.keyword) -> Span:
        """Return the span of a node in the text. Python counts lines from the one with the parenthesis."""
        end_line, end_offset = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
        column, end = self._column(node.lineno, node.col_offset), self._column(end_line, end_offset)
        return Span(self.source, node.lineno - 1, end_line - 1, column, end)

    def _column(self, line: int, offset: int) -> int:
        """Return the column of a character. Python's offsets count bytes."""
        return len(self.source.line(line - 1).encode()[:offset].decode(errors="replace")) + 1

    def _misread(self, error: BaseException) -> RelayError:
        """Convert an error of Python's parser."""
        span, lines = None, self.source.text.split("\n")
        if isinstance(error, SyntaxError) and error.offset and 1 < (error.lineno or 0) <= len(lines) + 1:
            line = (error.lineno or 0) - 1  # the lines before and after are the parenthesis
            column = min(error.offset, len(lines[line - 1]) + 1)
            span = Span(self.source, line, line, column, column + 1)
        return RelayError("the text is not a pipeline", span, help=[EXAMPLE])


def _text(node: ast.AST) -> str:
    return ast.unparse(node)[:80]


def _options_of(name: str, takes: inspect.Signature) -> str:
    """Describe the options that a pass has."""
    if not takes.parameters:
        return f"{name} takes no options"
    return f"the options of {name} are {', '.join(takes.parameters)}"
