"""Flattening, a first-in-first-out buffer, and the correlation of two images."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import Annotated
from typing import Any as Anything

from ...ir.attrs import attr
from ...ir.declaration import NotApplicable, Precision, Trait
from ...ir.expr import Call
from ...ir.op import OpPattern, Relation, RelationError, Reporter, size_of
from ...ir.show import show_shape
from ...ir.types import Any, IncompleteType, Shape, TensorType, Type
from ..arguments import Operand
from ..examples import IMAGE, X, t
from ..gradient_tools import RESHAPED
from ..layouts.layout import NO_LAYOUT_RULE
from ..numeric import Array, np, per
from ..operator import operator
from ..relation import normal_axis, same_dim, tensor
from ..te.library import te
from ..te.lowered import Lowered
from ..te.pad import padded as te_padded
from ..te.reduce import per as te_per
from ..te.tensors import (
    Tensor,
    Value,
    cast,
    dims,
    guarded,
    number,
    quotient,
    reduce_axes,
    stage,
    sum_type,
    summed,
)
from ..te.tensors import product as te_product
from ..te.tensors import reshape as with_shape
from .layout import UNKNOWN, count
from .sliding import cropped, padded, sides, windows
from .window import total_padding

__all__ = ["batch_flatten", "correlation", "fifo_buffer"]


def _batch_flatten(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    """Relate the types: input (N, d₁, d₂ …); output (N, d₁ * d₂ * …)."""
    data, out = types
    if isinstance(data, IncompleteType):
        return False
    data = tensor(data, 0, "data")
    if not data.shape:
        raise RelationError(
            "the data is a single number, but needs a batch axis", "relay.expand_dims adds one", culprits=(0,)
        )
    rest = data.shape[1:]
    reporter.assign(
        out,
        TensorType.of(
            (data.shape[0], UNKNOWN if any(isinstance(d, Any) for d in rest) else count(rest)), data.dtype
        ),
    )
    return True


def _batch_flatten_te(call: Lowered) -> list[Tensor]:
    x = call.inputs[0]
    return [with_shape(x, (dims(x)[0], te_product(dims(x)[1:])), call.name)]


@operator(
    "nn.batch_flatten",
    description="Flattens all axes but the first into one.",
    formula=r"y_{n,\, (i d_2 + j) d_3 + \ldots} = x_{n,i,j,\ldots}",
    family="shape",
    level=2,
    relation=Relation("BatchFlatten", _batch_flatten, "{out} = {0} with all axes but the first flattened"),
    pattern=OpPattern.INJECTIVE,
    reference=lambda attrs, x: x.reshape(len(x), prod(x.shape[1:])),
    gradient=RESHAPED,
    lowering=_batch_flatten_te,
    traits={Trait.RESHAPE},
    layout=NO_LAYOUT_RULE,
    precision=Precision.FOLLOW,
    example=lambda build: build(IMAGE),
)
def batch_flatten(data: Operand) -> Call:
    """Flatten `data` (N, d₁, d₂ …) to (N, d₁ * d₂ * …)."""


def _fifo_buffer(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    """Relate the types: the inputs differ on one axis only, where the first is shorter; the output is like
    the second.
    """
    data, buffer, out = types
    if isinstance(data, IncompleteType) or isinstance(buffer, IncompleteType):
        return False
    data, buffer = tensor(data, 0, "data"), tensor(buffer, 1, "buffer")
    a, b = data.shape, buffer.shape
    axis = normal_axis(attrs.axis, len(b), "fifo_buffer")
    if len(a) != len(b) or not all(
        i == axis or same_dim(x, y) for i, (x, y) in enumerate(zip(a, b, strict=True))
    ):
        raise RelationError(
            f"the data {show_shape(a)} and the buffer {show_shape(b)} differ not only on axis {axis}",
            "they must be alike on all other axes",
            culprits=(0, 1),
        )
    new, held = a[axis], b[axis]
    if isinstance(new, int) and isinstance(held, int) and new >= held:
        raise RelationError(
            f"axis {axis} of the data is {new}, but must be shorter than the buffer's {held}", culprits=(0, 1)
        )
    if data.dtype != buffer.dtype:
        raise RelationError(
            f"the data holds {data.dtype}, but the buffer {buffer.dtype}",
            f'convert one: relay.cast(…, "{buffer.dtype}")',
            culprits=(0, 1),
        )
    reporter.assign(out, buffer)
    return True


def _moved_on(attrs: Anything, x: Array, buffer: Array) -> Array:
    return np.split(np.concatenate([buffer, x], attrs.axis), [x.shape[attrs.axis]], attrs.axis)[1]


def _fifo_buffer_te(call: Lowered) -> list[Tensor]:
    """Lower a buffer of any rank; TOPI supports up to 5 axes."""
    x, buffer = call.inputs
    axis = call.attrs.axis % len(buffer.shape)
    new, held = dims(x)[axis], dims(buffer)[axis]

    def element(*i: Value) -> Value:
        at = i[axis] + new
        retained = buffer(*i[:axis], at, *i[axis + 1 :])
        return guarded(at < held, retained, x(*i[:axis], at - held, *i[axis + 1 :]))

    return [stage(buffer.shape, element, call.name)]


@operator(
    "nn.fifo_buffer",
    description="Appends the data to a buffer and drops equally many of the oldest elements.",
    formula=r"y = \mathrm{concat}(b, x)_{|x| \,\ldots\, |x| + |b|}",
    family="other",
    level=3,
    relation=Relation("FIFOBuffer", _fifo_buffer, "{out} = {1}, and {0} is shorter on one axis"),
    reference=_moved_on,
    gradient=NotApplicable("there is no rule: the buffer is kept from one run to the next"),
    lowering=_fifo_buffer_te,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    example=lambda build: build(t(1, 6), X, axis=0),
    attrs_key="relay.attrs.FIFOBufferAttrs",
    lenient_in_tvm="It accepted data of another element type.",
)
def fifo_buffer(
    data: Operand, buffer: Operand, axis: Annotated[int, attr(0, "The axis along which the buffer moves.")]
) -> Call:
    """Append `data` at the end of `axis` of the buffer, which keeps its shape."""


def _correlation(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    """Relate the types: two inputs (N, C, H, W); output (N, displacements, H', W')."""
    a, b, out = types
    if isinstance(a, IncompleteType) or isinstance(b, IncompleteType):
        return False
    a, b = tensor(a, 0, "data1"), tensor(b, 1, "data2")
    if (
        len(a.shape) != 4
        or len(b.shape) != 4
        or not all(map(same_dim, a.shape, b.shape))
        or a.dtype != b.dtype
    ):
        raise RelationError(
            f"the images are {a} and {b}, but must have one type with axes N, C, H, W", culprits=(0, 1)
        )
    if attrs.layout != "NCHW":
        raise RelationError(
            f'layout="{attrs.layout[:40]}" is not possible', "relay.layout_transform brings images to NCHW"
        )
    if attrs.kernel_size < 1 or attrs.kernel_size % 2 == 0:
        raise RelationError(f"kernel_size={attrs.kernel_size} must be odd", "a patch has a centre")
    if min(attrs.stride1, attrs.stride2) < 1 or attrs.max_displacement < 0:
        raise RelationError(
            f"stride1={attrs.stride1}, stride2={attrs.stride2} and "
            f"max_displacement={attrs.max_displacement} must not be negative, nor a stride 0"
        )
    padding = total_padding((1, 1), (1, 1), attrs.padding, 2)
    reporter.assign(out, TensorType.of(_correlated(a.shape, padding, attrs), a.dtype))
    return True


def _correlated(shape: Shape, padding: tuple[int, ...], attrs: Anything) -> Shape:
    """Return the output's shape (N, displacements, H', W'): it counts the patches whose displaced neighbours
    still lie in the padded images.
    """
    border = attrs.max_displacement + (attrs.kernel_size - 1) // 2
    across = 2 * (attrs.max_displacement // attrs.stride2) + 1
    sizes = []
    for dim, pad in zip(shape[2:], padding, strict=True):
        room = dim + (pad - 2 * border)
        if isinstance(room, int) and room < 1:
            raise RelationError(
                f"the border of {border} on both sides leaves nothing of an axis of {dim} with {pad} of "
                "padding",
                "use more padding",
                culprits=(0, 1),
            )
        sizes.append((room + attrs.stride1 - 1) // attrs.stride1)
    return (shape[0], across * across, *sizes)


def _correlation_flops(attrs: Anything, inputs: Sequence[Type], output: Type) -> int:
    """Count a product (or difference) and an addition for each output element and element of its patch."""
    data = inputs[0]
    channels = data.shape[1] if isinstance(data, TensorType) else 1
    patch: int = attrs.kernel_size**2
    return 2 * size_of(output) * patch * (channels if isinstance(channels, int) else 1)


def _compared(attrs: Anything, a: Array, b: Array) -> Array:
    pairs = sides(attrs.padding, 2)
    a, b = padded(a, pairs, 0), padded(b, pairs, 0)
    shift, side = attrs.max_displacement, attrs.kernel_size
    inner = [(shift, shift)] * 2
    patches = windows(cropped(a, inner), (side, side), (attrs.stride1,) * 2, (1, 1))
    reach = shift // attrs.stride2 * attrs.stride2
    steps = range(-reach, reach + 1, attrs.stride2)
    elements = a.shape[1] * side * side
    results = []
    for down, right in product(steps, steps):
        moved = cropped(b, [(shift + down, shift - down), (shift + right, shift - right)])
        others = windows(moved, (side, side), (attrs.stride1,) * 2, (1, 1))
        scores = patches * others if attrs.is_multiply else np.abs(patches - others)
        results.append(per(scores.sum((1, -2, -1), dtype=a.dtype), elements))
    return np.stack(results, 1)


def _correlation_te(call: Lowered) -> list[Tensor]:
    """Compare each patch of one image with the patches around its position in another: average their products
    or differences over the patch.
    """
    (a, b), attrs = call.inputs, call.attrs
    dtype, pairs = call.out.dtype, dict(zip((2, 3), sides(attrs.padding, 2), strict=True))
    zero, shift, side = number(0, dtype), attrs.max_displacement, attrs.kernel_size
    first, second = (
        te_padded(a, pairs, zero, f"{call.name}_pad"),
        te_padded(b, pairs, zero, f"{call.name}_pad"),
    )
    reach = shift // attrs.stride2
    across = 2 * reach + 1
    border = shift + (side - 1) // 2
    batch, channels, *space = dims(first)
    sizes = [quotient(dim - 2 * border + attrs.stride1 - 1, attrs.stride1) for dim in space]
    c, u, v = reduce_axes([channels, side, side])

    def value(n: Value, q: Value, i: Value, j: Value) -> Value:
        row, column = i * attrs.stride1 + shift + u, j * attrs.stride1 + shift + v
        down, right = (q // across - reach) * attrs.stride2, (q % across - reach) * attrs.stride2
        x, y = first(n, c, row, column), second(n, c, row + down, column + right)
        x, y = cast(x, sum_type(dtype)), cast(y, sum_type(dtype))
        return x * y if attrs.is_multiply else te.abs(x - y)

    shape = (batch, across * across, *sizes)
    total = summed(shape, value, [c, u, v], dtype, f"{call.name}_sum")
    return [stage(shape, lambda *i: te_per(total(*i), channels * side * side), call.name)]


@operator(
    "nn.correlation",
    description="Compares each patch of one image with the patches around its position in another.",
    formula=(
        r"y_{n,q,i,j} = \frac{1}{k^2 C} \sum_{c,u,v} a_{n,c,\,i + u,\,j + v}\; b_{n,c,\,i + q_1 + u,\,j + "
        r"q_2 + v}"
    ),
    family="convolution",
    level=2,
    relation=Relation("Correlation", _correlation, "{out} = (N, displacements, H', W'), and {0} = {1}"),
    pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
    flops=_correlation_flops,
    reference=_compared,
    gradient=NotApplicable("there is no rule for the correlation of patches"),
    lowering=_correlation_te,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    example=lambda build: build(IMAGE, t(1, 4, 8, 8, name="other"), 1, 1, 1, 1, 1, True, "NCHW"),
    lenient_in_tvm="It did not compare the images' types, and accepted borders larger than the images.",
)
def correlation(
    data1: Operand,
    data2: Operand,
    kernel_size: Annotated[int, attr(1, "The side of the patches that are compared; odd.")],
    max_displacement: Annotated[int, attr(1, "The largest displacement between compared patches.")],
    stride1: Annotated[int, attr(1, "The distance between adjacent patches in the first image.")],
    stride2: Annotated[
        int, attr(1, "The distance between adjacent patches in the second image around one of the first.")
    ],
    padding: Annotated[
        int | Sequence[int],
        attr(
            (0, 0),
            "The padding of zeros around both images.",
            kind="Ints",
            normal=lambda padding: (padding, padding) if isinstance(padding, int) else padding,
        ),
    ],
    is_multiply: Annotated[
        bool, attr(True, "Whether patches are compared by their product, or by their difference.")
    ],
    layout: Annotated[str, attr("NCHW", "The order of the axes; only NCHW is possible.")],
) -> Call:
    """Correlate two images (N, C, H, W): (N, (2 * (max_displacement // stride2) + 1)², H', W') (FlowNet,
    arXiv 1504.06852).
    """
