"""Matrix products, single or batched, where either operand may be transposed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated
from typing import Any as Anything

from ...ir.attrs import attr
from ...ir.declaration import Gradient, Precision, Trait
from ...ir.expr import Call, Expr
from ...ir.op import OpPattern, Relation, RelationError, Reporter, size_of
from ...ir.show import show_shape
from ...ir.typed import tensor_type
from ...ir.types import Any, Dim, IncompleteType, Shape, TensorType, Type
from ..arguments import Operand
from ..calls import relay
from ..examples import X, t
from ..gradient_tools import axis_count, extents
from ..layouts.layout import NO_LAYOUT_RULE
from ..operator import call as call_of
from ..operator import operator
from ..relation import same_dim, tensor
from ..te.lowered import Lowered
from ..te.matmul import products
from ..te.tensors import Tensor, Value, dims, known
from .product import OUT_DTYPE, as_operand, check_units, derivatives, turned_product, widened

__all__ = ["batch_matmul", "matmul"]


def _matmul_relation(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    """Relate the types: inputs (…, m, k) and (k, n), after undoing their transposition; output (…, m, n)."""
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
    check_units(units)
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
    """Count a multiplication and an addition for each output element and inner index."""
    a = inputs[0]
    inner = (
        a.shape[-2 if attrs.transpose_a else -1]
        if isinstance(a, TensorType) and len(a.shape) > 1
        else size_of(a)
    )
    return 2 * size_of(output) * (inner if isinstance(inner, int) else 1)


def _matmul_gradient(call: Call, grad: Expr) -> list[Expr]:
    assert call.attrs is not None
    (a, b), (transposed_a, transposed_b) = call.args, (call.attrs["transpose_a"], call.attrs["transpose_b"])
    x, y = widened(a, call), widened(b, call)
    if axis_count(a) == 2:
        by_a, by_b = derivatives(relay.nn.matmul, x, y, grad, transposed_a, transposed_b)
        return [as_operand(by_a, call, 0), as_operand(by_b, call, 1)]
    # several matrices times a single one, whose derivative is the sum over all of them
    if transposed_a:
        last = axis_count(a) - 1
        order = [*range(last - 1), last, last - 1]
        by_a = relay.transpose(relay.nn.matmul(grad, y, transpose_b=not transposed_b), order)
        x = relay.transpose(x, order)
    else:
        by_a = relay.nn.matmul(grad, y, transpose_b=not transposed_b)
    rows = relay.reshape(x, (-1, extents(b)[1 if transposed_b else 0]))
    columns = relay.reshape(grad, (-1, extents(b)[0 if transposed_b else 1]))
    first, second = (columns, rows) if transposed_b else (rows, columns)
    by_b = relay.nn.matmul(first, second, transpose_a=True)
    return [as_operand(by_a, call, 0), as_operand(by_b, call, 1)]


def _matmul_te(call: Lowered) -> list[Tensor]:
    a, b = call.inputs
    attrs, of_a, of_b = call.attrs, dims(a), dims(b)
    lead, inner = of_a[:-1], of_a[-1]
    if attrs.transpose_a:
        lead, inner = (*of_a[:-2], of_a[-1]), of_a[-2]

    def pair(k: Value, *i: Value) -> tuple[Value, Value]:
        left = a(*i[:-2], k, i[-2]) if attrs.transpose_a else a(*i[:-1], k)
        return left, b(i[-1], k) if attrs.transpose_b else b(k, i[-1])

    return products(call, (*lead, of_b[0 if attrs.transpose_b else 1]), inner, pair)


@operator(
    "nn.matmul",
    description="Multiplies by a matrix; either operand may be given transposed.",
    formula=r"y_{\ldots,j} = \sum_{k} a_{\ldots,k}\, b_{k,j}",
    family="matmul",
    level=1,
    relation=Relation("Matmul", _matmul_relation, "{out} = {0} · {1}"),
    pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
    flops=_matmul_flops,
    reference=turned_product,
    gradient=Gradient("da = dy bᵀ, db = aᵀ dy", _matmul_gradient),
    lowering=_matmul_te,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    example=lambda build: build(X, t(6, 3, name="m")),
    lenient_in_tvm="Without `units` it did not compare the inner dimensions of the two matrices.",
)
def matmul(
    tensor_a: Operand,
    tensor_b: Operand,
    units: Annotated[
        int | None, attr(None, "The number of output columns; by default the second matrix's.")
    ] = None,
    out_dtype: Annotated[str, attr("", OUT_DTYPE, kind="DType")] = "",
    transpose_a: Annotated[
        bool, attr(False, "Whether the last two axes of the first argument are swapped.")
    ] = False,
    transpose_b: Annotated[
        bool, attr(False, "Whether the second matrix is given transposed, (columns, inner).")
    ] = False,
) -> Call:
    """Multiply `tensor_a` (…, m, k) by `tensor_b` (k, n): (…, m, n).

    With transpose_a the first operand is (…, k, m), with transpose_b the second is (n, k); with transpose_b
    alone this is `dense`.
    """
    if transpose_b and not transpose_a:
        return relay.nn.dense(tensor_a, tensor_b, units, out_dtype)
    return call_of(
        "nn.matmul",
        [tensor_a, tensor_b],
        units=units,
        out_dtype=out_dtype,
        transpose_a=transpose_a,
        transpose_b=transpose_b,
    )


def _batch_relation(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    """Relate the types: inputs (b, m, k) and (b, k, n), after undoing their transposition; output (b, m, n).
    A batch of 1 is broadcast.
    """
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
    batch = _batch_of(a.shape[0], b.shape[0])
    reporter.assign(out, TensorType.of((batch, rows, columns), attrs.out_dtype or a.dtype))
    return True


_BATCH_HELP = (
    "the columns of the first matrices must be the rows of the second; relay's batch_matmul reads the "
    "second transposed by default"
)


def _batch_of(a: Dim, b: Dim) -> Dim:
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
    """Count a multiplication and an addition for each output element and inner index."""
    a = inputs[0]
    inner = a.shape[1 if attrs.transpose_a else 2] if isinstance(a, TensorType) else 1
    return 2 * size_of(output) * (inner if isinstance(inner, int) else 1)


def _batch_product(a: Expr, b: Expr, transpose_a: bool, transpose_b: bool) -> Expr:
    return relay.nn.batch_matmul(a, b, transpose_a=transpose_a, transpose_b=transpose_b)


def _batch_gradient(call: Call, grad: Expr) -> list[Expr]:
    """Return the gradients; the gradient of a broadcast batch of 1 is the sum over the other operand's
    batch.
    """
    assert call.attrs is not None
    a, b = call.args
    transposed_a, transposed_b = call.attrs["transpose_a"], call.attrs["transpose_b"]
    products = derivatives(
        _batch_product, widened(a, call), widened(b, call), grad, transposed_a, transposed_b
    )
    result = []
    for number, (argument, by) in enumerate(zip(call.args, products, strict=True)):
        whole = as_operand(by, call, number)
        same = tensor_type(argument).shape[0] == tensor_type(call).shape[0]
        result.append(whole if same else relay.collapse_sum_like(whole, argument))
    return result


def _batch_te(call: Lowered) -> list[Tensor]:
    a, b = call.inputs
    attrs, of_a, of_b = call.attrs, dims(a), dims(b)
    rows, inner = (of_a[2], of_a[1]) if attrs.transpose_a else (of_a[1], of_a[2])
    columns = of_b[1] if attrs.transpose_b else of_b[2]
    one_a, one_b = known(of_a[0]) == 1, known(of_b[0]) == 1

    def pair(k: Value, n: Value, i: Value, j: Value) -> tuple[Value, Value]:
        of_left, of_right = 0 if one_a else n, 0 if one_b else n
        left = a(of_left, k, i) if attrs.transpose_a else a(of_left, i, k)
        return left, b(of_right, j, k) if attrs.transpose_b else b(of_right, k, j)

    return products(call, (of_b[0] if one_a else of_a[0], rows, columns), inner, pair)


@operator(
    "nn.batch_matmul",
    description="Multiplies two batches of matrices; either operand may be given transposed.",
    formula=r"y_{b,i,j} = \sum_{k} a_{b,i,k}\, b_{b,k,j}",
    family="matmul",
    level=10,
    relation=Relation("BatchMatmul", _batch_relation, "{out} = {0} · {1} for each batch index"),
    pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
    flops=_batch_flops,
    reference=turned_product,
    gradient=Gradient("da = dy bᵀ, db = aᵀ dy, matrix by matrix", _batch_gradient),
    lowering=_batch_te,
    layout=NO_LAYOUT_RULE,
    precision=Precision.ALWAYS,
    traits={Trait.MULTIPLY_ADD},
    example=lambda build: build(t(2, 3, 4), t(2, 5, 4, name="y")),
    lenient_in_tvm="Where any dimension was unknown it compared none of the others.",
)
def batch_matmul(
    tensor_a: Operand,
    tensor_b: Operand,
    out_dtype: Annotated[str, attr("", OUT_DTYPE, kind="DType")] = "",
    transpose_a: Annotated[
        bool,
        attr(False, "Whether the matrices of the first argument are given transposed, (batch, inner, rows)."),
    ] = False,
    transpose_b: Annotated[
        bool,
        attr(
            False,
            "Whether the matrices of the second argument are given transposed, (batch, columns, inner).",
        ),
    ] = True,
) -> Call:
    """Multiply `tensor_a` (b, m, k) by `tensor_b`, (b, n, k) unless transpose_b is False: (b, m, n)."""
