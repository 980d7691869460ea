"""Operators that replace elements at some positions: ends of sequences, triangles and diagonals."""

from __future__ import annotations

from math import prod
from typing import Annotated
from typing import Any as Anything

from ..ir.attrs import Attrs, attr
from ..ir.declaration import Gradient, Precision, Trait
from ..ir.expr import Call, Expr, const
from ..ir.op import OpPattern, RelationError, no_flops
from ..ir.show import show_shape
from ..ir.types import Dim, Type
from .arguments import Operand
from .calls import relay
from .examples import X, ints, t
from .gradient_tools import extents, gathered, numbers_of, zeros_of
from .layouts.layout import NO_LAYOUT_RULE
from .numeric import Array, along, np
from .operator import call, operator
from .relation import forward, integers, same_dim, same_dtypes, scalar, tensor
from .te.library import tirx
from .te.lowered import Lowered
from .te.tensors import Tensor, Value, cast, clamp, converted, dims, dtype_of, every, number, select, stage

__all__ = ["matrix_set_diag", "sequence_mask", "trilu"]


def _sequence_mask(attrs: Anything, data: Type, valid_length: Type) -> Type:
    x, lengths = tensor(data, 0, "data"), tensor(valid_length, 1, "valid_length")
    if attrs.axis not in (0, 1):
        raise RelationError(f"axis is {attrs.axis}, but sequences run along axis 0 or 1")
    if len(x.shape) < 2:
        raise RelationError(
            f"the data must have an axis for sequences and one along them, but it is {x}", culprits=(0,)
        )
    batch = x.shape[1 - attrs.axis]
    if len(lengths.shape) != 1 or not same_dim(lengths.shape[0], batch):
        raise RelationError(
            f"valid_length has the shape {show_shape(lengths.shape)}, but axis {1 - attrs.axis} of the data "
            f"has {batch} sequences",
            "give one length per sequence; is the other axis meant?",
            culprits=(0, 1),
        )
    return x


def _masked(attrs: Anything, x: Array, valid_length: Array) -> Array:
    position = along(np.arange(x.shape[attrs.axis]), attrs.axis, x.ndim)
    within = position < along(valid_length, 1 - attrs.axis, x.ndim)
    return np.where(within, x, np.asarray(attrs.mask_value).astype(x.dtype))


def _sequence_mask_gradient(call: Call, grad: Expr) -> list[Expr | None]:
    """Mask the gradient, because elements after the end of a sequence do not come from the data."""
    assert call.attrs is not None
    return [relay.sequence_mask(grad, call.args[1], 0, call.attrs["axis"]), None]


def _sequence_mask_te(lowered: Lowered) -> list[Tensor]:
    (x, lengths), attrs = lowered.inputs, lowered.attrs
    dtype, kind = dtype_of(x), dtype_of(lengths)
    mask = converted(attrs.mask_value, dtype)

    def value(*i: Value) -> Value:
        within = cast(i[attrs.axis], kind) < lengths(i[1 - attrs.axis])
        return select(within, x(*i), mask)

    return [stage(x.shape, value, lowered.name)]


@operator(
    "sequence_mask",
    description="Replaces the elements beyond each sequence's length by one value.",
    formula=r"y_{i b} = \begin{cases} x_{i b} & i < \ell_b \\ v & i \ge \ell_b \end{cases}",
    family="index",
    relation=forward("SequenceMask", "{out} = {0}, if {1} has a length for each sequence", _sequence_mask),
    pattern=OpPattern.INJECTIVE,
    flops=no_flops,
    reference=_masked,
    gradient=Gradient("dx = dy before the end of each sequence, else 0", _sequence_mask_gradient),
    lowering=_sequence_mask_te,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    example=lambda build: build(X, ints(6), -1.5),
)
def sequence_mask(
    data: Operand,
    valid_length: Operand,
    mask_value: Annotated[float, attr(0.0, "The value after the end of a sequence.")] = 0,
    axis: Annotated[
        int, attr(0, "The axis along which sequences run, 0 or 1; the other of the two is the batch.")
    ] = 0,
) -> Call:
    """Replace the elements beyond each sequence's `valid_length` along `axis` by `mask_value`."""


