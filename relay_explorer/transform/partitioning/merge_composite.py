"""MergeComposite: group operators that a backend computes in one step into composite functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, cast

from ...dataflow_pattern import DFPattern, partition
from ...ir.errors import PassOptionError
from ...ir.expr import Expr, Function
from ...ir.lazy_dataclass import dataclass
from ...ir.module import IRModule
from ...typing import infer_types
from ..infrastructure import Converted, Pass, PassContext
from ..infrastructure.function_passes import rewritten

Check = Callable[[Expr], bool]
Entry = tuple[str, DFPattern] | tuple[str, DFPattern, Check]


def _table(table: Iterable[Sequence[object]]) -> tuple[Entry, ...]:
    """Check the rows of a pattern table."""
    return tuple(_entry(entry) for entry in table)


def _row(entry: Entry) -> tuple[str, DFPattern, Check]:
    """Complete a row of the table with its check."""
    name, pattern, *check = entry
    return name, pattern, check[0] if check else _any


def _entry(entry: Sequence[object]) -> Entry:
    """Check a row of the table."""
    name, pattern, *rest = entry
    if not (
        isinstance(name, str)
        and isinstance(pattern, DFPattern)
        and len(rest) <= 1
        and all(map(callable, rest))
    ):
        raise PassOptionError(
            f"a row of a pattern table is (name, pattern) or (name, pattern, check), not {entry!r:.80}"
        )
    return cast(Entry, (str(name), pattern, *rest))


@dataclass(frozen=True)
class MergeComposite(Pass):
    """Move every match of a pattern into a function with the attribute `Composite="name"`, and call it.

    For example: `("dsp.conv_relu", is_op("nn.relu")(is_op("nn.conv2d")(wildcard(), wildcard())))`.

    `pattern_table` lists names and patterns, in order of preference. An optional third item is a function
    that is called with each match (its types are inferred) and returns whether to take it. In a name, the
    part before the dot is the compiler that AnnotateTarget assigns the function to; the rest is up to the
    backend.
    """

    name = "MergeComposite"
    opt_level = 0
    required = ("InferType",)

    pattern_table: Annotated[Sequence[Entry], Converted(_table)]

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        new = infer_types(mod)
        for name, pattern, check in map(_row, self.pattern_table):
            changed = False
            for var, function in new.functions.items():
                if isinstance(function, Function) and "Compiler" not in function.attrs:
                    result = partition(pattern, function, {"Composite": name}, check)
                    if result is not function:
                        new[var] = rewritten(function, result)
                        changed = True
            if changed:
                new = infer_types(new)
        return new


def _any(match: Expr) -> bool:
    return True
