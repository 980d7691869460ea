"""Programs that torchao has quantized compute what PyTorch computes, with the integers of their weights."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from relay_explorer.frontends import from_exported_program
from relay_explorer.ir.errors import RelayError
from relay_explorer.ir.module import IRModule
from tests.frontends.quantized import calls
from tests.frontends.torch_export.exporting import assert_close, computed, exported, leaves
from tests.frontends.torch_export.torchao_operators import operators

AO = operators()
torch.manual_seed(6)
X = torch.randn(6, 32)


def same(
    model: nn.Module | Any, *args: Tensor, dynamic: Any = None, tolerance: float = 1e-6, **options: Any
) -> tuple[IRModule, dict[str, Any]]:
    """Import a model, compare its results with PyTorch's, and return the module with its weights."""
    mod, params = from_exported_program(exported(model, args, dynamic), **options)
    assert_close(computed(mod, params, args), leaves(model(*args)), tolerance)
    return mod, params


BLOCKS = [[6, 32], [1, 32], [6, 1], [1, 8], [3, 16]]  # the tensor, rows, columns, groups, tiles


@pytest.mark.parametrize("mapping", ["ASYMMETRIC", "SYMMETRIC", "SYMMETRIC_NO_CLIPPING_ERR"])
def test_scales_of_blocks_are_chosen_in_every_run(mapping: str) -> None:
    def function(x: Tensor) -> Any:
        results = []
        for sizes in BLOCKS:
            for keepdim in (False, True):
                options = (-8, 7, 1e-5, torch.float32, torch.int8, keepdim)
                scale, zero = AO.choose_qparams_affine(x, mapping, sizes, torch.int8, *options)
                whole = AO.quantize_affine(x, sizes, scale, zero, torch.int8, -8, 7)
                real = AO.dequantize_affine(whole, sizes, scale, zero, torch.int8, -8, 7)
                results += [scale, zero, whole, real]
        return tuple(results)

    program = exported(function, (X,))
    mod, params = from_exported_program(program)
    assert not calls(mod, "qnn.quantize")  # the scales are not constant
    for x in (X, torch.zeros_like(X), X.abs() + 1.0):
        assert_close(computed(mod, params, (x,)), leaves(function(x)), 0.0)


@pytest.mark.parametrize(("sizes", "count"), [([6, 32], 1), ([1, 32], 6), ([6, 1], 32)])
def test_constant_scales_of_a_tensor_and_of_channels_become_qnn_operators(
    sizes: list[int], count: int
) -> None:
    scales, zeros = torch.linspace(0.02, 0.06, count), torch.arange(count, dtype=torch.int32) % 5

    def function(x: Tensor) -> Any:
        whole = AO.quantize_affine(x, sizes, scales, zeros, torch.int8)
        return AO.dequantize_affine(whole, sizes, scales, zeros, torch.int8)

    mod, _ = same(function, X)
    assert len(calls(mod, "qnn.quantize")) == len(calls(mod, "qnn.dequantize")) == 1


def test_without_zero_points_zero_is_represented_by_zero() -> None:
    scales = torch.full((6,), 0.05)
    mod, _ = same(
        lambda x: AO.dequantize_affine(x, [1, 32], scales, None, torch.int8), (X * 20).to(torch.int8)
    )
    assert len(calls(mod, "qnn.dequantize")) == 1


def test_rows_of_a_named_size_have_scales_of_their_own() -> None:
    def function(x: Tensor) -> Any:
        scale, zero = AO.choose_qparams_affine(x, "ASYMMETRIC", [1, 32], torch.int8)
        whole = AO.quantize_affine(x, [1, 32], scale, zero, torch.int8)
        return AO.dequantize_affine(whole, [1, 32], scale, zero, torch.int8)

    same(function, X, dynamic=[{0: torch.export.Dim("rows", min=2, max=64)}])


