"""PyTorch tensors as constant data of a program, which share their memory."""

from __future__ import annotations

from typing import Any

from ...ir.errors import RelayError
from ...ir.ndarray import NDArray, is_supported


def element_type(dtype: Any) -> str:
    """Return the Relay name of a `torch.dtype`; raise a RelayError where Relay has no such type."""
    name = str(dtype).removeprefix("torch.")
    if name.startswith("complex"):
        raise RelayError("Relay has no complex numbers", help=["compute with real and imaginary parts"])
    if not is_supported(name):
        raise RelayError(f"Relay has no element type {name}", help=["convert the model with model.float()"])
    return name


def data_of(tensor: Any) -> NDArray:
    """Return a tensor's data; its memory is shared if it is dense and in row-major order on the CPU."""
    import torch

    if tensor.layout != torch.strided:
        raise RelayError(
            f"a tensor with the layout {tensor.layout} cannot be imported",
            help=["make it dense with tensor.to_dense()"],
        )
    if tensor.is_quantized:
        raise RelayError(
            "a quantized tensor cannot be imported", help=["import the model before it is quantized"]
        )
    if tensor.device.type == "meta":
        raise RelayError(
            "a tensor on the device `meta` has no data", help=["load the model's weights before importing it"]
        )
    name = element_type(tensor.dtype)
    plain = tensor.detach().resolve_neg().cpu().contiguous()
    if name != "bfloat16":
        return NDArray.sharing(plain.numpy())
    bits = NDArray.sharing(plain.view(torch.int16).numpy())
    return NDArray(bits.shape, name, bits.data)


def same_memory(tensor: Any) -> tuple[object, ...]:
    """Return a key that is equal for tensors which are the same view of the same memory (tied weights)."""
    where = tensor.data_ptr() if tensor.numel() and tensor.device.type != "meta" else id(tensor)
    return (where, tuple(tensor.shape), tuple(tensor.stride()), tensor.dtype)
