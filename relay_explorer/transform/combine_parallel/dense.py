"""CombineParallelDense: combine dense layers on the same data."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from ...ir.annotate import set_origin
from ...ir.expr import Call, Expr, TupleGetItem
from ...ir.lazy_dataclass import dataclass
from ...ir.op import Op
from ...ir.typed import tensor_type
from ..tools.typed_rewrite import call as operator
from .groups import CombineParallel, ConcatenatedInFull, Group, concatenated, differ_along, stacked


@dataclass(frozen=True)
class CombineParallelDense(CombineParallel):
    """Combine `nn.dense` layers on the same data into one operator, together with the operators that follow
    each.

    With `to_batch`, layers with equally many units become a batched product of the repeated data with the
    stacked weights. Without it, layers of any size become one dense layer with the units of all.
    """

    name = "CombineParallelDense"
    operator = "nn.dense"

    to_batch: bool = True

    def key(self, call: Call) -> Hashable | None:
        data, weight, result = tensor_type(call.args[0]), tensor_type(call.args[1]), tensor_type(call)
        if not weight.is_static or not result.is_static or (self.to_batch and len(data.shape) != 2):
            return None
        assert call.attrs is not None
        units, inner = weight.concrete_shape
        own = units if self.to_batch else None
        return own, inner, weight.dtype, call.attrs["out_dtype"]

    def group(self, calls: Sequence[Call]) -> Group:
        attrs, weights = calls[0].attrs, [call.args[1] for call in calls]
        assert attrs is not None
        out_dtype = attrs["out_dtype"]
        if self.to_batch:
            data = stacked([call.args[0] for call in calls])
            return _Stacked(calls, operator(
                "nn.batch_matmul", data, stacked(weights),
                out_dtype=out_dtype, transpose_a=False, transpose_b=True,
            ))  # fmt: skip
        sizes = [tensor_type(weight).concrete_shape[0] for weight in weights]
        result = operator(
            "nn.dense", calls[0].args[0], concatenated(weights, 0), units=sum(sizes), out_dtype=out_dtype
        )
        return _Units(calls, result, sizes, 1)


class _Units(ConcatenatedInFull):
    """Dense layers combined into one with the units of all. A single value for all units is repeated for
    each.
    """

    def side_by_side(self, args: Sequence[Expr]) -> Expr | None:
        shapes = [tensor_type(arg).shape for arg in args]
        repeated: list[Expr] = []
        axis = max(0, len(shapes[0]) - self.from_end)
        for arg, shape, size in zip(args, shapes, self.sizes):
            if not shape:
                arg = operator("expand_dims", arg, axis=-1, num_newaxis=1)
            elif len(shape) < self.from_end:
                return None
            if not shape or (shape[axis] == 1 and size > 1):
                arg = operator("repeat", arg, repeats=size, axis=axis)
            elif shape[axis] != size:
                return None
            repeated.append(arg)
        agree = differ_along(args, axis) and (shapes[0] or self.from_end == 1)
        return concatenated(repeated, axis) if agree else None


class _Stacked(Group):
    """Dense layers combined into a batched product, whose result has a new first axis."""

    def followed(self, users: Sequence[Call], place: int) -> Call | None:
        first = users[0]
        assert isinstance(first.op, Op)
        names_axis = first.attrs is not None and "axis" in first.attrs
        if names_axis or any(len(tensor_type(user).shape) != 2 for user in users):
            return None
        args: list[Expr] = []
        for number in range(len(first.args)):
            others = [user.args[number] for user in users]
            types = {(tensor_type(arg).shape, tensor_type(arg).dtype) for arg in others}
            if number == place:
                args.append(self.value)
            elif len(types) == 1:
                args.append(stacked([_as_matrix(arg) for arg in others]))
            else:
                return None
        return Call(first.op, args, first.attrs)

    def parts(self) -> list[Expr]:
        split = operator("split", self.value, indices_or_sections=len(self.outputs), axis=0)
        set_origin(split, self.outputs)
        fields = [TupleGetItem(split, number) for number in range(len(self.outputs))]
        return [operator("squeeze", field, axis=[0]) for field in fields]


def _as_matrix(arg: Expr) -> Expr:
    """Prepend axes of size 1 to a scalar or vector, so that it aligns with rows and not with branches."""
    missing = 2 - len(tensor_type(arg).shape)
    return operator("expand_dims", arg, axis=0, num_newaxis=missing) if missing else arg
