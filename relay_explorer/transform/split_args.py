"""SplitArgs: split a concatenation of too many tensors."""

from __future__ import annotations

from typing import Annotated

from ..ir.annotate import set_origin
from ..ir.errors import RelayError
from ..ir.expr import Call, Expr, Function, Tuple
from ..ir.lazy_dataclass import dataclass
from ..ir.module import IRModule
from ..ir.types import Any, TensorType, Type
from .infrastructure import AtLeast, PassContext
from .infrastructure.function_passes import TypedPass, rewritten
from .tools.typed_rewrite import call, rewrite_calls


@dataclass(frozen=True)
class SplitArgs(TypedPass):
    """Split each `concatenate` whose kernel would have `max_function_args` arguments or more.

    This is for devices that limit the number of arguments. The first tensors are concatenated, then the
    result with the next ones, and so on; an `annotation.stop_fusion` keeps the parts from being fused again.
    A tensor with a `?` in its shape needs further arguments, its extents and strides. 0 means no limit.
    """

    name = "SplitArgs"
    opt_level = 1

    max_function_args: Annotated[int, AtLeast(0)] = 0

    def transform_function(self, function: Function, mod: IRModule, ctx: PassContext) -> Function:
        if self.max_function_args == 0:
            return function
        return rewritten(function, rewrite_calls(function, {"concatenate": self._split}))

    def _split(self, old: Call, new: Call) -> Expr | None:
        """Split a `concatenate` of too many tensors: some are concatenated first, in a kernel of their
        own.
        """
        fields, types = new.args[0], old.args[0]
        if not isinstance(fields, Tuple) or not isinstance(types, Tuple):
            return None
        limit = self.max_function_args - 1 - _dimensions(old.checked_type)
        needs = [1 + _unknown(field.checked_type) for field in types.fields]
        if sum(needs) < limit:
            return None
        # Each part after the first has the one before it as its first argument.
        fewest = max(needs) + 1 + _unknown(old.checked_type)
        if limit < fewest:
            raise RelayError(
                f"with at most {self.max_function_args} arguments, no two tensors of this `concatenate` "
                "can be joined",
                new.span,
                help=[f"give max_function_args of {fewest + self.max_function_args - limit} or more"],
            )
        assert new.attrs is not None
        axis = new.attrs["axis"]
        part: list[Expr] = []
        used = 0
        for field, need in zip(fields.fields, needs, strict=True):
            if used + need > limit:
                part = [_joined(part, axis, fields)]
                used = 1 + _unknown(old.checked_type)
            part.append(field)
            used += need
        return _joined(part, axis, fields)


def _joined(parts: list[Expr], axis: int, origin: Tuple) -> Expr:
    together = Tuple(parts, origin.span)
    set_origin(together, (origin,))
    return call("concatenate", call("annotation.stop_fusion", together), axis=axis)


def _dimensions(type_: Type) -> int:
    """Count the additional arguments of a result with a `?` in its shape: its strides."""
    return len(type_.shape) if isinstance(type_, TensorType) and _unknown(type_) else 0


def _unknown(type_: Type) -> int:
    """Count the additional arguments of a tensor with a `?` in its shape: its dynamic extents, and its
    strides.
    """
    if not isinstance(type_, TensorType):
        return 0
    count = sum(isinstance(extent, Any) for extent in type_.shape)
    return count + len(type_.shape) if count else 0
