"""Declare operators whose result's shape the program computes.

`dyn.reshape` is `reshape` with an operand in place of the attribute `newshape`; the extents of its result are
`?`, and only the rank is known. `relay.reshape(x, shape)` calls `dyn.reshape` where `shape` is an expression
that is not a constant. The other builders do the same, so those in this folder are not exported.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any as Anything
from typing import ParamSpec, TypeVar

from ...ir.attrs import Attrs
from ...ir.declaration import Gradient, NotApplicable, Precision, Trait
from ...ir.op import Op, OpPattern, Reference, no_flops
from ...ir.types import Shape, Type
from ..layouts.layout import NO_LAYOUT_RULE
from ..numeric import Array, numbers
from ..operator import Example, operator
from ..relation import UNKNOWN, check_rank, forward
from ..te.lowered import HOST

P = ParamSpec("P")
R = TypeVar("R")


def dynamic(
    name: str,
    *,
    description: str,
    relation: tuple[str, Callable[..., Type], str],
    inputs: tuple[str, ...],
    attrs: type[Attrs],
    reference: Reference,
    gradient: Gradient | NotApplicable,
    example: Example,
    level: int = 3,
    pattern: OpPattern = OpPattern.INJECTIVE,
    precision: Precision = Precision.UNLISTED,
    traits: tuple[Trait, ...] = (),
    lenient_in_tvm: str = "It accepted shapes, counts and indices of any element type.",
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare `dyn.name`, whose formula and family are those of the static operator `name`.

    `relation` is the name of the type relation, the function that returns the result's type, and the formula.
    """
    static, (title, result, formula) = Op.get(name), relation
    return operator(
        f"dyn.{name}",
        description=description,
        formula=static.formula,
        family=static.family,
        level=level,
        relation=forward(title, formula, result),
        inputs=inputs,
        attrs=attrs,
        pattern=pattern,
        flops=no_flops,
        reference=reference,
        gradient=gradient,
        lowering=HOST,
        layout=NO_LAYOUT_RULE,
        precision=precision,
        traits={Trait.SIZED_BY_VALUES, *traits},
        example=example,
        lenient_in_tvm=lenient_in_tvm,
    )


def unknown(rank: int) -> Shape:
    """Return a shape of `rank` axes whose extents are all `?`."""
    return (UNKNOWN,) * check_rank(rank)


def static_value(name: str, attrs: Attrs, *values: Array) -> Anything:
    """Compute the static operator `name` by its reference implementation."""
    reference = Op.get(name).reference
    assert reference is not None
    return reference(attrs, *values)


def with_operands(name: str, *attributes: str, at: int = 1, single: bool = False) -> Reference:
    """Make the reference implementation of `dyn.name`, whose operands from index `at` on are the `attributes`
    of the static operator: vectors of integers or, with `single`, one integer each.
    """

    def compute(attrs: Attrs, *values: Array) -> Anything:
        end = at + len(attributes)
        sizes = [numbers(value)[0] if single else numbers(value) for value in values[at:end]]
        static_attrs = attrs.replace(**dict(zip(attributes, sizes, strict=True)))
        return static_value(name, static_attrs, *values[:at], *values[end:])

    return compute
