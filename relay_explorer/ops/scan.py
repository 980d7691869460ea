"""Running sums and products, and other operators that treat a tensor as a row or a matrix."""

from __future__ import annotations

from ..ir.attrs import Attrs, DType, attr
from ..ir.expr import Call, Expr
from ..ir.op import Compute, Flops, Op, OpPattern, Relation, RelationError, flops_per_output, no_flops
from ..ir.show import show_shape
from ..ir.tuple_wrapper import TupleWrapper
from ..ir.types import Dim, TensorType, TupleType, Type
from .arguments import expr
from .declare import declare
from .numeric import Array, along, element_type, np
from .relation import forward, integers, normal_axis, same_dim, same_dtypes, scalar, tensor, times

__all__ = ["cumprod", "cumsum", "invert_permutation", "matrix_set_diag", "sequence_mask", "trilu", "unique"]


def _row(
    name: str,
    description: str,
    formula: str,
    relation: Relation,
    attrs: type[Attrs] | None,
    *,
    inputs: tuple[str, ...] = ("data",),
    pattern: OpPattern = OpPattern.OPAQUE,
    flops: Flops = no_flops,
    family: str = "index",
    level: int = 3,
    compute: Compute,
    lenient_in_tvm: str = "",
    gradient: str = "",
) -> Op:
    return declare(
        name, description, formula=formula, relation=relation, inputs=inputs, attrs=attrs, pattern=pattern,
        flops=flops, compute=compute, family=family, level=level, lenient_in_tvm=lenient_in_tvm,
        gradient=gradient, lowering=f"scan.{name}",
    )  # fmt: skip


class ScanopAttrs(Attrs, key="relay.attrs.ScanopAttrs"):
    axis: int | None = attr(None, "The axis along which is counted; None is the flattened tensor.")
    dtype: DType | None = attr(None, "The element type of the result; None is the data's.")
    exclusive: bool = attr(False, "Whether each place leaves out its own element.")


def _scan(attrs: ScanopAttrs, data: Type) -> Type:
    x = tensor(data, 0, "data")
    dtype = attrs.dtype or x.dtype
    if attrs.axis is not None:
        normal_axis(attrs.axis, len(x.shape), "it")
        return TensorType.of(x.shape, dtype)
    total: Dim = 1
    for dim in x.shape:
        total = times(total, dim)
    return TensorType.of((total,), dtype)


def _running(name: str) -> Compute:
    """NumPy's scan of that name; an exclusive one is moved on by one place, from 0 or 1."""

    def compute(attrs: ScanopAttrs, x: Array) -> Array:
        axis, row = (0, x.reshape(-1)) if attrs.axis is None else (attrs.axis, x)
        y = getattr(np, name)(row, axis, dtype=element_type(attrs.dtype or x.dtype))
        if not attrs.exclusive or not y.size:
            return y
        y = np.roll(y, 1, axis)
        np.moveaxis(y, axis, 0)[0] = int(name == "cumprod")
        return y

    return compute


_SCAN = forward("Scanop", "{out} = {0}, flattened unless `axis` is given", _scan)
_LAXER_AXIS = "It did not check that the tensor has the axis."
_CUMSUM = _row(
    "cumsum",
    "The sum of all elements up to each place along an axis.",
    r"y_i = \sum_{j \le i} x_j",
    _SCAN,
    ScanopAttrs,
    flops=flops_per_output,
    family="reduction",
    lenient_in_tvm=_LAXER_AXIS,
    compute=_running("cumsum"),
    gradient="reduce.cumsum",
)
_CUMPROD = _row(
    "cumprod",
    "The product of all elements up to each place along an axis.",
    r"y_i = \prod_{j \le i} x_j",
    _SCAN,
    ScanopAttrs,
    flops=flops_per_output,
    family="reduction",
    lenient_in_tvm=_LAXER_AXIS,
    compute=_running("cumprod"),
    gradient="reduce.cumprod",
)


def cumsum(data: Expr, axis: int | None = None, dtype: object = None, exclusive: bool | None = None) -> Expr:
    """The running sum of `data` along `axis`; of the flattened data where None."""
    return Call(_CUMSUM, [expr(data)], ScanopAttrs(axis=axis, dtype=dtype, exclusive=bool(exclusive)))


def cumprod(data: Expr, axis: int | None = None, dtype: object = None, exclusive: bool | None = None) -> Expr:
    """The running product of `data` along `axis`; of the flattened data where None."""
    return Call(_CUMPROD, [expr(data)], ScanopAttrs(axis=axis, dtype=dtype, exclusive=bool(exclusive)))


