"""Replaces the parts of a `split` by slices, each of which is computed where it is used."""

from __future__ import annotations

from ...ir.annotate import set_origin
from ...ir.expr import Call, Expr, Function, TupleGetItem
from ...ir.lazy_dataclass import dataclass
from ...ir.module import IRModule
from ...ir.op import Op
from ...ir.rewrites import emit_rewrite
from ...ir.types import TensorType
from ...ir.walk import rewrite_nodes
from ...transform.infrastructure import PassContext
from ...transform.infrastructure.function_passes import TypedPass, rewritten
from ...transform.tools.typed_rewrite import call


@dataclass(frozen=True)
class SplitSlices(TypedPass):
    """Replace each part of a split, such as the gates of an LSTM in one product, by a slice. A kernel has one
    result, so a split whose results have different consumers would be a separate kernel that only copies.
    """

    name = "SplitSlices"
    opt_level = 3

    def transform_function(self, function: Function, mod: IRModule, ctx: PassContext) -> Function:
        return rewritten(function, rewrite_nodes(function, self._sliced))

    def _sliced(self, node: Expr, rebuilt: Expr) -> Expr | None:
        replacement = _slice(node, rebuilt)
        if replacement is not None:
            set_origin(replacement, (node,))
            emit_rewrite(
                self.transform_function,
                node,
                replacement,
                sentence="A part of a split is replaced by a slice.",
            )
        return replacement


def _slice(field: Expr, rebuilt: Expr) -> Expr | None:
    """Return the slice that equals a field of a split; None for other expressions, and if a size is dynamic.
    Types are read from `field`, and the data is that of `rebuilt`.
    """
    if not isinstance(field, TupleGetItem) or not isinstance(rebuilt, TupleGetItem):
        return None
    whole = field.tuple_value
    if not (isinstance(whole, Call) and isinstance(whole.op, Op) and whole.op.name == "split"):
        return None
    assert isinstance(rebuilt.tuple_value, Call)
    data = whole.args[0].checked_type
    if not isinstance(data, TensorType) or not data.is_static:
        return None
    assert whole.attrs is not None
    axis, cuts = whole.attrs["axis"] % len(data.shape), whole.attrs["indices_or_sections"]
    extent = data.concrete_shape[axis]
    starts = [k * (extent // cuts) for k in range(cuts)] if isinstance(cuts, int) else [0, *map(int, cuts)]
    ends = [*starts[1:], extent]
    return call(
        "strided_slice", rebuilt.tuple_value.args[0],
        begin=[starts[field.index]], end=[ends[field.index]], strides=[1], axes=[axis],
    )  # fmt: skip
