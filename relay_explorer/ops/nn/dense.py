"""Matrix products, and the bias that follows them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any as Anything

from ...ir.attrs import Attrs, DType, attr
from ...ir.expr import Call, Expr
from ...ir.op import OpPattern, Relation, RelationError, Reporter, flops_per_output, size_of
from ...ir.show import show_shape
from ...ir.types import Any, Dim, IncompleteType, Shape, TensorType, Type
from ..arguments import expr
from ..declare import declare
from ..numeric import Array, along, element_type, np
from ..relation import normal_axis, same_dim, tensor
from .layout import many
from .vector import axis_vector

__all__ = ["batch_matmul", "bias_add", "dense", "matmul"]

OUT_DTYPE = "The output's element type; the first argument's where it is left out."


class DenseAttrs(Attrs, key="relay.attrs.DenseAttrs"):
    units: int | None = attr(None, "The number of output features; the weight's where it is left out.")
    out_dtype: DType = attr("", OUT_DTYPE)


class MatmulAttrs(Attrs, key="relay.attrs.MatmulAttrs"):
    units: int | None = attr(None, "The number of output columns; the second matrix's where it is left out.")
    out_dtype: DType = attr("", OUT_DTYPE)
    transpose_a: bool = attr(False, "Whether the last two axes of the first argument are swapped.")
    transpose_b: bool = attr(False, "Whether the second matrix is given transposed, (columns, inner).")


class BatchMatmulAttrs(Attrs, key="relay.attrs.BatchMatmulAttrs"):
    out_dtype: DType = attr("", OUT_DTYPE)
    transpose_a: bool = attr(
        False, "Whether the matrices of the first argument are given transposed, (batch, inner, rows)."
    )
    transpose_b: bool = attr(
        False, "Whether the matrices of the second argument are given transposed, (batch, columns, inner)."
    )


class BiasAddAttrs(Attrs, key="relay.attrs.BiasAddAttrs"):
    axis: int = attr(1, "The axis of the data that the bias lies along.")


def _product(attrs: Anything, a: Array, b: Array) -> Array:
    """The matrix product in the output's element type."""
    dtype = element_type(attrs.out_dtype or a.dtype)
    return np.matmul(a.astype(dtype, copy=False), b.astype(dtype, copy=False))


def _turned(matrices: Array, turn: bool) -> Array:
    """Transposed if `turn`."""
    return np.swapaxes(matrices, -1, -2) if turn else matrices


def _turned_product(attrs: MatmulAttrs | BatchMatmulAttrs, a: Array, b: Array) -> Array:
    return _product(attrs, _turned(a, attrs.transpose_a), _turned(b, attrs.transpose_b))


