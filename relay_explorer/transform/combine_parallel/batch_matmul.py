"""CombineParallelBatchMatmul: combine batched matrix products that share their left operand."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from ...ir.expr import Call
from ...ir.lazy_dataclass import dataclass
from ...ir.typed import tensor_type
from ..tools.typed_rewrite import call as operator
from .groups import CombineParallel, ConcatenatedInFull, Group, concatenated


@dataclass(frozen=True)
class CombineParallelBatchMatmul(CombineParallel):
    """Combine calls of `nn.batch_matmul` that share their left operand into one call.

    The right operand of the combined call concatenates theirs, so the queries, keys and values of an
    attention layer are computed by one product. Element-wise operators that follow each product are combined
    too. Only products in the usual form are considered: the left operand as it is, the right one transposed.
    """

    name = "CombineParallelBatchMatmul"
    operator = "nn.batch_matmul"

    def key(self, call: Call) -> Hashable | None:
        attrs, right = call.attrs, tensor_type(call.args[1])
        assert attrs is not None
        usual = not attrs["transpose_a"] and attrs["transpose_b"]
        if not usual or not right.is_static or not tensor_type(call).is_static:
            return None
        batch, _, inner = right.concrete_shape
        return right.dtype, batch, inner, tensor_type(call).dtype, attrs["out_dtype"]

    def group(self, calls: Sequence[Call]) -> Group:
        attrs, rights = calls[0].attrs, [call.args[1] for call in calls]
        assert attrs is not None
        value = operator(
            "nn.batch_matmul", calls[0].args[0], concatenated(rights, 1),
            out_dtype=attrs["out_dtype"], transpose_a=False, transpose_b=True,
        )  # fmt: skip
        sizes = [tensor_type(right).concrete_shape[1] for right in rights]
        return _Products(calls, value, sizes, 1)


class _Products(ConcatenatedInFull):
    def named(self, axis: int, rank: int) -> int:
        return axis - rank  # counted from the last axis, as TVM writes it
