"""Keeps slices of a product's rows out of the kernels that use them, so that the graph executor reads the
rows in place, and one kernel serves every row.
"""

from __future__ import annotations

from collections import Counter

from ...analysis.pieces import slice_piece, split_piece
from ...ir.annotate import set_origin
from ...ir.expr import Call, Expr, Function, TupleGetItem
from ...ir.lazy_dataclass import dataclass
from ...ir.module import IRModule
from ...ir.op import Op, OpPattern
from ...ir.rewrites import emit_rewrite
from ...ir.types import TensorType
from ...ir.walk import post_order, rewrite_nodes
from ...transform.infrastructure import PassContext
from ...transform.infrastructure.function_passes import TypedPass, rewritten
from ...transform.tools.typed_rewrite import call

MIN_SLICES = 4  # of one tensor: for fewer slices, a kernel for each offset is worth its compile time


@dataclass(frozen=True)
class RowsApart(TypedPass):
    """Put `annotation.stop_fusion` around slices, and parts of a split, along the first axis of a matrix
    product, or of elementwise operations on it. Within a kernel, the offset of a slice is part of the code,
    so the steps of a recurrent network, which differ only in the row that they read, would become separate
    kernels.
    """

    name = "RowsApart"
    opt_level = 3

    def transform_function(self, function: Function, mod: IRModule, ctx: PassContext) -> Function:
        order = post_order(function)
        sources = {node: source for node in order if (source := _rows_of(node)) is not None}
        slices = Counter(sources.values())

        def apart(node: Expr, rebuilt: Expr) -> Expr | None:
            if node not in sources or slices[sources[node]] < MIN_SLICES:
                return None
            result = set_origin(call("annotation.stop_fusion", rebuilt), (node,))
            emit_rewrite(
                self.transform_function,
                node,
                result,
                sentence="The slice stays outside the kernels that use it, so rows are read in place.",
            )
            return result

        return rewritten(function, rewrite_nodes(function, apart))


def _rows_of(node: Expr) -> Expr | None:
    """Return the product of which an expression takes some of the rows; None for any other expression."""
    if isinstance(node, Call) and slice_piece(node) is not None:
        source = node.args[0]
    elif isinstance(node, TupleGetItem) and split_piece(node) is not None:
        assert isinstance(node.tuple_value, Call)
        source = node.tuple_value.args[0]
    else:
        return None
    whole, part = source.checked_type, node.checked_type
    assert isinstance(whole, TensorType)
    assert isinstance(part, TensorType)
    rows = whole.shape[0] != part.shape[0] and whole.shape[1:] == part.shape[1:]
    return source if rows and _is_product(source) else None


def _is_product(expr: Expr) -> bool:
    """Whether an expression is a product or a convolution, or elementwise operations on one."""
    while isinstance(expr, Call) and isinstance(expr.op, Op):
        if expr.op.pattern == OpPattern.OUT_ELEMWISE_FUSABLE:
            return True
        if expr.op.pattern > OpPattern.BROADCAST or not expr.args:
            return False
        shape = expr.checked_type
        expr = next((arg for arg in expr.args if arg.checked_type == shape), expr.args[0])
    return False
