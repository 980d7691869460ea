"""torchao's operators, defined for tests where torchao is not installed."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

_SCHEMAS = {
    "quantize_affine": "(Tensor input, SymInt[] block_size, Tensor scale, Tensor? zero_point, ScalarType "
    "output_dtype, Scalar? quant_min=None, Scalar? quant_max=None) -> Tensor",
    "dequantize_affine": "(Tensor input, SymInt[] block_size, Tensor scale, Tensor? zero_point, ScalarType "
    "input_dtype, Scalar? quant_min=None, Scalar? quant_max=None, ScalarType output_dtype=6) -> Tensor",
    "choose_qparams_affine": "(Tensor? input, str mapping_type, SymInt[] block_size, "
    "ScalarType target_dtype, Scalar? quant_min=None, Scalar? quant_max=None, float? eps=None, "
    "ScalarType? scale_dtype=None, ScalarType? zero_point_dtype=None, bool keepdim=False) "
    "-> (Tensor, Tensor)",
}
_RANGES = {torch.int8: (-128, 127), torch.uint8: (0, 255)}


def _divided(x: Tensor, sizes: Sequence[int]) -> Tensor:
    """Return a tensor with two axes for each: the blocks, and the elements of a block."""
    return x.reshape([part for n, size in zip(x.shape, sizes) for part in (n // size, size)])


def _each(x: Tensor, parameter: Tensor, sizes: Sequence[int]) -> Tensor:
    """Return the parameters of blocks in the form of a divided tensor."""
    return parameter.reshape([part for n, size in zip(x.shape, sizes) for part in (n // size, 1)])


def _quantize(
    x: Tensor, sizes: Sequence[int], scale: Tensor, zero: Tensor | None, dtype: torch.dtype,
    low: int | None = None, high: int | None = None,
) -> Tensor:  # fmt: skip
    whole = torch.round(_divided(x, sizes) * (1.0 / _each(x, scale, sizes)))
    if zero is not None:
        whole = whole + _each(x, zero, sizes)
    first, last = _RANGES[dtype]
    clipped = whole.clamp(first if low is None else low, last if high is None else high)
    return clipped.reshape(x.shape).to(dtype)


def _dequantize(
    x: Tensor, sizes: Sequence[int], scale: Tensor, zero: Tensor | None, dtype: torch.dtype,
    low: int | None = None, high: int | None = None, output_dtype: torch.dtype = torch.float32,
) -> Tensor:  # fmt: skip
    whole = _divided(x, sizes).to(output_dtype)
    if zero is not None:
        whole = whole - _each(x, zero, sizes).to(output_dtype)
    return (whole * _each(x, scale, sizes)).reshape(x.shape).to(output_dtype)


def _choose(
    x: Tensor, mapping: str, sizes: Sequence[int], dtype: torch.dtype, low: int | None = None,
    high: int | None = None, eps: float | None = None, scale_dtype: torch.dtype | None = None,
    zero_dtype: torch.dtype | None = None, keepdim: bool = False,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    first, last = _RANGES[dtype] if low is None or high is None else (low, high)
    axes = list(range(1, 2 * x.dim(), 2))
    smallest = _divided(x, sizes).amin(axes).clamp(max=0.0)
    greatest = _divided(x, sizes).amax(axes).clamp(min=0.0)
    least = torch.finfo(x.dtype).smallest_normal if eps is None else eps
    if mapping == "ASYMMETRIC":
        scale = ((greatest - smallest) / float(last - first)).clamp(min=least)
        zero = (first - torch.round(smallest / scale)).clamp(first, last)
        zero_dtype = zero_dtype or torch.int32
    else:
        if mapping == "SYMMETRIC":
            scale = torch.maximum(-smallest, greatest) / ((last - first) / 2)
        else:
            scale = torch.maximum(smallest / first, greatest / last)
        scale = scale.clamp(min=least)
        zero = torch.full_like(scale, (first + last + 1) // 2)
    if not keepdim:  # an axis whose blocks are one element stays
        kept = [n // size for n, size in zip(x.shape, sizes) if size == 1 or size != n]
        scale, zero = scale.reshape(kept), zero.reshape(kept)
    return scale.to(scale_dtype or x.dtype), zero.to(zero_dtype or x.dtype)


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "quantize_affine": _quantize,
    "dequantize_affine": _dequantize,
    "choose_qparams_affine": _choose,
}


def operators() -> Any:
    """Return the namespace of torchao's operators: torchao's own where it is installed."""
    if importlib.util.find_spec("torchao") is not None:
        importlib.import_module("torchao.quantization")
    for name, function in _FUNCTIONS.items():
        if not hasattr(torch.ops.torchao, name):
            torch.library.define(f"torchao::{name}", _SCHEMAS[name])
            torch.library.impl(f"torchao::{name}", "cpu", function)
            torch.library.register_fake(f"torchao::{name}", function)
    return torch.ops.torchao
