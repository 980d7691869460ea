"""SimplifyInference: replace operators that matter only in training by simple arithmetic."""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.annotate import set_origin
from ..ir.expr import Call, Expr, Function, TupleGetItem
from ..ir.lazy_dataclass import dataclass
from ..ir.module import IRModule
from ..ir.op import Op
from ..ir.rewrites import emit_rewrite
from ..ir.typed import tensor_type
from ..ir.walk import rewrite_nodes
from .infrastructure import PassContext
from .infrastructure.function_passes import TypedPass, rewritten
from .tools.typed_rewrite import along_axis, call, scalar


@dataclass(frozen=True)
class SimplifyInference(TypedPass):
    """Replace normalizations by element-wise arithmetic, and remove dropout.

    `nn.batch_norm` with fixed statistics becomes a scale and a shift per channel, which other passes can fold
    into a convolution. A batch norm whose updated statistics are used stays.
    """

    name = "SimplifyInference"
    opt_level = 0

    def transform_function(self, function: Function, mod: IRModule, ctx: PassContext) -> Function:
        def simplified(node: Expr, rebuilt: Expr) -> Expr | None:
            result = _simpler(node, rebuilt)
            return None if result is None else set_origin(result, result.origin or (node,))

        return rewritten(function, rewrite_nodes(function, simplified))


def _simpler(old: Expr, new: Expr) -> Expr | None:
    match old, new:
        case TupleGetItem(index=0, tuple_value=Call(op=Op()) as was), TupleGetItem(tuple_value=Call() as now):
            name = was.op.name  # type: ignore[attr-defined]  # an operator
            if name == "nn.batch_norm" and _is_usual(was):
                result = _batch_norm(was, now)
                emit_rewrite(_batch_norm, new, result, old)
                return result
            if name == "nn.dropout":
                emit_rewrite(
                    _simpler,
                    new,
                    now.args[0],
                    old,
                    sentence="`nn.dropout` does nothing at inference time.",
                )
                return now.args[0]
        case Call(op=Op()) as was, Call() as now:
            rule = _RULES.get(was.op.name)  # type: ignore[attr-defined]  # an operator
            if rule is not None and _is_usual(was):
                result = rule(was, now)
                emit_rewrite(rule, now, result, was)
                return result
    return None


def _is_usual(call: Call) -> bool:
    """Whether a normalization equals the arithmetic that replaces it. For integers it does not: each step
    would drop a fraction. A reshape would misread an extent of 0, and a sum over no axes would be one over
    all.
    """
    type_ = tensor_type(call.args[0])
    axes = getattr(call.attrs, "axis", None)
    return "float" in type_.dtype and 0 not in type_.shape and axes != ()


def _batch_norm(old: Call, new: Call) -> Expr:
    """Expand a batch norm into the data times a scale plus a shift, both computed from the statistics."""
    data, gamma, beta, mean, variance = new.args
    attrs, type_ = old.attrs, tensor_type(old.args[0])
    assert attrs is not None
    rank, axis = len(type_.shape), attrs["axis"]
    deviation = call("sqrt", call("add", variance, scalar(attrs["epsilon"], type_.dtype)))
    scale: Expr = call("divide", scalar(1.0, type_.dtype), deviation)
    if attrs["scale"]:
        scale = call("multiply", scale, gamma)
    shift: Expr = call("multiply", call("negative", mean), scale)
    if attrs["center"]:
        shift = call("add", shift, beta)
    scaled = call("multiply", data, along_axis(scale, rank, axis))
    return call("add", scaled, along_axis(shift, rank, axis))


def _normalized(data: Expr, dtype: str, axes: Sequence[int], epsilon: float) -> Expr:
    """Subtract the mean over the axes from the data, and divide by the standard deviation."""
    mean = call("mean", data, axis=list(axes), keepdims=True, exclude=False)
    variance = call("variance", data, mean, axis=list(axes), keepdims=True, exclude=False, unbiased=False)
    deviation = call("sqrt", call("add", variance, scalar(epsilon, dtype)))
    return call("divide", call("subtract", data, mean), deviation)


def _scaled(value: Expr, old: Call, gamma: Expr, beta: Expr, rank: int, axis: int) -> Expr:
    assert old.attrs is not None
    if old.attrs["scale"]:
        value = call("multiply", value, along_axis(gamma, rank, axis))
    if old.attrs["center"]:
        value = call("add", value, along_axis(beta, rank, axis))
    return value


def _layer_norm(old: Call, new: Call) -> Expr:
    """Expand a layer norm: subtract the mean along one axis, and divide by the standard deviation."""
    data, gamma, beta = new.args
    attrs, type_ = old.attrs, tensor_type(old.args[0])
    assert attrs is not None
    value = _normalized(data, type_.dtype, [attrs["axis"]], attrs["epsilon"])
    return _scaled(value, old, gamma, beta, len(type_.shape), attrs["axis"])


def _instance_norm(old: Call, new: Call) -> Expr:
    """Expand an instance norm: normalize each channel of each sample by its own mean and standard
    deviation.
    """
    data, gamma, beta = new.args
    attrs, type_ = old.attrs, tensor_type(old.args[0])
    assert attrs is not None
    rank = len(type_.shape)
    axes = [axis for axis in range(1, rank) if axis != attrs["axis"] % rank]
    value = _normalized(data, type_.dtype, axes, attrs["epsilon"])
    return _scaled(value, old, gamma, beta, rank, attrs["axis"])


def _group_norm(old: Call, new: Call) -> Expr:
    """Expand a group norm: split the channels into groups, and normalize each group over all its
    positions.
    """
    data, gamma, beta = new.args
    attrs, type_ = old.attrs, tensor_type(old.args[0])
    assert attrs is not None
    rank, groups = len(type_.shape), attrs["num_groups"]
    axis = attrs["axis"] % rank
    lead, rest = list(type_.shape[:axis]), list(type_.shape[axis + 1 :])
    if type_.is_static:
        split, joined = [*lead, groups, type_.concrete_shape[axis] // groups, *rest], list(type_.shape)
    else:  # 0 leaves an axis, -4 splits one, -3 joins two, -2 leaves the rest
        split, joined = [*[0] * axis, -4, groups, -1, -2], [*[0] * axis, -3, -2]
    axes = [a for a in range(1, rank + 1) if a != axis]
    value = _normalized(call("reshape", data, newshape=split), type_.dtype, axes, attrs["epsilon"])
    value = call("reshape", value, newshape=joined)
    return _scaled(value, old, gamma, beta, rank, axis)


def _l2_normalize(old: Call, new: Call) -> Expr:
    """`nn.l2_normalize` divides by the square root of the sum of squares, where the sum is at least `eps`."""
    (data,) = new.args
    attrs = old.attrs
    assert attrs is not None
    squares = call("sum", call("multiply", data, data), axis=attrs["axis"], keepdims=True, exclude=False)
    bounded = call("maximum", squares, scalar(attrs["eps"], tensor_type(old.args[0]).dtype))
    return call("divide", data, call("sqrt", bounded))


_RULES = {
    "nn.layer_norm": _layer_norm,
    "nn.instance_norm": _instance_norm,
    "nn.group_norm": _group_norm,
    "nn.l2_normalize": _l2_normalize,
}
