"""Marks in a program for passes, for `relay.annotation`: each is the value that it is put around."""

from __future__ import annotations

from typing import Any as Anything

from ..ir.attrs import Attrs, required
from ..ir.expr import Call, Expr
from ..ir.op import Op
from .arguments import expr
from .declare import declare
from .register import SAME_TYPE


class CompilerAttrs(Attrs, key="relay.attrs.CompilerAttrs"):
    compiler: str = required("The compiler that is to get this part of the program.")


def _mark(name: str, description: str, attrs: type[Attrs] | None = None) -> Op:
    """Declares a mark: nothing is computed, in no kernel."""
    op = declare(
        name,
        description,
        formula="y = x",
        relation=SAME_TYPE,
        attrs=attrs,
        family="other",
        level=10,
        compute=_itself,
        gradient="elementwise.same",
        lowering="annotation.itself",
    )
    op.set_attr("TNonComputational", True)
    return op


def _itself(attrs: Anything, data: Anything) -> Anything:
    return data


_BEGIN = _mark("annotation.compiler_begin", "Marks where a value enters a compiler's region.", CompilerAttrs)
_END = _mark("annotation.compiler_end", "Marks where a value leaves a compiler's region.", CompilerAttrs)
_STOP = _mark("annotation.stop_fusion", "Keeps what computes its argument out of the kernel of what uses it.")
_CHECKPOINT = _mark("annotation.checkpoint", "Marks what is computed again, not kept, for the gradient.")


def compiler_begin(data: Expr, compiler: str) -> Call:
    """`data` as an input of a region for `compiler`. Regions are cut out by PartitionGraph."""
    return Call(_BEGIN, [expr(data)], CompilerAttrs(compiler=compiler))


def compiler_end(data: Expr, compiler: str) -> Call:
    """`data` as a result of a region for `compiler`."""
    return Call(_END, [expr(data)], CompilerAttrs(compiler=compiler))


def stop_fusion(data: Expr) -> Call:
    """`data`, which FuseOps does not compute in one kernel with what uses it."""
    return Call(_STOP, [expr(data)])


def checkpoint(data: Expr) -> Call:
    """`data`, marked as what a gradient may compute a second time instead of keeping it."""
    return Call(_CHECKPOINT, [expr(data)])
