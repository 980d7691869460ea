"""The shape of a reduction: its axes, and the memory layout of its operands along them."""

from __future__ import annotations

from typing import Any

from ...ir.lazy_dataclass import dataclass
from ..require import tvm
from .parts import REDUCED, SPATIAL, Plan, product, static


@dataclass(frozen=True)
class Shape:
    """A reduction's axes: `spatial` and `reduced` are their extents in order. For each operand, `reads`
    contains the axes on which its indices depend, and `contiguous` those in its last index. Axes are numbered
    as in the block; `first` is the index of the first reduced one. The last `joined` reduced axes are
    contiguous in all operands that are read along reduced axes, as a run of `run` elements.
    """

    spatial: tuple[int, ...]
    reduced: tuple[int, ...]
    reads: tuple[frozenset[int], ...]
    contiguous: tuple[frozenset[int], ...]
    joined: int = 1

    @property
    def extents(self) -> tuple[int, ...]:
        return (*self.spatial, *self.reduced)

    @property
    def first(self) -> int:
        return len(self.spatial)

    @property
    def run(self) -> int:
        return product(self.reduced[-self.joined :])

    @staticmethod
    def of(plan: Plan, name: str) -> Shape | None:
        """Return the shape of a block; None unless its loops are static and correspond to its axes, with the
        reduced ones last.
        """
        kinds = plan.kinds(name)
        count = kinds.count(REDUCED)
        loops = plan.sch.get_loops(plan.block(name))
        if len(loops) != len(kinds) or count == 0:
            return None
        if kinds != [SPATIAL] * (len(kinds) - count) + [REDUCED] * count:
            return None
        if static([plan.sch.get(loop).extent for loop in loops]) is None:
            return None
        return Shape.read(plan, name)

    @staticmethod
    def read(plan: Plan, name: str) -> Shape:
        """Return the shape of a block for which `of` returns one."""
        block = plan.sch.get(plan.block(name))
        axes = [axis.var for axis in block.iter_vars]
        extents = [int(axis.dom.extent) for axis in block.iter_vars]
        kinds = [int(axis.iter_type) for axis in block.iter_vars]
        own = block.writes[0].source
        regions = [r.region for r in block.reads if not r.source.same_as(own)]
        uses = [[_axes_in(part.min, axes) for part in region] for region in regions]
        return Shape(
            tuple([e for e, k in zip(extents, kinds) if k == SPATIAL]),
            tuple([e for e, k in zip(extents, kinds) if k == REDUCED]),
            tuple([frozenset().union(*parts) for parts in uses]),
            tuple([parts[-1] if parts else frozenset() for parts in uses]),
            _contiguous_count(
                [r.source.shape for r in block.reads if not r.source.same_as(own)], uses, extents, kinds
            ),
        )


def _contiguous_count(
    shapes: list[Any], uses: list[list[frozenset[int]]], extents: list[int], kinds: list[int]
) -> int:
    """Return the number of last axes, all reduced, that cover the whole last dimensions of every operand that
    is read along reduced axes.
    """
    first, count = kinds.count(SPATIAL), 1
    while count < kinds.count(REDUCED):
        here = list(range(len(extents) - 1, len(extents) - 2 - count, -1))
        for shape, parts in zip(shapes, uses):
            if all(axis < first for part in parts for axis in part):
                continue
            actual = [{axis for axis in part if extents[axis] > 1} for part in reversed(parts)]
            expected = [{axis} if extents[axis] > 1 else set() for axis in here]
            if actual[: count + 1] != expected or static(shape[-count - 1 :]) != tuple(
                [extents[axis] for axis in reversed(here)]
            ):
                return count
        count += 1
    return count


def _axes_in(expression: Any, axes: list[Any]) -> frozenset[int]:
    used = list(tvm().tirx.analysis.undefined_vars(expression))
    return frozenset([number for number, axis in enumerate(axes) if any(axis.same_as(v) for v in used)])