class Linear(nn.Module):
    """A linear layer whose weight is quantized in groups of columns."""

    integers: Tensor
    scales: Tensor
    zeros: Tensor

    def __init__(self, low: int, high: int, size: int, zero: bool = False) -> None:
        super().__init__()
        self.sizes, self.limits = [1, size], (low, high)
        self.register_buffer("integers", torch.randint(low, high + 1, (10, 32), dtype=torch.int8))
        self.register_buffer("scales", torch.rand(10, 32 // size) * 0.1 + 0.01)
        zeros = torch.randint(-2, 3, (10, 32 // size)) if zero else torch.zeros(10, 32 // size)
        self.register_buffer("zeros", zeros.to(torch.int8))
        self.bias = nn.Parameter(torch.randn(10))

    def forward(self, x: Tensor) -> Tensor:
        weight = AO.dequantize_affine(
            self.integers, self.sizes, self.scales, self.zeros, torch.int8, *self.limits
        )
        return nn.functional.linear(x, weight, self.bias)


@pytest.mark.parametrize(
    ("low", "high", "size", "zero", "bits"),
    [
        (-8, 7, 16, False, 4), (-8, 7, 8, True, 4), (-4, 3, 32, False, 4), (-2, 1, 16, False, 2),
        (-1, 0, 32, True, 1), (-128, 127, 8, True, 8),
    ],
)  # fmt: skip
@pytest.mark.parametrize("freeze", [False, True])
def test_a_weight_of_few_bits_stays_packed(
    low: int, high: int, size: int, zero: bool, bits: int, freeze: bool
) -> None:
    x = torch.randn(2, 3, 32)
    mod, params = same(Linear(low, high, size, zero), x, tolerance=1e-4, freeze_params=freeze)
    (call,) = calls(mod, "nn.contrib_dense_nbits")
    assert call.attrs is not None
    assert (call.attrs["bits"], call.attrs["group_size"]) == (bits, size)
    assert not calls(mod, "nn.dense")
    if not freeze:
        assert "integers" not in params
        assert params["integers_packed"].shape == (10, 32 * bits // 8)


def test_integers_beyond_the_stated_bounds_are_not_packed() -> None:
    model = Linear(-8, 7, 16)
    model.integers[0, 0] = 100
    mod, _ = same(model, X, tolerance=1e-5)
    assert len(calls(mod, "nn.dense")) == 1


def test_a_dynamically_quantized_product_multiplies_integers() -> None:
    weight, scales = torch.randint(-128, 128, (32, 10), dtype=torch.int8), torch.rand(10)

    def function(x: Tensor) -> Any:
        scale, zero = AO.choose_qparams_affine(
            x, "SYMMETRIC", [1, 32], torch.int8, -128, 127, 1e-7, torch.float32, torch.int8, True
        )
        whole = AO.quantize_affine(x, [1, 32], scale, zero, torch.int8, -128, 127)
        return torch._int_mm(whole, weight).to(torch.float32) * scale * scales

    mod, _ = same(function, torch.randn(24, 32))
    assert len(calls(mod, "qnn.dense")) == 1


def test_a_product_with_a_weight_of_int8_that_has_a_scale_for_each_row() -> None:
    weight, scales = torch.randint(-128, 128, (10, 32), dtype=torch.int8), torch.rand(10)
    same(lambda x: torch.ops.aten._weight_int8pack_mm(x, weight, scales), X, tolerance=1e-4)


@pytest.mark.parametrize("sizes", [[1, 5], [32], [0, 32]])
def test_blocks_that_do_not_divide_a_tensor_are_refused(sizes: Sequence[int]) -> None:
    from relay_explorer.frontends.aten import Aten
    from relay_explorer.frontends.aten.torchao import dequantize_affine
    from relay_explorer.frontends.base.context import Context
    from relay_explorer.ir import const

    x = const(np.zeros((6, 32), "int8"))
    with pytest.raises(RelayError, match=r"block.* (divide|axes)"):
        dequantize_affine(Aten(Context("m", "PyTorch")), x, list(sizes), const(0.1), None, "int8")


def test_a_file_keeps_the_integers(tmp_path: Path) -> None:
    model = Linear(-8, 7, 16, True)
    torch.export.save(exported(model, (X,)), tmp_path / "model.pt2")
    mod, params = from_exported_program(tmp_path / "model.pt2")
    assert_close(computed(mod, params, (X,)), [model(X)], 1e-6)
