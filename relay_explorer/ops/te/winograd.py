"""Winograd's convolution as tensor expressions: each transformation one axis at a time, as the sums that are
left when the zeros of its matrix are left out.

The stages of a call are `_pad`, `_rows` and `_data` (Bᵀ d, and that times B), `_products` (summed over the
channels), `_lines` and `_tiles` (Aᵀ M, and that times A), and the result, in which tiles lie side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..nn.winograd_matrices import Rows, matrices
from .library import tvm
from .lowered import Lowered
from .packed import Split, factor_of, padded, place_of, shape_in, shape_of, sides, subscripts
from .tensors import dims, quotient


def combined(matrix: Rows, row: Any, values: Sequence[Any], dtype: str) -> Any:
    """The sum of `values` weighted by a row of the matrix. Once the loop over rows is written out, one sum is
    left.
    """
    tirx = tvm.tirx
    sums = []
    for weights in matrix:
        total = None
        for weight, value in zip(weights, values):
            if weight:
                term = value if weight == 1 else value * tirx.const(float(weight), dtype)
                total = term if total is None else total + term
        sums.append(tirx.const(0, dtype) if total is None else total)
    found = sums[-1]
    for number in range(len(sums) - 2, -1, -1):
        found = tirx.Select(row == number, sums[number], found)
    return found


def weight_transform(call: Lowered) -> list[Any]:
    """G w Gᵀ for each pair of channels."""
    te = tvm.te
    weight = call.inputs[0]
    outputs, inputs, size, _ = dims(weight)
    matrix = matrices(call.attrs.tile_size, size).filter
    side = call.attrs.tile_size + size - 1
    rows = te.compute(
        (side, size, outputs, inputs),
        lambda e, b, o, i: combined(matrix, e, [weight[o, i, a, b] for a in range(size)], weight.dtype),
        name=f"{call.name}_rows",
    )
    return [
        te.compute(
            (side, side, outputs, inputs),
            lambda e, f, o, i: combined(matrix, f, [rows[e, b, o, i] for b in range(size)], weight.dtype),
            name=call.name,
        )
    ]


def convolution(call: Lowered) -> list[Any]:
    """Channels lie in blocks as they do in data and result; without blocks, in blocks of 1."""
    te, attrs = tvm.te, call.attrs
    m, r = int(attrs.tile_size), int(attrs.kernel_size[0])
    side = m + r - 1
    to_data, _, to_result = matrices(m, r)
    out_layout = attrs.out_layout or attrs.data_layout
    batch, inputs, *space = shape_of(attrs.data_layout, "NCHW", call.inputs[0])
    outputs = shape_of(attrs.kernel_layout, "HWOI", call.inputs[1])[2]
    top, left, bottom, right = sides(attrs.padding)
    height, width = space[0] + (top + bottom - r + 1), space[1] + (left + right - r + 1)
    down, across = quotient(height + (m - 1), m), quotient(width + (m - 1), m)
    b_in, b_out = factor_of(attrs.data_layout, "C"), factor_of(out_layout, "C")
    data = padded(call, (down * m + r - 1, across * m + r - 1))
    dtype = call.out.dtype

    def seen(n: Any, c: Any, y: Any, x: Any, lane: Any) -> Any:
        where = {"N": n, "C": Split(c, lane, b_in), "H": y, "W": x}
        return data(*subscripts(attrs.data_layout, where)).astype(dtype)

    rows = te.compute(
        (batch, down, quotient(inputs, b_in), across, side, side, b_in),
        lambda n, i, c, j, e, b, v: combined(
            to_data, e, [seen(n, c, i * m + a, j * m + b, v) for a in range(side)], dtype
        ),
        name=f"{call.name}_rows",
    )
    turned = te.compute(
        (batch, down, quotient(inputs, b_in), side, side, across, b_in),
        lambda n, i, c, e, f, j, v: combined(
            to_data, f, [rows[n, i, c, j, e, b, v] for b in range(side)], dtype
        ),
        name=f"{call.name}_data",
    )
    rc, ri = te.reduce_axis((0, quotient(inputs, b_in)), "rc"), te.reduce_axis((0, b_in), "ri")
    weight, blocks = call.inputs[1], quotient(outputs, b_out)

    def product(n: Any, o: Any, i: Any, e: Any, f: Any, j: Any, v: Any) -> Any:
        place = {"H": e, "W": f, "O": Split(o, v, b_out), "I": Split(rc, ri, b_in)}
        u = weight(*subscripts(attrs.kernel_layout, place)).astype(dtype)
        return te.sum(turned[n, i, rc, e, f, j, ri] * u, axis=[rc, ri])

    products = te.compute(
        (batch, blocks, down, side, side, across, b_out), product, name=f"{call.name}_products"
    )
    lines = te.compute(
        (batch, blocks, down, across, m, side, b_out),
        lambda n, o, i, j, p, f, v: combined(
            to_result, p, [products[n, o, i, e, f, j, v] for e in range(side)], dtype
        ),
        name=f"{call.name}_lines",
    )
    tiles = te.compute(
        (batch, blocks, down, across, m, m, b_out),
        lambda n, o, i, j, p, q, v: combined(
            to_result, q, [lines[n, o, i, j, p, f, v] for f in range(side)], dtype
        ),
        name=f"{call.name}_tiles",
    )

    def result(*at: Any) -> Any:
        place = place_of(out_layout, at)
        y, x, c = place["H"], place["W"], place["C"].blocked(b_out)
        div, mod = te.floordiv, te.floormod
        return tiles[place["N"], c.outer, div(y, m), div(x, m), mod(y, m), mod(x, m), c.inner]

    shape = shape_in(out_layout, (batch, outputs, height, width))
    return [te.compute(shape, result, name=call.name)]
