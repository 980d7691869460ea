"""Winograd's convolution in two steps: the weight is transformed once; then tiles of the data are
transformed, multiplied by it element by element, summed over the channels, and transformed back.

Computing 4 × 4 outputs of a 3 × 3 convolution then takes 36 multiplications instead of 144. Source programs
do not contain these operators; see `relay_explorer.lower.passes.layouts` for where they pay off.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated
from typing import Any as Anything

from ....ir.attrs import Attrs, DType, Ints, attr, required
from ....ir.declaration import NotApplicable, Precision
from ....ir.expr import Call
from ....ir.op import OpPattern, Relation, RelationError, Reporter, size_of
from ....ir.show import show_shape
from ....ir.types import IncompleteType, TensorType, Type
from ...arguments import Operand
from ...examples import IMAGE, t
from ...layouts.layout import NO_LAYOUT_RULE, Answer, Question
from ...numeric import Array, element_type, np
from ...operator import operator
from ...relation import same_dim, tensor
from ...te.library import te, tirx
from ...te.lowered import Lowered
from ...te.tensors import Tensor, Value, dims, quotient
from ..layout import layout_map
from ..sliding import padded, sides, windows
from ..window import Sizes, both_sides, per_axis, total_padding, window_places
from .attributes import CHANNELS, DATA_LAYOUT, DILATION, GROUPS, OUT_DTYPE, OUT_LAYOUT, PADDING, STRIDES
from .blocks import Split, factor_of, indices_of, shape_in, shape_of, subscripts
from .blocks import padded as padded_to
from .layouts import follow_attributes
from .winograd_matrices import MAX_TILE, Rows, matrices

__all__ = ["contrib_conv2d_winograd_weight_transform", "contrib_conv2d_winograd_without_weight_transform"]

TILE = "How many results each tile has on an axis."


class WinogradAttrs(Attrs, key="relay.attrs.Conv2DWinogradAttrs"):
    tile_size: int = required(TILE)
    strides: Ints = attr((1, 1), STRIDES, normal=partial(per_axis, axes=2))
    padding: Ints = attr((0, 0), PADDING, normal=partial(both_sides, axes=2))
    dilation: Ints = attr((1, 1), DILATION, normal=partial(per_axis, axes=2))
    groups: int = attr(1, GROUPS)
    channels: int | None = attr(None, CHANNELS)
    kernel_size: Ints | None = attr(
        None, "The size of the kernel before its transformation.", normal=partial(per_axis, axes=2)
    )
    data_layout: str = attr("NCHW", DATA_LAYOUT)
    kernel_layout: str = attr(
        "HWOI", "The order of the weight's axes: H, W position in a tile, O output, I input channels."
    )
    out_layout: str = attr("", OUT_LAYOUT)
    out_dtype: DType = attr("", OUT_DTYPE)


def _check_floating(type_: TensorType, operand: int) -> None:
    """Raise a RelationError for integers, because the transformations divide."""
    if not type_.dtype.startswith(("float", "bfloat")):
        raise RelationError(
            f"the transformations have fractions, which {type_.dtype} has not",
            'use nn.conv2d, or relay.cast(…, "float32")',
            culprits=(operand,),
        )


def _side(attrs: Anything, kernel: int) -> int:
    """Return the side length of a tile of data; raise a RelationError where there is no such
    transformation.
    """
    tile: int = attrs.tile_size
    if tile < 1 or kernel < 1 or not 2 <= tile + kernel - 1 <= MAX_TILE:
        raise RelationError(
            f"tile_size={tile} with a kernel of {kernel} needs {tile + kernel - 1} points",
            f"there are transformations for 2 to {MAX_TILE}, such as tile_size=4 with a kernel of 3",
        )
    return tile + kernel - 1


def _weight_relation(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    """Relate the types: input (O, I, r, r); output (t + r - 1, t + r - 1, O, I) for tiles of size t."""
    weight, out = types
    if isinstance(weight, IncompleteType):
        return False
    weight = tensor(weight, 0, "weight")
    _check_floating(weight, 0)
    if len(weight.shape) != 4 or not same_dim(weight.shape[2], weight.shape[3]):
        raise RelationError(
            f"the weight {show_shape(weight.shape)} is not (channels, input channels, size, size)",
            culprits=(0,),
        )
    if not isinstance(weight.shape[2], int):
        raise RelationError("the size of the filters must be static", culprits=(0,))
    side = _side(attrs, weight.shape[2])
    reporter.assign(out, TensorType.of((side, side, *weight.shape[:2]), weight.dtype))
    return True


def _relation(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    """Relate the types: inputs (N, C, H, W) and (t + r - 1, t + r - 1, O, C), in any layout; output as of
    `nn.conv2d`.
    """
    data, weight, out = types
    if isinstance(data, IncompleteType) or isinstance(weight, IncompleteType):
        return False
    data, weight = tensor(data, 0, "data"), tensor(weight, 1, "weight")
    _check_floating(data, 0)
    kernel = attrs.kernel_size
    if kernel is None or len(set(kernel)) != 1 or len(kernel) != 2:
        raise RelationError("the kernel must be a square, and `kernel_size` must say how large it is")
    if set(attrs.strides) != {1} or set(attrs.dilation) != {1} or attrs.groups != 1:
        raise RelationError("tiles overlap as they must only with strides, dilation and groups of 1")
    shape = layout_map(attrs.data_layout, "NCHW").forward(data.shape, 0, "the data")
    have = layout_map(attrs.kernel_layout, "HWOI").forward(weight.shape, 1, "the weight")
    side = _side(attrs, kernel[0])
    if not all(map(same_dim, (have[0], have[1], have[3]), (side, side, shape[1]))):
        raise RelationError(
            f"the weight {show_shape(weight.shape)} is not one for tiles of {side} × {side} and "
            f"{shape[1]} channels",
            "nn.contrib_conv2d_winograd_weight_transform produces it, with the same tile_size",
            culprits=(0, 1),
        )
    if attrs.channels is not None and not same_dim(have[2], attrs.channels):
        raise RelationError(
            f"channels={attrs.channels}, but the weight produces {have[2]} channels", culprits=(1,)
        )
    padding = total_padding(attrs.strides, attrs.dilation, attrs.padding, 2)
    positions = window_places(shape[2:], kernel, attrs.strides, attrs.dilation, padding)
    result = layout_map(attrs.out_layout or attrs.data_layout, "NCHW").backward(
        (shape[0], have[2], *positions)
    )
    reporter.assign(out, TensorType.of(result, attrs.out_dtype or data.dtype))
    return True


def _flops(attrs: Anything, inputs: Sequence[Type], output: Type) -> int:
    """Count two operations for each element of a tile and input channel, and none for the transformations."""
    side, tile = attrs.tile_size + attrs.kernel_size[0] - 1, attrs.tile_size
    channels = size_of(inputs[1]) // side**2
    layout = layout_map(attrs.out_layout or attrs.data_layout, "NCHW")
    if not isinstance(output, TensorType):
        return 0
    sizes = [d if isinstance(d, int) else 1 for d in layout.forward(output.shape, 0, "the result")]
    products: int = side**2 * sizes[0] * -(-sizes[2] // tile) * -(-sizes[3] // tile) * channels
    return 2 * products


# -- reference implementations


def _array(rows: Sequence[Sequence[object]], dtype: Anything) -> Array:
    """Convert rows of fractions to an array."""
    return np.array([[float(value) for value in row] for row in rows], dtype)  # type: ignore[arg-type]


def _weight_reference(attrs: Anything, weight: Array) -> Array:
    """Transform the weight of each pair of channels: G w Gᵀ."""
    g = _array(matrices(attrs.tile_size, weight.shape[2]).filter, "float64")
    return np.einsum("ea,oiab,fb->efoi", g, weight, g, optimize=True).astype(weight.dtype)


def _reference(attrs: Anything, x: Array, weight: Array) -> Array:
    """Transform the tiles of the data, multiply them by the weight, and transform the products back."""
    dtype = element_type(attrs.out_dtype or x.dtype)
    tile, kernel = attrs.tile_size, attrs.kernel_size[0]
    b, _, a = (_array(rows, dtype) for rows in matrices(tile, kernel))
    data = padded(layout_map(attrs.data_layout, "NCHW").unpack(x), sides(attrs.padding, 2), 0)
    rows, columns = (size - kernel + 1 for size in data.shape[2:])
    data = padded(data, [(0, -rows % tile), (0, -columns % tile)], 0)
    side = tile + kernel - 1
    tiles = windows(data.astype(dtype, copy=False), (side, side), (tile, tile), (1, 1))
    transformed = np.einsum("ea,ncijab,fb->efcnij", b, tiles, b, optimize=True)
    u = layout_map(attrs.kernel_layout, "HWOI").unpack(weight).astype(dtype, copy=False)
    flat = transformed.reshape(*transformed.shape[:3], -1)
    products = np.matmul(u, flat).reshape(side, side, u.shape[2], *transformed.shape[3:])
    tiles = np.einsum("pe,efonij,qf->noipjq", a, products, a, optimize=True)
    n, o, i, _, j, _ = tiles.shape
    whole = tiles.reshape(n, o, i * tile, j * tile)[:, :, :rows, :columns]
    return layout_map(attrs.out_layout or attrs.data_layout, "NCHW").pack(np.ascontiguousarray(whole))


# -- lowerings


def _combined(matrix: Rows, row: Value, values: Sequence[Value], dtype: str) -> Value:
    """Sum `values`, weighted by a row of the matrix, skipping its zeros; after unrolling, only one row's sum
    remains.
    """
    sums = []
    for weights in matrix:
        total = None
        for weight, value in zip(weights, values):
            if weight:
                term = value if weight == 1 else value * tirx.const(float(weight), dtype)
                total = term if total is None else total + term
        sums.append(tirx.const(0, dtype) if total is None else total)
    result = sums[-1]
    for number in range(len(sums) - 2, -1, -1):
        result = tirx.Select(row == number, sums[number], result)
    return result


def _weight_te(call: Lowered) -> list[Tensor]:
    """Transform the weight of each pair of channels: G w Gᵀ."""
    weight = call.inputs[0]
    outputs, inputs, size, _ = dims(weight)
    matrix = matrices(call.attrs.tile_size, size).filter
    side = call.attrs.tile_size + size - 1
    rows = te.compute(
        (side, size, outputs, inputs),
        lambda e, b, o, i: _combined(matrix, e, [weight[o, i, a, b] for a in range(size)], weight.dtype),
        name=f"{call.name}_rows",
    )
    return [
        te.compute(
            (side, side, outputs, inputs),
            lambda e, f, o, i: _combined(matrix, f, [rows[e, b, o, i] for b in range(size)], weight.dtype),
            name=call.name,
        )
    ]


def _convolution_te(call: Lowered) -> list[Tensor]:
    """Transform the tiles of the data, multiply them by the weight, and transform the products back.

    Each transformation handles one axis at a time. The stages are `_pad`, `_rows` and `_data` (Bᵀ d, then
    that times B), `_products` (summed over the channels), `_lines` and `_tiles` (Aᵀ M, then that times A),
    and the result, in which adjacent tiles are joined. Channels are split into blocks as in data and result,
    or of size 1.
    """
    attrs = call.attrs
    m, r = int(attrs.tile_size), int(attrs.kernel_size[0])
    side = m + r - 1
    to_data, _, to_result = matrices(m, r)
    out_layout = attrs.out_layout or attrs.data_layout
    batch, inputs, *space = shape_of(attrs.data_layout, "NCHW", call.inputs[0])
    outputs = shape_of(attrs.kernel_layout, "HWOI", call.inputs[1])[2]
    pairs = sides(attrs.padding, 2)
    height, width = (size + (sum(pair) - r + 1) for size, pair in zip(space, pairs, strict=True))
    down, across = quotient(height + (m - 1), m), quotient(width + (m - 1), m)
    b_in, b_out = factor_of(attrs.data_layout, "C"), factor_of(out_layout, "C")
    data = padded_to(call, (down * m + r - 1, across * m + r - 1))
    dtype = call.out.dtype

    def seen(n: Value, c: Value, y: Value, x: Value, lane: Value) -> Value:
        index = {"N": n, "C": Split(c, lane, b_in), "H": y, "W": x}
        return data(*subscripts(attrs.data_layout, index)).astype(dtype)

    rows = te.compute(
        (batch, down, quotient(inputs, b_in), across, side, side, b_in),
        lambda n, i, c, j, e, b, v: _combined(
            to_data, e, [seen(n, c, i * m + a, j * m + b, v) for a in range(side)], dtype
        ),
        name=f"{call.name}_rows",
    )
    transformed = te.compute(
        (batch, down, quotient(inputs, b_in), side, side, across, b_in),
        lambda n, i, c, e, f, j, v: _combined(
            to_data, f, [rows[n, i, c, j, e, b, v] for b in range(side)], dtype
        ),
        name=f"{call.name}_data",
    )
    rc, ri = te.reduce_axis((0, quotient(inputs, b_in)), "rc"), te.reduce_axis((0, b_in), "ri")
    weight, blocks = call.inputs[1], quotient(outputs, b_out)

    def product(
        n: Anything, o: Anything, i: Anything, e: Anything, f: Anything, j: Anything, v: Anything
    ) -> Anything:
        index = {"H": e, "W": f, "O": Split(o, v, b_out), "I": Split(rc, ri, b_in)}
        u = weight(*subscripts(attrs.kernel_layout, index)).astype(dtype)
        return te.sum(transformed[n, i, rc, e, f, j, ri] * u, axis=[rc, ri])

    products = te.compute(
        (batch, blocks, down, side, side, across, b_out), product, name=f"{call.name}_products"
    )
    lines = te.compute(
        (batch, blocks, down, across, m, side, b_out),
        lambda n, o, i, j, p, f, v: _combined(
            to_result, p, [products[n, o, i, e, f, j, v] for e in range(side)], dtype
        ),
        name=f"{call.name}_lines",
    )
    tiles = te.compute(
        (batch, blocks, down, across, m, m, b_out),
        lambda n, o, i, j, p, q, v: _combined(
            to_result, q, [lines[n, o, i, j, p, f, v] for f in range(side)], dtype
        ),
        name=f"{call.name}_tiles",
    )

    def result(*at: Value) -> Value:
        index = indices_of(out_layout, at)
        y, x, c = index["H"], index["W"], index["C"].blocked(b_out)
        div, mod = te.floordiv, te.floormod
        return tiles[index["N"], c.outer, div(y, m), div(x, m), mod(y, m), mod(x, m), c.inner]

    shape = shape_in(out_layout, (batch, outputs, height, width))
    return [te.compute(shape, result, name=call.name)]


def _layout(question: Question) -> Answer:
    """Require the layouts of data and result; the transformed weight keeps its layout."""
    answer = follow_attributes(question)
    assert answer is not None
    kernel = answer.input_layouts[1] if question.new is None else question.new[1]
    return answer._replace(input_layouts=[answer.input_layouts[0], kernel])


# -- the operators

_NO_GRADIENT = NotApplicable("the compiler introduces it after differentiation")


@operator(
    "nn.contrib_conv2d_winograd_weight_transform",
    description="Transforms a convolution's weight for Winograd's algorithm.",
    formula=r"u_{e,f,o,c} = \sum_{a,b} G_{e,a}\, w_{o,c,a,b}\, G_{f,b}",
    family="convolution",
    level=5,
    relation=Relation("Conv2DWinogradWeightTransform", _weight_relation, "{out} = {0}, transformed"),
    pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
    reference=_weight_reference,
    gradient=_NO_GRADIENT,
    lowering=_weight_te,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    example=lambda build: build(t(8, 4, 3, 3, name="w"), 4),
    attrs_key="relay.attrs.ConvWinogradWeightTransformAttrs",
)
def contrib_conv2d_winograd_weight_transform(
    weight: Operand, tile_size: Annotated[int, required(TILE)]
) -> Call:
    """Transform `weight` (O, I, r, r) for tiles of `tile_size`: (t + r - 1, t + r - 1, O, I)."""


@operator(
    "nn.contrib_conv2d_winograd_without_weight_transform",
    description="Convolves by Winograd's algorithm, with a weight that is already transformed.",
    formula=(
        r"y_{n,o} = A^{\mathsf T} \Bigl[ \sum_c u_{o,c} \odot (B^{\mathsf T} x_{n,c} B) \Bigr] A "
        r"\quad \text{for each tile}"
    ),
    family="convolution",
    relation=Relation("Conv2DWinograd", _relation, "{out} = {0} ∗ {1}, with {1} transformed"),
    pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
    flops=_flops,
    reference=_reference,
    gradient=_NO_GRADIENT,
    lowering=_convolution_te,
    layout=_layout,
    precision=Precision.UNLISTED,
    example=lambda build: build(IMAGE, t(6, 6, 8, 4, name="u"), 4, padding=1, kernel_size=3),
    attrs=WinogradAttrs,
)
def contrib_conv2d_winograd_without_weight_transform(
    data: Operand,
    weight: Operand,
    tile_size: int,
    strides: Sizes = (1, 1),
    padding: Sizes = (0, 0),
    dilation: Sizes = (1, 1),
    groups: int = 1,
    channels: int | None = None,
    kernel_size: Sizes | None = None,
    data_layout: str = "NCHW",
    kernel_layout: str = "HWOI",
    out_layout: str = "",
    out_dtype: str = "",
) -> Call:
    """Compute `nn.conv2d` with a `weight` (t + r - 1, t + r - 1, O, C) that is already transformed."""
