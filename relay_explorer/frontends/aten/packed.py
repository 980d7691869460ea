"""Weights that PyTorch has packed for its quantized operators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any as Anything

from ...ir import const
from ...ir.errors import RelayError
from ...ir.expr import Expr
from ...ir.lazy_dataclass import dataclass
from .dtypes import dtype_name
from .quantization import Quantization, checked_scale


@dataclass(frozen=True, eq=False)
class Convolution:
    """The sizes of a packed convolution; `output_padding` is that of a transposed one."""

    stride: Sequence[int]
    padding: Sequence[int]
    dilation: Sequence[int]
    groups: int
    transposed: bool
    output_padding: Sequence[int]


@dataclass(frozen=True, eq=False)
class Packed:
    """A weight with its bias. `weight` and `bias` are PyTorch's tensors, the weight a quantized one (or
    float16, for a linear layer that is computed in real numbers). `parameter` makes a parameter of `@main` of
    an array: it is called with the part of the name that follows the module's path.
    """

    weight: Anything
    bias: Anything
    convolution: Convolution | None
    parameter: Callable[[str, Anything], Expr]

    def integers(self) -> tuple[Expr, Quantization]:
        """Return the weight's integers, a parameter, and its quantization."""
        if not getattr(self.weight, "is_quantized", False):
            raise RelayError(f"the weight must be quantized, but its elements are {self.weight.dtype}")
        whole = self.parameter("weight", self.weight.int_repr().numpy())
        return whole, quantization_of_tensor(self.weight)

    def bias_values(self) -> Anything:
        """Return the bias as a NumPy array of float32, or None."""
        if self.bias is None:
            return None
        return self.bias.detach().to(dtype=_float32()).numpy()


@dataclass(frozen=True, eq=False)
class Cell:
    """The packed weights of a recurrent layer: from the input, and from the hidden state."""

    input: Packed
    hidden: Packed
    reduce_range: bool


def _float32() -> Anything:
    import torch

    return torch.float32


def quantization_of_tensor(tensor: Anything) -> Quantization:
    """Return how one of PyTorch's quantized tensors is quantized."""
    dtype = dtype_name(tensor.dtype)
    assert dtype is not None
    if "channel" not in str(tensor.qscheme()):
        return Quantization.of(tensor.q_scale(), tensor.q_zero_point(), dtype)
    zeros = tensor.q_per_channel_zero_points().numpy()
    if (zeros != zeros.astype("int32")).any():
        raise RelayError("zero points that are not integers cannot be imported")
    return Quantization(
        checked_scale(tensor.q_per_channel_scales().numpy()),
        const(zeros.astype("int32")),
        dtype,
        int(tensor.q_per_channel_axis()),
    )


def unpacked(object_: Anything, kind: str, parameter: Callable[[str, Anything], Expr]) -> Packed | Cell:
    """Return the weights in one of TorchScript's objects; `kind` is the name of its class. Raise a RelayError
    for other objects.
    """
    import torch

    ops = torch.ops.quantized
    if kind in ("Conv2dPackedParamsBase", "Conv3dPackedParamsBase"):
        axes = 2 if kind.startswith("Conv2d") else 3
        of = f"conv{axes}d"
        transposed = bool(getattr(ops, f"{of}_transpose")(object_))
        unpack = getattr(ops, f"conv_transpose{axes}d_unpack" if transposed else f"{of}_unpack")
        weight, bias = unpack(object_)
        sizes = [list(getattr(ops, f"{of}_{name}")(object_)) for name in ("stride", "padding", "dilation")]
        stride, pads, dilation = sizes
        convolution = Convolution(
            stride, pads, dilation, int(getattr(ops, f"{of}_groups")(object_)), transposed,
            list(getattr(ops, f"{of}_output_padding")(object_)) if transposed else [0] * axes,
        )  # fmt: skip
        return Packed(weight, bias, convolution, parameter)
    if kind == "LinearPackedParamsBase":
        weight, bias = _state(object_)
        return Packed(weight, bias, None, parameter)
    if kind == "EmbeddingPackedParamsBase":
        return Packed(ops.embedding_bag_unpack(object_), None, None, parameter)
    if kind == "CellParamsBase":
        return _cell(object_, parameter)
    raise RelayError(f"objects of TorchScript's class {kind} cannot be imported")


def _cell(object_: Anything, parameter: Callable[[str, Anything], Expr]) -> Cell:
    """Return the weights of a recurrent layer that is quantized in every run."""
    kind, _, _, flags, packed = _state(object_)
    if kind not in ("quantized_dynamic", "quantized_fp16"):
        raise RelayError(f"a recurrent layer whose weights are packed as {kind!r} cannot be imported")
    parts = []
    for name, part in zip(("ih", "hh"), packed):
        weight, bias = _state(part)
        parts.append(Packed(weight, bias, None, _prefixed(parameter, name)))
    return Cell(parts[0], parts[1], bool(flags[0]) if flags else False)


def _state(object_: Anything) -> Anything:
    """Return what an object of TorchScript saves, without the name of its class."""
    return object_.__getstate__()[0]


def _prefixed(parameter: Callable[[str, Anything], Expr], suffix: str) -> Callable[[str, Anything], Expr]:
    return lambda name, values: parameter(f"{name}_{suffix}", values)
