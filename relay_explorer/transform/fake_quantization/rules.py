"""Which rule turns which operator into an integer one: the property `FTVMFakeQuantizationToInteger`.

The rules of this package are in tables by operator (`layers`, `arithmetic`, `means`, `functions`,
`selection`), and by trait for operators that only select elements. A user registers more with
`register_fake_quantization_to_integer`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any as Anything
from typing import overload

from ...ir.op import PROPERTIES, Op
from ...ops.register import register_op_attr
from . import arithmetic, functions, layers, means, selection
from .affine import Rule

PROPERTY = "FTVMFakeQuantizationToInteger"
OPTIONAL_PROPERTY = "FTVMOptionalFakeQuantizationToInteger"

RULES: dict[str, Rule] = {
    **layers.RULES, **arithmetic.RULES, **means.RULES, **functions.RULES, **selection.RULES,
}  # fmt: skip
# Operators through which the type of the result reaches their operands, because they commute with
# quantization: those that select, and these.
_COMMUTING: frozenset[Rule] = frozenset(
    [*selection.RULES.values(), arithmetic.RULES["maximum"], arithmetic.RULES["minimum"]]
)


def rule_of(op: Op, optional: bool) -> Rule | None:
    """Return the rule of an operator, a registered one in preference to the package's; with `optional`, one
    that only applies on request, too.
    """
    rule: Rule | None = op.get_attr(PROPERTY)
    if rule is None and optional:
        rule = op.get_attr(OPTIONAL_PROPERTY)
    return rule


def commutes(op: Op) -> bool:
    """Whether quantizing the operands of an operator and then applying it gives the same as quantizing its
    result.
    """
    rule = op.get_attr(PROPERTY)
    return rule is selection.selected or rule in _COMMUTING


def _default(op: Op) -> Rule | None:
    named = RULES.get(op.name)
    if named is not None:
        return named
    return next((rule for trait, rule in selection.TRAITS.items() if op.has(trait)), None)


PROPERTIES[PROPERTY] = _default
PROPERTIES[OPTIONAL_PROPERTY] = lambda op: functions.OPTIONAL.get(op.name)


@overload
def register_fake_quantization_to_integer(op_name: str, func: Rule, level: int = 10) -> Rule: ...
@overload
def register_fake_quantization_to_integer(
    op_name: str, func: None = None, level: int = 10
) -> Callable[[Rule], Rule]: ...
def register_fake_quantization_to_integer(op_name: str, func: Anything = None, level: int = 10) -> Anything:
    """Register how FakeQuantizationToInteger computes an operator with integers: a function of a call on
    integer operands and of their affine types, a mapping from expressions, which returns the new expression
    and its affine type.

    The type of the call itself, in the same mapping, is the one to which its result will be quantized, where
    that is known. The function may raise `transform.fake_quantization.StaysFloatError`. Without `func`,
    return a decorator.
    """
    return register_op_attr(op_name, PROPERTY, func, level)


def register_optional_fake_quantization_to_integer(
    op_name: str, func: Anything = None, level: int = 10
) -> Anything:
    """Register a rule that applies only to operators named in the option `optional_qnn_ops`."""
    return register_op_attr(op_name, OPTIONAL_PROPERTY, func, level)
