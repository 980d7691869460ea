"""Looks up the lowering of an operator."""

from __future__ import annotations

from ..ir.errors import RelayError
from ..ir.nest import leaf_types
from ..ir.op import Op
from ..ir.types import TensorType, Type
from ..ops.te.lowered import Lowering


def lowering_of(op: Op) -> Lowering | None:
    """Return the function that computes an operator in a kernel; None if the operator has only a NumPy
    reference implementation. Raise a RelayError if it has neither. An attribute `FTVMCompute` that a user set
    takes precedence over the operator's declaration.
    """
    override: Lowering | None = op.get_attr("FTVMCompute")
    if override is not None:
        return override
    if callable(op.lowering):
        return op.lowering
    if op.reference is None:
        raise RelayError(
            f"the operator `{op.name}` cannot be compiled: it has no lowering",
            help=[
                f'write it as a tensor expression: relay.op.get("{op.name}").set_attr("FTVMCompute", '
                "lambda call: [tvm.te.compute(…)])"
            ],
        )
    return None


def is_users(op: Op) -> bool:
    """Whether the lowering of an operator is user-defined. The cache on disk and the worker processes know
    only the package's lowerings.
    """
    if op.get_attr("FTVMCompute") is not None:
        return True
    return callable(op.lowering) and not op.module.startswith("relay_explorer.")


def tensor_types(type_: Type) -> list[TensorType]:
    """Return the types of the tensors that a value of a type consists of, in order. Raise a RelayError for
    other types.
    """
    types = leaf_types(type_)
    if types is None:
        raise RelayError(f"a kernel takes and returns tensors and tuples of them, not `{type_}`")
    return types
