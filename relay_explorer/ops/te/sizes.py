"""TVM's variables for the dynamic sizes of a kernel.

A kernel knows only the extents of its arguments. An argument of the type `Tensor[(n, 8), float32]` binds
`n`. Where an extent is `n * m` or `floordiv(n, 2) + 1`, and no argument binds `n`, the extent itself is a
variable, and the product `n * m`, or the quotient, follows from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any as Anything

from ...ir.errors import RelayError
from ...ir.size import Any, Applied, Atom, Factors, Size, SizeVar, quotient_of
from ...ir.types import Dim, TensorType
from .library import tvm

MAX_EXTENT = 2**31 - 1  # elements along an axis
MAX_ELEMENTS = 2**48  # elements of a tensor; with more, sizes in bytes might not fit 64 bits
_COMPUTED = ("floordiv", "floormod", "min", "max")  # the functions of sizes that a kernel can compute


class Sizes:
    """The variables of one kernel: one for each named size, and a new one for each `?`."""

    def __init__(self) -> None:
        self.vars: dict[SizeVar, Anything] = {}
        self.unknown = 0
        self._extents: dict[Size, Anything] = {}  # the variables of extents that are not names
        self._products: dict[Factors, Anything] = {}  # the products that follow from these extents
        self._values: dict[Factors, Anything] = {}  # what is known of other products: None if nothing

    def bind(self, types: Sequence[TensorType]) -> None:
        """Choose the variables for the extents of the kernel's arguments, which have these types."""
        extents = dict.fromkeys([dim for type_ in types for dim in type_.shape if isinstance(dim, Size)])
        for extent in extents:
            if isinstance(extent, SizeVar):
                self._variable(extent)
        pending = [extent for extent in extents if not isinstance(extent, SizeVar)]
        while pending:
            self._values.clear()
            unbound = {extent: self._unbound(extent) for extent in pending}
            extent = min(pending, key=lambda extent: _difficulty(extent, unbound[extent]))
            pending.remove(extent)
            if unbound[extent]:
                self._define(extent, unbound[extent])
        self._values.clear()

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

    # -- extents of arguments

    def _unbound(self, size: Size) -> list[Factors]:
        """Return the products in a sum that do not follow from the variables so far."""
        return [factors for factors in size.terms() if self._value(factors) is None]

    def _define(self, extent: Size, unbound: Sequence[Factors]) -> None:
        """Make an extent a variable. If one product in it is unbound, that follows from the variable."""
        self.unknown += 1
        variable = self._extents[extent] = tvm.te.var(f"extent{self.unknown}", "int64")
        terms = extent.terms()
        factor = terms[unbound[0]]
        if len(unbound) > 1 or not isinstance(factor, int):
            return
        value = variable
        for factors, coefficient in terms.items():
            if factors != unbound[0]:
                value = value - self._value(factors) * coefficient
        if factor < 0:
            value, factor = -value, -factor
        self._products[unbound[0]] = value if factor == 1 else tvm.te.floordiv(value, factor)

    def _value(self, factors: Factors) -> Anything:
        """Return a product of sizes as an expression of the variables; None if it does not follow from
        them.
        """
        if factors not in self._values:
            self._values[factors] = self._computed(factors)
        return self._values[factors]

    def _computed(self, factors: Factors) -> Anything:
        if all(self._is_bound(atom) for atom, _ in factors):
            return self._multiplied(factors)
        for part, value in self._products.items():
            rest = quotient_of(factors, part)
            other = None if rest is None else self._value(rest)
            if other is not None:
                return value * other
        return None

    def _is_bound(self, atom: Atom) -> bool:
        if frozenset([(atom, 1)]) in self._products:
            return True
        if isinstance(atom, SizeVar):
            return atom in self.vars
        args = [arg for arg in atom.args if isinstance(arg, Size) and arg not in self._extents]
        return atom.name in _COMPUTED and not any(self._unbound(arg) for arg in args)

    # -- sizes as expressions

    def _size(self, size: Anything) -> Anything:
        """Return a size as a TVM expression. Sizes nest a few levels at most (`ir.size.MAX_NESTING`). A name
        that no argument binds is a variable that TVM finds undefined if the kernel needs it.
        """
        if not isinstance(size, Size):
            return size
        if size in self._extents:
            return self._extents[size]
        total: Anything = 0
        for factors, factor in size.terms().items():
            value = self._value(factors)
            total = total + (self._multiplied(factors) if value is None else value) * factor
        return total

    def _multiplied(self, factors: Factors) -> Anything:
        product: Anything = 1
        for atom, power in factors:
            for _ in range(power):
                product = product * self._atom(atom)
        return product

    def _atom(self, atom: Atom) -> Anything:
        known = self._products.get(frozenset([(atom, 1)]))
        if known is not None:
            return known
        return self._variable(atom) if isinstance(atom, SizeVar) else self._applied(atom)

    def _variable(self, name: SizeVar) -> Anything:
        if name not in self.vars:
            self.vars[name] = tvm.te.var(name.name, "int64")
        return self.vars[name]

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


def _difficulty(extent: Size, unbound: Sequence[Factors]) -> tuple[int, int, int]:
    """Rank the extents of arguments: first those that define one product, and among them the short ones."""
    powers = [sum(power for _, power in factors) for factors in unbound]
    return len(unbound), max(powers, default=0), len(extent.terms())
