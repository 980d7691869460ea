"""The argument of a lowering: the call of an operator, and the tensors that it is applied to.

An operator's lowering is a function of a `Lowered` that returns the tensors of the result, one for a tensor,
several for a tuple. Their shapes and element types are exactly those of the operator's type relation, and
their values those of its reference implementation:

    def dense(call: Lowered) -> list[te.Tensor]: ...

HOST in place of a function means that no tensor expression can describe the operator, for example because
the size of its result depends on data: Python runs its reference implementation. CANONICAL means that the
compiler replaces the operator by its canonical form before it makes kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any as Anything
from typing import Protocol

from ...ir.expr import Call
from ...ir.lazy_dataclass import dataclass
from ...ir.op import Op
from ...ir.types import TensorType, Type
from .sizes import Sizes


class Target(Protocol):
    """The properties of the kernel's target that a lowering may use."""

    @property
    def kind(self) -> str:
        """TVM's name of the code generator: `llvm`, `cuda`."""


HOST = "host"
CANONICAL = "canonical"
MATERIALIZED = "relay_explorer.materialized"  # marks a stage that schedules must not inline

Tensors = Anything  # a te.Tensor, or a tuple of Tensors, as Relay nests them
Lowering = Callable[["Lowered"], Sequence[Anything]]


@dataclass(frozen=True)
class Lowered:
    """The argument of a lowering: a call of an operator, and the tensors that it is applied to.

    `inputs` are te.Tensors, a tuple of them for an argument that is a tuple; `types` the arguments' Relay
    types, `out_type` the result's; `attrs` the call's attributes.
    """

    call: Call
    inputs: Sequence[Tensors]
    target: Target
    sizes: Sizes = field(default_factory=Sizes)

    @property
    def op(self) -> Op:
        assert isinstance(self.call.op, Op)
        return self.call.op

    @property
    def name(self) -> str:
        """The operator's name as one word, for the names of its stages: `nn_conv2d`."""
        return self.op.name.replace(".", "_")

    @property
    def attrs(self) -> Anything:
        return self.call.attrs

    @property
    def types(self) -> tuple[Type, ...]:
        return tuple([arg.checked_type for arg in self.call.args])

    @property
    def out_type(self) -> Type:
        return self.call.checked_type

    @property
    def out(self) -> TensorType:
        """The result's type, where it is one tensor."""
        assert isinstance(self.out_type, TensorType)
        return self.out_type

    @property
    def out_shape(self) -> tuple[Anything, ...]:
        """The shape of a result that is one tensor, as integers and TVM's expressions of the named sizes; a
        `?` in it is a variable that nothing binds, so a lowering derives the extent from the inputs instead.
        """
        return self.sizes.shape(self.out)