class MatrixSetDiagAttrs(Attrs, key="relay.attrs.MatrixSetDiagAttrs"):
    k1: int = attr(0, "The lowest diagonal that is set; 0 is the main one, below it they are negative.")
    k2: int = attr(0, "The highest diagonal that is set.")
    super_diag_right_align: bool = attr(
        True, "Whether short diagonals above the main one are padded on the left."
    )
    sub_diag_right_align: bool = attr(
        False, "Whether short diagonals below the main one are padded on the left."
    )


def _matrix_set_diag(attrs: MatrixSetDiagAttrs, data: Type, diagonal: Type) -> Type:
    x, d = tensor(data, 0, "input"), tensor(diagonal, 1, "diagonal")
    same_dtypes(x, d)
    if len(x.shape) < 2:
        raise RelationError(f"the data must be matrices, but is {x}", culprits=(0,))
    if attrs.k1 > attrs.k2:
        raise RelationError(f"the lowest diagonal, {attrs.k1}, is above the highest, {attrs.k2}")
    *batch, rows, columns = x.shape
    expected: list[Dim] = [*batch] if attrs.k1 == attrs.k2 else [*batch, attrs.k2 - attrs.k1 + 1]
    if isinstance(rows, int) and isinstance(columns, int):
        longest = min(rows + min(attrs.k2, 0), columns - max(attrs.k1, 0))
        if longest < 1:
            raise RelationError(
                f"a matrix of {rows} rows and {columns} columns has no diagonal {attrs.k1}", culprits=(0,)
            )
        expected.append(longest)
    else:
        expected.append(d.shape[-1] if d.shape else 1)
    if len(expected) != len(d.shape) or not all(map(same_dim, expected, d.shape)):
        raise RelationError(
            f"diagonal has the shape {show_shape(d.shape)}, but the diagonals {attrs.k1} to {attrs.k2} of "
            f"{show_shape(x.shape)} have {show_shape(tuple(expected))}",
            culprits=(0, 1),
        )
    return x


def _with_diagonals(attrs: MatrixSetDiagAttrs, x: Array, diagonal: Array) -> Array:
    y = x.copy()
    rows, columns = x.shape[-2:]
    diagonals = diagonal if attrs.k1 != attrs.k2 else diagonal[..., None, :]
    for nth, k in enumerate(range(attrs.k2, attrs.k1 - 1, -1)):  # the highest diagonal comes first
        i, j = max(-k, 0), max(k, 0)
        steps = np.arange(min(rows - i, columns - j))
        right = attrs.super_diag_right_align if k > 0 else attrs.sub_diag_right_align
        first = diagonals.shape[-1] - len(steps) if right else 0
        y[..., i + steps, j + steps] = diagonals[..., nth, first + steps]
    return y


def _matrix_set_diag_gradient(call: Call, grad: Expr) -> list[Expr]:
    """Return the gradients of the data and of the diagonals. The operator itself, applied to flat indices of
    the diagonals' elements, yields the sources of the result's elements.
    """
    data, diagonal = call.args
    assert call.attrs is not None
    by_data = Call(call.op, [grad, zeros_of(diagonal)], call.attrs)
    # padding of the diagonals is never read; the other elements have no source in the diagonals
    spare = prod(extents(diagonal))
    nowhere = relay.zeros_like(relay.cast(data, "int32")) + const(spare, "int32")
    numbered = Call(call.op, [nowhere, numbers_of(diagonal, call)], call.attrs)
    return [by_data, gathered(call, grad, diagonal, numbered, spare=True)]


def _matrix_set_diag_te(lowered: Lowered) -> list[Tensor]:
    """Write the diagonals into the matrices, the highest one first; a short one is aligned at the left or the
    right end of its row.
    """
    (x, diagonal), attrs = lowered.inputs, lowered.attrs
    rows, columns = dims(x)[-2:]
    width = dims(diagonal)[-1]

    def value(*i: Value) -> Value:
        row, column = i[-2:]
        k = column - row
        length = tirx.min(rows + tirx.min(k, 0), columns - tirx.max(k, 0))
        right = select(
            k > 0,
            number(attrs.super_diag_right_align, "bool"),
            number(attrs.sub_diag_right_align, "bool"),
        )
        padding = width - length
        position = tirx.min(row, column) + select(right, padding, padding * 0)
        at = clamp(position, 0, width - 1)
        which = [] if attrs.k1 == attrs.k2 else [clamp(attrs.k2 - k, 0, attrs.k2 - attrs.k1)]
        replacement = diagonal(*i[:-2], *which, at)
        return select(every([k >= attrs.k1, k <= attrs.k2]), replacement, x(*i))

    return [stage(x.shape, value, lowered.name)]