class SequenceMaskAttrs(Attrs, key="relay.attrs.SequenceMaskAttrs"):
    mask_value: float = attr(0.0, "What stands after the end of a sequence.")
    axis: int = attr(0, "The axis along which sequences run, 0 or 1; the other of the two numbers them.")


def _sequence_mask(attrs: SequenceMaskAttrs, data: Type, valid_length: Type) -> Type:
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
            f"numbers {batch} sequences",
            "give one length a sequence; is the other axis meant?",
            culprits=(0, 1),
        )
    return x


def _masked(attrs: SequenceMaskAttrs, x: Array, valid_length: Array) -> Array:
    place = along(np.arange(x.shape[attrs.axis]), attrs.axis, x.ndim)
    within = place < along(valid_length, 1 - attrs.axis, x.ndim)
    return np.where(within, x, np.asarray(attrs.mask_value).astype(x.dtype))


_SEQUENCE_MASK = _row(
    "sequence_mask", "Sequences of different lengths with all that follows their ends replaced by one value.",
    r"y_{i b} = \begin{cases} x_{i b} & i < \ell_b \\ v & i \ge \ell_b \end{cases}",
    forward("SequenceMask", "{out} = {0}, with one length of {1} each", _sequence_mask), SequenceMaskAttrs,
    inputs=("data", "valid_length"), pattern=OpPattern.INJECTIVE, level=10, compute=_masked,
    gradient="indexing.sequence_mask",
)  # fmt: skip


def sequence_mask(data: Expr, valid_length: Expr, mask_value: float = 0, axis: int = 0) -> Expr:
    """`data` with what lies beyond each sequence's `valid_length` along `axis` replaced by `mask_value`."""
    attrs = SequenceMaskAttrs(mask_value=mask_value, axis=axis)
    return Call(_SEQUENCE_MASK, [expr(data), expr(valid_length)], attrs)


def _invert_permutation(attrs: None, data: Type) -> Type:
    x = integers(data, 0, "data")
    if len(x.shape) != 1:
        raise RelationError(f"a permutation is a vector of indices, not {x}", culprits=(0,))
    return x


def _inverse(attrs: None, x: Array) -> Array:
    if sorted(x.tolist()) != list(range(len(x))):
        raise ValueError(f"the data is no permutation of 0 to {len(x) - 1}")
    return np.argsort(x).astype(x.dtype)


_INVERT_PERMUTATION = _row(
    "invert_permutation", "The permutation that undoes another.", r"y_{x_i} = i",
    forward("InvertPermutation", "{out} = {0}, a vector of integers", _invert_permutation), None,
    pattern=OpPattern.INJECTIVE, level=1,
    lenient_in_tvm="It accepted tensors of every shape and element type.", compute=_inverse,
    gradient="elementwise.none",
)  # fmt: skip


def invert_permutation(data: Expr) -> Expr:
    """The permutation that undoes `data`, a vector of the indices from 0."""
    return Call(_INVERT_PERMUTATION, [expr(data)])


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
        raise RelationError(f"diagonals are those of matrices, but the data is {x}", culprits=(0,))
    if attrs.k1 > attrs.k2:
        raise RelationError(f"the lowest diagonal, {attrs.k1}, lies above the highest, {attrs.k2}")
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
    given = diagonal if attrs.k1 != attrs.k2 else diagonal[..., None, :]
    for number, k in enumerate(range(attrs.k2, attrs.k1 - 1, -1)):  # the highest diagonal comes first
        i, j = max(-k, 0), max(k, 0)
        steps = np.arange(min(rows - i, columns - j))
        right = attrs.super_diag_right_align if k > 0 else attrs.sub_diag_right_align
        first = given.shape[-1] - len(steps) if right else 0
        y[..., i + steps, j + steps] = given[..., number, first + steps]
    return y


_MATRIX_SET_DIAG = _row(
    "matrix_set_diag",
    "Matrices with diagonals replaced by given values.",
    r"y_{i j} = \begin{cases} d_{j - i} & k_1 \le j - i \le k_2 \\ x_{i j} & \text{elsewhere} \end{cases}",
    forward("MatrixSetDiag", "{out} = {0}, if {1} has the shape of its diagonals", _matrix_set_diag),
    MatrixSetDiagAttrs,
    inputs=("input", "diagonal"),
    pattern=OpPattern.INJECTIVE,
    level=10,
    compute=_with_diagonals,
    gradient="indexing.matrix_set_diag",
)


