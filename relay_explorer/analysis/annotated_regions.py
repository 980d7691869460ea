"""The regions of a program that annotations delimit: the expressions between the `compiler_begin`s and
`compiler_end`s of one compiler.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..ir.adt import Match
from ..ir.errors import RelayError
from ..ir.expr import (
    Call,
    Constant,
    Expr,
    If,
    Let,
    RefCreate,
    RefRead,
    RefWrite,
    Tuple,
    TupleGetItem,
)
from ..ir.op import Op
from ..ir.walk import children, post_order
from ..typing.narrate import label


class AnnotatedRegion:
    """A region: `args` are the annotations through which values enter it, `rets` those through which values
    leave it, in the order of the program; `nodes` contains all its expressions, including annotations.
    `target` is its compiler, `id` its number.
    """

    def __init__(self, number: int, target: str) -> None:
        self.id = number
        self.target = target
        self.args: list[Call] = []
        self.rets: list[Call] = []
        self.nodes: set[Expr] = set()


class AnnotatedRegionSet:
    """The regions of `expr`. Raises a RelayError where annotations do not match."""

    def __init__(
        self, expr: Expr, region_begin_op: Op | None = None, region_end_op: Op | None = None
    ) -> None:
        self.begin = region_begin_op or Op.get("annotation.compiler_begin")
        self.end = region_end_op or Op.get("annotation.compiler_end")
        self._region_of: dict[Expr, AnnotatedRegion] = {}
        self._merged: dict[AnnotatedRegion, AnnotatedRegion] = {}
        self._all: list[AnnotatedRegion] = []
        self._number = 0
        for node in post_order(expr):
            self._enter(node)

    def get_region(self, expr: Expr) -> AnnotatedRegion | None:
        """Return the region to which an expression belongs, or None."""
        region = self._region_of.get(expr)
        return None if region is None else self._find(region)

    def __iter__(self) -> Iterator[AnnotatedRegion]:
        return (region for region in self._all if region not in self._merged)

    def __len__(self) -> int:
        return len(self._all) - len(self._merged)

    def merge_regions(self, source: AnnotatedRegion, into: AnnotatedRegion) -> None:
        """Merge two regions. Values passed from one to the other become internal."""
        if source is into:
            return
        if len(source.nodes) > len(into.nodes):  # merge the smaller set into the larger one
            source.nodes, into.nodes = into.nodes, source.nodes
        into.nodes |= source.nodes
        self._merged[source] = into
        within = [begin for begin in (*into.args, *source.args) if begin.args[0] in into.nodes]
        passed = {begin.args[0] for begin in within}
        into.args = [begin for begin in (*into.args, *source.args) if begin not in set(within)]
        into.rets = [end for end in (*into.rets, *source.rets) if end not in passed]

    def _find(self, region: AnnotatedRegion) -> AnnotatedRegion:
        root = region
        while root in self._merged:
            root = self._merged[root]
        while region is not root:  # path compression
            after = self._merged[region]
            self._merged[region] = root
            region = after
        return root

    def _enter(self, node: Expr) -> None:
        """Add an expression, whose operands have been added, to the region to which it belongs."""
        match node:
            case Call(op=op) if op is self.begin:
                region = AnnotatedRegion(self._number, _compiler(node))
                self._number += 1
                self._all.append(region)
                region.args.append(node)
                self._add(node, region)
            case Call(op=op) if op is self.end:
                self._leave(node)
            case Call():
                self._join(node, node.args)
            case Tuple() | TupleGetItem() | If() | Match() | RefCreate() | RefRead() | RefWrite():
                self._join(node, children(node))
            case Let():
                self._join(node, [node.value, node.body])

    def _leave(self, end: Call) -> None:
        region = self.get_region(end.args[0])
        if region is None:
            raise RelayError(
                f'`compiler_end(…, "{_compiler(end)}")` is applied to an expression that is in no region',
                end.span,
                help=["put compiler_begin around the values that enter the region"],
            )
        if region.target != _compiler(end):
            raise RelayError(
                f'a region that begins for the compiler "{region.target}" ends for "{_compiler(end)}"',
                end.span,
            )
        self._add(end, region)
        region.rets.append(end)

    def _join(self, node: Expr, parts: Sequence[Expr]) -> None:
        """Add a node to the region of its operands, whose regions are merged; operands that have left their
        region are ignored.
        """
        open_ = [part for part in parts if not (isinstance(part, Call) and part.op is self.end)]
        regions = [self.get_region(part) for part in open_]
        first = next((region for region in regions if region is not None), None)
        if first is None:
            return
        for part, region in zip(open_, regions):
            if region is not None:
                self._check_target(node, region, first)
                self.merge_regions(self._find(region), first)
            elif not isinstance(part, Constant):
                raise RelayError(
                    f'`{label(part)}` is used in a region for the compiler "{first.target}", but has not '
                    "entered it",
                    node.span,
                    help=[f'put compiler_begin(…, "{first.target}") around it'],
                )
        for part in parts:
            if part not in open_:
                raise RelayError(
                    "a value that has left its region is used in one for the compiler "
                    f'"{first.target}", but has not entered it',
                    node.span,
                    help=[f'put compiler_begin(…, "{first.target}") around it'],
                )
        self._add(node, first)

    def _check_target(self, node: Expr, region: AnnotatedRegion, first: AnnotatedRegion) -> None:
        if region.target != first.target:
            raise RelayError(
                f'the parts of `{label(node)}` are in regions of two compilers, "{first.target}" and '
                f'"{region.target}"',
                node.span,
            )

    def _add(self, node: Expr, region: AnnotatedRegion) -> None:
        region.nodes.add(node)
        self._region_of[node] = region


def _compiler(mark: Call) -> str:
    assert mark.attrs is not None
    return str(mark.attrs["compiler"])