@operator(
    "matrix_set_diag",
    description="Replaces diagonals of matrices by given values.",
    formula=(
        r"y_{i j} = \begin{cases} d_{j - i} & k_1 \le j - i \le k_2 \\ x_{i j} & \text{elsewhere} \end{cases}"
    ),
    family="index",
    relation=forward("MatrixSetDiag", "{out} = {0}, if {1} has the shape of its diagonals", _matrix_set_diag),
    inputs=("input", "diagonal"),
    attrs=MatrixSetDiagAttrs,
    pattern=OpPattern.INJECTIVE,
    flops=no_flops,
    reference=_with_diagonals,
    gradient=Gradient(
        "d diagonal = dy on the diagonals that are set; dx = dy elsewhere, 0 on them",
        _matrix_set_diag_gradient,
    ),
    lowering=_matrix_set_diag_te,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    example=lambda build: build(X, t(2, name="d"), 1),
)
def matrix_set_diag(
    data: Operand, diagonal: Operand, k: int | tuple[int, int] = 0, align: str = "RIGHT_LEFT"
) -> Call:
    """Replace diagonal `k`, or k[0] to k[1], of `data`; `align` aligns short super- and subdiagonals."""
    above, _, below = align.partition("_")
    if above not in ("LEFT", "RIGHT") or below not in ("LEFT", "RIGHT"):
        raise ValueError(
            f'align is "{align:.20}", but it is like "RIGHT_LEFT": above, then below the main diagonal'
        )
    low, high = (k, k) if isinstance(k, int) else (k[0], k[-1])
    return call(
        "matrix_set_diag",
        [data, diagonal],
        k1=low,
        k2=high,
        super_diag_right_align=above == "RIGHT",
        sub_diag_right_align=below == "RIGHT",
    )


def _trilu(attrs: Anything, data: Type, k: Type) -> Type:
    x = tensor(data, 0, "data")
    integers(scalar(k, 1, "k"), 1, "k")
    if len(x.shape) < 2:
        raise RelationError(f"the data must be matrices, but is {x}", culprits=(0,))
    return x


def _trilu_gradient(call: Call, grad: Expr) -> list[Expr | None]:
    assert call.attrs is not None
    return [relay.trilu(grad, call.args[1], call.attrs["upper"]), None]


def _trilu_te(lowered: Lowered) -> list[Tensor]:
    x, k = lowered.inputs
    zero = number(0, dtype_of(x))

    def value(*i: Value) -> Value:
        offset, limit = (i[-1] - i[-2]).astype("int64"), k().astype("int64")
        return select(offset >= limit if lowered.attrs.upper else offset <= limit, x(*i), zero)

    return [stage(x.shape, value, lowered.name)]


@operator(
    "trilu",
    description="Keeps the upper or lower triangle of matrices and sets all other elements to zero.",
    formula=(
        r"y_{i j} = \begin{cases} x_{i j} & j - i \ge k \\ 0 & j - i < k \end{cases} \quad "
        r"\text{for the upper}"
    ),
    family="index",
    level=3,
    relation=forward("Trilu", "{out} = {0}, if {1} is an integer scalar", _trilu),
    pattern=OpPattern.ELEMENTWISE,
    flops=no_flops,
    reference=lambda attrs, x, k: (np.triu if attrs.upper else np.tril)(x, k.item()),
    gradient=Gradient("dx = dy in the triangle, else 0", _trilu_gradient),
    lowering=_trilu_te,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    traits={Trait.DISPLACED},
    example=lambda build: build(X, 1, False),
    lenient_in_tvm="It accepted data of fewer than two axes, and a k that is not an integer.",
)
def trilu(
    data: Operand,
    k: Operand,
    upper: Annotated[
        bool, attr(True, "Whether the triangle above the diagonal is kept, rather than that below.")
    ] = True,
) -> Call:
    """Keep the triangle of `data` on and above diagonal `k` (`upper`), or on and below it."""
