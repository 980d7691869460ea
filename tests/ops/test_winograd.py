"""Winograd's convolution: its matrices are exact, and its value is that of `nn.conv2d`."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from relay_explorer import relay
from relay_explorer.ir import IRModule, TensorType, TypeInferenceError
from relay_explorer.ir.narrow import as_call
from relay_explorer.ir.op import Op
from relay_explorer.ops.nn.convolution.winograd_matrices import MAX_TILE, matrices
from relay_explorer.typing import infer_types

SIZES = [(m, r) for r in (1, 2, 3, 5) for m in range(1, MAX_TILE) if 2 <= m + r - 1 <= MAX_TILE]


@pytest.mark.parametrize(("m", "r"), SIZES)
def test_the_matrices_filter_exactly(m: int, r: int) -> None:
    to_data, to_filter, to_result = matrices(m, r)
    data = [Fraction(3 * k * k - 7 * k + 2) for k in range(m + r - 1)]
    weights = [Fraction(5 - 2 * k) for k in range(r)]

    def apply(rows: Any, values: list[Any]) -> list[Any]:
        return [sum(a * b for a, b in zip(row, values, strict=True)) for row in rows]

    products = [a * b for a, b in zip(apply(to_data, data), apply(to_filter, weights), strict=True)]
    wanted = [sum(weights[k] * data[place + k] for k in range(r)) for place in range(m)]
    assert apply(to_result, products) == wanted


def run(call: Any, *arrays: Any) -> Any:
    return call.op.reference(call.attrs, *arrays)


@pytest.mark.parametrize(
    ("tile", "size", "padding"), [(4, 3, (1, 1)), (2, 3, (0, 2, 1, 1)), (3, 2, (0, 0)), (2, 5, (2, 2))]
)
def test_its_value_is_that_of_the_convolution(tile: int, size: int, padding: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal((2, 4, 9, 7)), rng.standard_normal((6, 4, size, size))
    data, weight = relay.const(x), relay.const(w)
    u = run(relay.nn.contrib_conv2d_winograd_weight_transform(weight, tile), w)
    assert u.shape == (tile + size - 1, tile + size - 1, 6, 4)
    call = relay.nn.contrib_conv2d_winograd_without_weight_transform(
        data, weight, tile, padding=padding, kernel_size=size
    )
    wanted = run(relay.nn.conv2d(data, weight, padding=padding), x, w)
    assert np.allclose(run(call, x, u), wanted, atol=1e-10)


ERRORS = [
    ({"x": (1, 4, 8, 8), "u": (6, 6, 8, 3), "tile_size": 4, "kernel_size": 3},
     "the weight (6, 6, 8, 3) is not one for tiles of 6 × 6 and 4 channels"),
    ({"x": (1, 4, 8, 8), "u": (4, 4, 8, 4), "tile_size": 4, "kernel_size": 3},
     "the weight (4, 4, 8, 4) is not one for tiles of 6 × 6 and 4 channels"),
    ({"x": (1, 4, 8, 8), "u": (6, 6, 8, 4), "tile_size": 9, "kernel_size": 3},
     "tile_size=9 with a kernel of 3 needs 11 points"),
    ({"x": (1, 4, 8, 8), "u": (6, 6, 8, 4), "tile_size": 4, "kernel_size": 3, "strides": 2},
     "tiles overlap as they must only with strides, dilation and groups of 1"),
    ({"x": (1, 4, 8, 8), "u": (6, 6, 8, 4), "tile_size": 4, "kernel_size": (3, 1)},
     "the kernel must be a square, and `kernel_size` must say how large it is"),
    ({"x": (1, 4, 8, 8), "u": (6, 6, 8, 4), "tile_size": 4, "kernel_size": 3, "dtype": "int32"},
     "the transformations have fractions, which int32 has not"),
]  # fmt: skip


@pytest.mark.parametrize(("case", "message"), ERRORS)
def test_what_does_not_fit_is_refused(case: dict[str, Any], message: str) -> None:
    case = dict(case)
    dtype = case.pop("dtype", "float32")
    x, u = (relay.var(name, TensorType(case.pop(name), dtype)) for name in "xu")
    call = relay.nn.contrib_conv2d_winograd_without_weight_transform(x, u, **case)
    with pytest.raises(TypeInferenceError) as caught:
        infer_types(IRModule.from_expr(relay.Function([x, u], call)))
    assert message in str(caught.value)


def test_products_are_counted() -> None:
    x, u = relay.var("x", shape=(1, 4, 8, 8)), relay.var("u", shape=(6, 6, 8, 4))
    call = relay.nn.contrib_conv2d_winograd_without_weight_transform(x, u, 4, padding=1, kernel_size=3)
    made = infer_types(IRModule.from_expr(relay.Function([x, u], call)))["main"].body
    op = Op.get("nn.contrib_conv2d_winograd_without_weight_transform")
    types = [arg.checked_type for arg in as_call(made).args]
    assert op.flops(as_call(made).attrs, types, made.checked_type) == 2 * 36 * 4 * 8 * 4
