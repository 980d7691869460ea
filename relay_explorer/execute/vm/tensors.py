"""Tensors among the arguments and results of kernels, by type; and the kernel of a single operator."""

from __future__ import annotations

from math import prod

from ...ir.annotate import set_checked_type, set_origin
from ...ir.expr import Call, Expr, Function, Var
from ...ir.ndarray import itemsize
from ...ir.nest import leaf_types
from ...ir.types import TensorType


def argument_types(function: Function) -> list[TensorType] | None:
    """Return the types of the tensors that a kernel reads; None where it also takes other arguments."""
    types: list[TensorType] = []
    for param in function.params:
        leaves = leaf_types(param._checked_type)
        if leaves is None:
            return None
        types += leaves
    return types


def is_open(function: Function) -> bool:
    """Whether the types of a kernel determine neither the sizes of its results nor how these follow from its
    arguments: it is an operator that is used as a value, accepts any value, or computes sizes from data.
    """
    inputs, outputs = argument_types(function), leaf_types(function.body._checked_type)
    if inputs is None or outputs is None:
        return True
    return all(t.is_static for t in inputs) and not all(t.is_static for t in outputs)


def bytes_of(tensor: TensorType) -> int:
    """Return the size of a tensor in bytes; bfloat16 counts as float32, in which NumPy computes it."""
    size = 4 if tensor.dtype == "bfloat16" else itemsize(tensor.dtype)
    return size * prod(tensor.concrete_shape)


def single(call: Expr) -> Function:
    """Wrap an operator's call that is outside all kernels in a kernel of its own."""
    assert isinstance(call, Call)
    params = [Var(f"p{k}", arg._checked_type) for k, arg in enumerate(call.args)]
    body = Call(call.op, params, call.attrs, call.type_args, call.span)
    set_origin(body, (call,))
    set_checked_type(body, call._checked_type)
    return Function(params, body, call._checked_type, None, {"Primitive": 1}, call.span)