def matrix_set_diag(
    data: Expr, diagonal: Expr, k: int | tuple[int, int] = 0, align: str = "RIGHT_LEFT"
) -> Expr:
    """`data` with diagonal `k`, or k[0] to k[1], replaced; `align` is that of super- and subdiagonals."""
    above, _, below = align.partition("_")
    if above not in ("LEFT", "RIGHT") or below not in ("LEFT", "RIGHT"):
        raise ValueError(
            f'align is "{align:.20}", but it is like "RIGHT_LEFT": above, then below the main diagonal'
        )
    low, high = (k, k) if isinstance(k, int) else (k[0], k[-1])
    attrs = MatrixSetDiagAttrs(
        k1=low, k2=high, super_diag_right_align=above == "RIGHT", sub_diag_right_align=below == "RIGHT"
    )
    return Call(_MATRIX_SET_DIAG, [expr(data), expr(diagonal)], attrs)


class TriluAttrs(Attrs, key="relay.attrs.TriluAttrs"):
    upper: bool = attr(True, "Whether the part above the diagonal is kept, rather than that below.")


def _trilu(attrs: TriluAttrs, data: Type, k: Type) -> Type:
    x = tensor(data, 0, "data")
    integers(scalar(k, 1, "k"), 1, "k")
    if len(x.shape) < 2:
        raise RelationError(f"triangles are those of matrices, but the data is {x}", culprits=(0,))
    return x


_TRILU = _row(
    "trilu",
    "The upper or the lower triangle of matrices; zero elsewhere.",
    r"y_{i j} = \begin{cases} x_{i j} & j - i \ge k \\ 0 & j - i < k \end{cases} \quad \text{for the upper}",
    forward("Trilu", "{out} = {0}, if {1} is one integer", _trilu),
    TriluAttrs,
    inputs=("data", "k"),
    pattern=OpPattern.ELEMWISE,
    lenient_in_tvm="It accepted data of fewer than two axes, and a k that is no integer.",
    compute=lambda attrs, x, k: (np.triu if attrs.upper else np.tril)(x, k.item()),
    gradient="indexing.trilu",
)


def trilu(data: Expr, k: Expr | int, upper: bool = True) -> Expr:
    """The triangle of `data` on and above diagonal `k` (`upper`), or on and below it."""
    return Call(_TRILU, [expr(data), expr(k)], TriluAttrs(upper=upper))


class UniqueAttrs(Attrs, key="relay.attrs.UniqueAttrs"):
    sorted: bool = attr(True, "Whether the values come in rising order, rather than as they first appear.")
    return_counts: bool = attr(False, "Whether the result also says how often each value appears.")


def _unique(attrs: UniqueAttrs, data: Type) -> Type:
    x = tensor(data, 0, "data")
    if len(x.shape) != 1:
        raise RelationError(
            f"unique takes a vector, not {x}", "relay.reshape(data, -1) makes one", culprits=(0,)
        )
    places = TensorType.of(x.shape, "int32")
    fields = [x, places, places, TensorType.of((1,), "int32")]
    return TupleType([*fields, places] if attrs.return_counts else fields)


def _distinct(attrs: UniqueAttrs, x: Array) -> tuple[Array, ...]:
    """All but their number are filled up with zeros to the length of `x`, since a type has one length."""
    values, first, inverse, counts = np.unique(x, True, True, True)
    if not attrs.sorted:
        order = np.argsort(first)
        values, first, counts = values[order], first[order], counts[order]
        inverse = np.argsort(order)[inverse]

    def filled(row: Array, dtype: object = "int32") -> Array:
        return np.pad(row, (0, len(x) - len(row))).astype(dtype)

    fields = [filled(values, x.dtype), filled(first), filled(inverse), np.array([len(values)], "int32")]
    return tuple([*fields, filled(counts)] if attrs.return_counts else fields)


_UNIQUE = _row(
    "unique",
    "The different values of a vector, where they appear, and how many there are.",
    r"\{\, v : v = x_i \text{ for some } i \,\}",
    forward("Unique", "{out} = values of {0}, places, the value of each place, how many", _unique),
    UniqueAttrs,
    compute=_distinct,
)


def unique(data: Expr, is_sorted: bool = True, return_counts: bool = False) -> TupleWrapper:
    """A tuple: the different values of `data`, their places, the number of each element's value, how many."""
    call = Call(_UNIQUE, [expr(data)], UniqueAttrs(sorted=is_sorted, return_counts=return_counts))
    return TupleWrapper(call, 5 if return_counts else 4)
