"""The argument of a lowering: the call of an operator, and the tensors that it is applied to.

An operator's lowering is a function of a `Lowered` that returns the tensors of the result, one for a tensor,
several for a tuple. Their shapes and element types are exactly those of the operator's type relation, and
their values those of its reference implementation:

    def dense(call: Lowered) -> list[te.Tensor]: ...

HOST in place of a function means that no tensor expression can describe the operator, for example because
the size of its result depends on data: Python runs its reference implementation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from math import prod
from typing import Any as Anything
from typing import Protocol

from ...ir.errors import RelayError
from ...ir.expr import Call
from ...ir.lazy_dataclass import dataclass
from ...ir.op import Op
from ...ir.size import Any, Applied, Size, SizeVar
from ...ir.types import Dim, TensorType, Type
from .library import tvm


class Target(Protocol):
    """The properties of the kernel's target that a lowering may use."""

    @property
    def kind(self) -> str:
        """TVM's name of the code generator: `llvm`, `cuda`."""


HOST = "host"
MATERIALIZED = "relay_explorer.materialized"  # marks a stage that schedules must not inline

Tensors = Anything  # a te.Tensor, or a tuple of Tensors, as Relay nests them
Lowering = Callable[["Lowered"], Sequence[Anything]]

MAX_EXTENT = 2**31 - 1  # elements along an axis
MAX_ELEMENTS = 2**48  # elements of a tensor; with more, sizes in bytes might not fit 64 bits


class Sizes:
    """TVM's variables for the dynamic sizes of a kernel: one for each named size, and a new one for each
    `?`.
    """

    def __init__(self) -> None:
        self.vars: dict[SizeVar, Anything] = {}
        self.unknown = 0

    def dim(self, dim: Dim) -> Anything:
        """Return a dimension as an integer or TVM expression."""
        if isinstance(dim, Any):
            self.unknown += 1
            return tvm.te.var(f"any{self.unknown}", "int64")
        if isinstance(dim, Size):
            return self._size(dim)
        if dim > MAX_EXTENT:
            raise RelayError(f"an axis of {dim:,} elements is too long: kernels support up to {MAX_EXTENT:,}")
        return int(dim)

    def shape(self, type_: TensorType) -> tuple[Anything, ...]:
        count = prod(extent for extent in type_.shape if isinstance(extent, int))
        if count > MAX_ELEMENTS:
            raise RelayError(f"out of memory for a tensor of {count:,} elements: `{type_}`")
        return tuple([self.dim(d) for d in type_.shape])

    def _size(self, size: Anything) -> Anything:
        """Return a named size, or a sum of products of them, as a TVM expression. Sizes nest a few levels at
        most (`ir.size.MAX_NESTING`).
        """
        if not isinstance(size, Size):
            return size
        if isinstance(size, SizeVar):
            if size not in self.vars:
                self.vars[size] = tvm.te.var(size.name, "int64")
            return self.vars[size]
        if isinstance(size, Applied):
            return self._applied(size)
        total: Anything = 0
        for factors, factor in size.terms().items():
            product: Anything = factor
            for atom, power in factors:
                for _ in range(power):
                    product = product * self._size(atom)
            total = total + product
        return total

    def _applied(self, size: Applied) -> Anything:
        te = tvm.te
        functions = {
            "floordiv": te.floordiv, "floormod": te.floormod,
            "min": tvm.tirx.min, "max": tvm.tirx.max,
        }  # fmt: skip
        if size.name not in functions:
            raise RelayError(
                f"a kernel cannot compute the size `{size}`",
                help=["give the tensors of this program static sizes"],
            )
        return functions[size.name](*[self._size(arg) for arg in size.args])


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