def _dense(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    """Inputs (…, k) and (units, k); output (…, units). Without a type, the weight gets one from `units`."""
    data, weight, out = types
    if isinstance(data, IncompleteType):
        return False
    data = tensor(data, 0, "data")
    shape = data.shape
    if not shape:
        raise RelationError(
            "the data is a single number, but must have at least one axis, its features", culprits=(0,)
        )
    units, features = attrs.units, shape[-1]
    _check_units(units)
    if isinstance(weight, TensorType):
        have = weight.shape
        if len(have) != 2 or (have[1] != features and not same_dim(have[1], features)):
            raise _wrong_weight(weight, shape, units)
        if units is None:
            units = have[0]
        elif have[0] != units and not same_dim(have[0], units):
            raise _wrong_weight(weight, shape, units)
    elif isinstance(weight, IncompleteType):
        if units is None:
            return False
        reporter.assign(weight, TensorType.of((units, features), data.dtype))
    else:
        tensor(weight, 1, "weight")
    reporter.assign(out, TensorType.of((*shape[:-1], units), attrs.out_dtype or data.dtype))
    return True


def _check_units(units: int | None) -> None:
    if units is not None and units < 1:
        raise RelationError(f"units={units} must be positive")


def _wrong_weight(weight: TensorType, shape: Shape, units: int | None) -> RelationError:
    """What is wrong with dense's weight for data of this shape."""
    have, features = weight.shape, shape[-1]
    if len(have) != 2:
        return RelationError(
            f"the weight {show_shape(have)} has {many(len(have), 'axis', 'axes')}, but must have two, "
            "(units, input features)",
            f"for this data its shape is ({'units' if units is None else units}, {features})",
            culprits=(1,),
        )
    if same_dim(have[1], features):
        return RelationError(
            f"units={units}, but the weight {show_shape(have)} makes {have[0]} features",
            f"give units={have[0]}, or leave it out",
            culprits=(1,),
        )
    if units is None or same_dim(have[0], units):
        message = f"the data has {features} features, but the weight {show_shape(have)} takes {have[1]}"
    else:
        message = (
            f"{features} features and units={units} need a weight ({units}, {features}), not "
            f"{show_shape(have)}"
        )
    if have[0] == features and (units is None or same_dim(have[1], units)):
        help = (
            f"dense's weight is (units, input features): pass relay.transpose(weight), which is ({have[1]}, "
            f"{have[0]})"
        )
    else:
        help = f"a weight for this data has shape ({have[0] if units is None else units}, {features})"
    return RelationError(message, help, culprits=(0, 1))


def _dense_flops(attrs: Anything, inputs: Sequence[Type], output: Type) -> int:
    """A multiply and an add for each output element and input feature."""
    data = inputs[0]
    features = data.shape[-1] if isinstance(data, TensorType) and data.shape else 1
    return 2 * size_of(output) * (features if isinstance(features, int) else 1)


_DENSE = declare(
    "nn.dense",
    "Multiplies by a weight matrix given as (units, input features).",
    formula=r"y_{\ldots,j} = \sum_{k} x_{\ldots,k}\, w_{j,k}",
    relation=Relation("Dense", _dense, "{out} = {0} · {1}ᵀ"),
    inputs=("data", "weight"),
    attrs=DenseAttrs,
    pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
    flops=_dense_flops,
    family="matmul",
    level=1,
    lenient_in_tvm="Without `units` it never compared the inner dimensions of data and weight.",
    compute=lambda attrs, x, weight: _product(attrs, x, weight.T),
    gradient="products.dense",
    lowering="matmul.dense",
)


def dense(data: Expr, weight: Expr, units: int | None = None, out_dtype: str = "") -> Call:
    """`data` (…, k) times the transpose of `weight` (units, k): (…, units)."""
    return Call(_DENSE, [expr(data), expr(weight)], DenseAttrs(units=units, out_dtype=out_dtype))


def _matmul(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    """Inputs (…, m, k) and (k, n), each as if swapped back; output (…, m, n)."""
    a, b, out = types
    if isinstance(a, IncompleteType):
        return False
    a = tensor(a, 0, "tensor_a")
    if len(a.shape) < (2 if attrs.transpose_a else 1):
        raise RelationError(
            f"the first argument {show_shape(a.shape)} has too few axes for a matrix product", culprits=(0,)
        )
    shape = (*a.shape[:-2], a.shape[-1], a.shape[-2]) if attrs.transpose_a else a.shape
    inner, units = shape[-1], attrs.units
    _check_units(units)
    if isinstance(b, IncompleteType):
        if units is None:
            return False
        reporter.assign(b, TensorType.of((units, inner) if attrs.transpose_b else (inner, units), a.dtype))
    else:
        b = tensor(b, 1, "tensor_b")
        if len(b.shape) != 2:
            raise RelationError(
                f"the second argument {show_shape(b.shape)} must be a matrix",
                "relay.nn.batch_matmul multiplies batches of matrices",
                culprits=(1,),
            )
        rows, columns = (b.shape[1], b.shape[0]) if attrs.transpose_b else b.shape
        if not same_dim(rows, inner):
            raise _wrong_inner(a.shape, b.shape, inner, rows, columns)
        if units is not None and not same_dim(columns, units):
            raise RelationError(
                f"units={units}, but the second matrix has {columns} columns",
                f"give units={columns}, or leave it out",
                culprits=(1,),
            )
        units = columns if units is None else units
    reporter.assign(out, TensorType.of((*shape[:-1], units), attrs.out_dtype or a.dtype))
    return True


def _wrong_inner(a: Shape, b: Shape, inner: Dim, rows: Dim, columns: Dim) -> RelationError:
    message = f"the inner dimensions differ: {inner} of {show_shape(a)} and {rows} of {show_shape(b)}"
    help = (
        "transpose_b=True reads the second matrix transposed"
        if columns == inner
        else "the first argument's columns must be the second's rows"
    )
    return RelationError(message, help, culprits=(0, 1))


def _matmul_flops(attrs: Anything, inputs: Sequence[Type], output: Type) -> int:
    """A multiply and an add for each output element and inner index."""
    a = inputs[0]
    inner = (
        a.shape[-2 if attrs.transpose_a else -1]
        if isinstance(a, TensorType) and len(a.shape) > 1
        else size_of(a)
    )
    return 2 * size_of(output) * (inner if isinstance(inner, int) else 1)


_MATMUL = declare(
    "nn.matmul",
    "Multiplies by a matrix; either side may be given transposed.",
    formula=r"y_{\ldots,j} = \sum_{k} a_{\ldots,k}\, b_{k,j}",
    relation=Relation("Matmul", _matmul, "{out} = {0} · {1}"),
    inputs=("tensor_a", "tensor_b"),
    attrs=MatmulAttrs,
    pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
    flops=_matmul_flops,
    family="matmul",
    level=1,
    lenient_in_tvm="Without `units` it never compared the inner dimensions of the two matrices.",
    compute=_turned_product,
    gradient="products.matmul",
    lowering="matmul.matmul",
)


def matmul(
    tensor_a: Expr,
    tensor_b: Expr,
    units: int | None = None,
    out_dtype: str = "",
    transpose_a: bool = False,
    transpose_b: bool = False,
) -> Call:
    """`tensor_a` (…, m, k) times `tensor_b` (k, n): (…, m, n).

    With transpose_a it is given as (…, k, m), with transpose_b as (n, k); with transpose_b alone this is
    `dense`.
    """
    if transpose_b and not transpose_a:
        return dense(tensor_a, tensor_b, units, out_dtype)
    attrs = MatmulAttrs(units=units, out_dtype=out_dtype, transpose_a=transpose_a, transpose_b=transpose_b)
    return Call(_MATMUL, [expr(tensor_a), expr(tensor_b)], attrs)


def _batch_matmul(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    """Inputs (b, m, k) and (b, k, n), each as if swapped back; output (b, m, n). A batch of 1 serves all."""
    a, b, out = types
    if isinstance(a, IncompleteType) or isinstance(b, IncompleteType):
        return False
    a, b = tensor(a, 0, "tensor_a"), tensor(b, 1, "tensor_b")
    for operand, type_ in enumerate((a, b)):
        if len(type_.shape) != 3:
            raise RelationError(
                f"argument {operand} has shape {show_shape(type_.shape)}, but must have three axes: batch, "
                "rows, columns",
                "relay.reshape makes the leading axes one"
                if len(type_.shape) > 3
                else "relay.expand_dims adds a batch axis",
                culprits=(operand,),
            )
    rows, inner = (a.shape[2], a.shape[1]) if attrs.transpose_a else a.shape[1:]
    other, columns = (b.shape[2], b.shape[1]) if attrs.transpose_b else b.shape[1:]
    if not same_dim(inner, other):
        message = (
            f"the inner dimensions differ: {inner} of {show_shape(a.shape)} and {other} of "
            f"{show_shape(b.shape)}"
        )
        help = (
            f"transpose_b={not attrs.transpose_b} would read {columns} there"
            if columns == inner
            else _BATCH_HELP
        )
        raise RelationError(message, help, culprits=(0, 1))
    batch = _batch(a.shape[0], b.shape[0])
    reporter.assign(out, TensorType.of((batch, rows, columns), attrs.out_dtype or a.dtype))
    return True


_BATCH_HELP = (
    "the columns of the first matrices must be the rows of the second; relay's batch_matmul reads the "
    "second transposed by default"
)


def _batch(a: Dim, b: Dim) -> Dim:
    if a == b:
        return a
    if isinstance(a, Any) or isinstance(b, Any):
        return Any()
    if a == 1 or b == 1:
        return b if a == 1 else a
    raise RelationError(
        f"the batches differ: {a} and {b} matrices",
        "the two must be equal, or one of them 1",
        culprits=(0, 1),
    )


def _batch_flops(attrs: Anything, inputs: Sequence[Type], output: Type) -> int:
    """A multiply and an add for each output element and inner index."""
    a = inputs[0]
    inner = a.shape[1 if attrs.transpose_a else 2] if isinstance(a, TensorType) else 1
    return 2 * size_of(output) * (inner if isinstance(inner, int) else 1)


_BATCH_MATMUL = declare(
    "nn.batch_matmul",
    "Multiplies matrices pair by pair; either side may be given transposed.",
    formula=r"y_{b,i,j} = \sum_{k} a_{b,i,k}\, b_{b,k,j}",
    relation=Relation("BatchMatmul", _batch_matmul, "{out} = {0} · {1}, one product a batch"),
    inputs=("tensor_a", "tensor_b"),
    attrs=BatchMatmulAttrs,
    pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
    flops=_batch_flops,
    family="matmul",
    level=10,
    lenient_in_tvm="Where any dimension was unknown it compared none of the others.",
    compute=_turned_product,
    gradient="products.batch_matmul",
    lowering="matmul.batch_matmul",
)


def batch_matmul(
    tensor_a: Expr, tensor_b: Expr, out_dtype: str = "", transpose_a: bool = False, transpose_b: bool = True
) -> Call:
    """`tensor_a` (b, m, k) times `tensor_b`, which is (b, n, k) unless transpose_b is False: (b, m, n)."""
    attrs = BatchMatmulAttrs(out_dtype=out_dtype, transpose_a=transpose_a, transpose_b=transpose_b)
    return Call(_BATCH_MATMUL, [expr(tensor_a), expr(tensor_b)], attrs)


def _bias_add(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    """Inputs of any shape and (d) for the axis of length d; output like the first."""
    data, bias, out = types
    if isinstance(data, IncompleteType):
        return False
    data = tensor(data, 0, "data")
    axis_vector(bias, 1, "the bias", data, normal_axis(attrs.axis, len(data.shape), "bias_add"), reporter)
    reporter.assign(out, data)
    return True


_BIAS_ADD = declare(
    "nn.bias_add",
    "Adds a vector along one axis.",
    formula=r"y_{\ldots,c,\ldots} = x_{\ldots,c,\ldots} + b_{c}",
    relation=Relation("BiasAdd", _bias_add, "{out} = {0}, and {1} lies along its axis"),
    inputs=("data", "bias"),
    attrs=BiasAddAttrs,
    pattern=OpPattern.BROADCAST,
    flops=flops_per_output,
    family="arithmetic",
    level=1,
    compute=lambda attrs, x, bias: x + along(bias, attrs.axis, x.ndim),
    gradient="elementwise.bias_add",
    lowering="binary.bias_add",
)


def bias_add(data: Expr, bias: Expr, axis: int = 1) -> Call:
    """`data` plus `bias`, a vector as long as the data's `axis`."""
    return Call(_BIAS_ADD, [expr(data), expr(bias)], BiasAddAttrs(axis=axis))
