"""Register an operator by its name and set its properties, as with `tvm.relay.op`:

    register("smooth", "A running mean.")
    Op.get("smooth").relation = IDENTITY
    register_pattern("smooth", OpPattern.OPAQUE)

`operator` declares an operator as a whole. The methods with which older code completed an operator
(`set_num_inputs`, `add_type_rel` …) are in the compatibility layer: `relay_explorer.compat.operator_steps`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any as Anything
from typing import TypeVar, overload

from ..ir.errors import RelayError
from ..ir.op import Op, Relation, RelationError, Reporter
from ..ir.types import Type

F = TypeVar("F", bound=Callable[..., Anything])
V = TypeVar("V")


def register(op_name: str, describe: str = "") -> Op:
    """Register and return an operator that has no type relation yet; raise a RelayError where the name is
    taken.
    """
    Op.load_all()
    if op_name in Op._registry:
        raise RelayError(
            f"the operator `{op_name}` is already registered",
            help=["choose another name, or remove the old operator first: Op.unregister(…)"],
        )
    return Op.register(
        Op(op_name, description=describe, formula="", inputs=None, relation=_unrelated(op_name))
    )


def _unrelated(op_name: str) -> Relation:
    def rule(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
        raise RelationError(
            f"`{op_name}` was registered without a type relation",
            f'give it one: Op.get("{op_name}").relation = …, or .add_type_rel(…) in old code',
        )

    return Relation("None", rule, "")


# -- properties


@overload
def register_op_attr(
    op_name: str, attr_key: str, value: None = None, level: int = 10
) -> Callable[[V], V]: ...
@overload
def register_op_attr(op_name: str, attr_key: str, value: V, level: int = 10) -> V: ...
def register_op_attr(op_name: str, attr_key: str, value: Anything = None, level: int = 10) -> Anything:
    """Set a property of an operator, registering it first if necessary. Without `value`, return a decorator
    that sets the property to a function.
    """
    Op.load_all()
    op = Op._registry.get(op_name) or register(op_name)

    def set_it(value: Anything) -> Anything:
        op.set_attr(attr_key, value, level)
        return value

    return set_it if value is None else set_it(value)


def register_pattern(op_name: str, pattern: int, level: int = 10) -> int:
    """Register how the operator may be fused: an OpPattern."""
    return register_op_attr(op_name, "TOpPattern", pattern, level)


def register_stateful(op_name: str, stateful: bool, level: int = 10) -> bool:
    """Register whether the operator has side effects. No pass of this package reads it."""
    return register_op_attr(op_name, "TOpIsStateful", stateful, level)


@overload
def register_mixed_precision_conversion(op_name: str, func: F, level: int = 10) -> F: ...
@overload
def register_mixed_precision_conversion(
    op_name: str, func: None = None, level: int = 10
) -> Callable[[F], F]: ...
def register_mixed_precision_conversion(op_name: str, func: Anything = None, level: int = 10) -> Anything:
    """Register how the pass ToMixedPrecision treats the operator: a function of a call and of the target
    element type, which returns the category (`transform.mixed_precision`), the accumulator's element type,
    and that of the result. Without `func`, return a decorator.
    """
    return register_op_attr(op_name, "FTVMMixedPrecisionConversionType", func, level)


@overload
def register_legalize(op_name: str, legal_op: F, level: int = 10) -> F: ...
@overload
def register_legalize(op_name: str, legal_op: None = None, level: int = 10) -> Callable[[F], F]: ...
def register_legalize(op_name: str, legal_op: Anything = None, level: int = 10) -> Anything:
    """Register the replacement that the pass Legalize applies: a function of the attributes, the arguments,
    and the types of the arguments and of the result, which returns an expression or None. Without it, return
    a decorator.
    """
    return register_op_attr(op_name, "FTVMLegalize", legal_op, level)


@overload
def register_alter_op_layout(op_name: str, alter_layout: F, level: int = 10) -> F: ...
@overload
def register_alter_op_layout(
    op_name: str, alter_layout: None = None, level: int = 10
) -> Callable[[F], F]: ...
def register_alter_op_layout(op_name: str, alter_layout: Anything = None, level: int = 10) -> Anything:
    """Register the replacement that the pass AlterOpLayout applies: a function of the attributes, arguments,
    types of the arguments, and the type of the result, which returns a call or None. Without it, return a
    decorator.
    """
    return register_op_attr(op_name, "FTVMAlterOpLayout", alter_layout, level)


@overload
def register_convert_op_layout(op_name: str, convert_layout: F, level: int = 10) -> F: ...
@overload
def register_convert_op_layout(
    op_name: str, convert_layout: None = None, level: int = 10
) -> Callable[[F], F]: ...
def register_convert_op_layout(op_name: str, convert_layout: Anything = None, level: int = 10) -> Anything:
    """Register how the pass ConvertLayout converts the operator to the requested layouts: a function of the
    attributes, arguments, types of the arguments, and the layouts, which returns a call or None. Without it,
    return a decorator.
    """
    return register_op_attr(op_name, "FTVMConvertOpLayout", convert_layout, level)


@overload
def register_infer_correct_layout(op_name: str, infer_layout: F, level: int = 10) -> F: ...
@overload
def register_infer_correct_layout(
    op_name: str, infer_layout: None = None, level: int = 10
) -> Callable[[F], F]: ...
def register_infer_correct_layout(op_name: str, infer_layout: Anything = None, level: int = 10) -> Anything:
    """Register in which layouts the operator works: a function of the attributes, the new layouts of the
    arguments (or None), the old ones, and the old types, which returns an InferCorrectLayoutOutput. Without
    it, return a decorator.
    """
    return register_op_attr(op_name, "FInferCorrectLayout", infer_layout, level)


__all__ = [
    "register", "register_alter_op_layout", "register_convert_op_layout", "register_infer_correct_layout",
    "register_legalize", "register_mixed_precision_conversion", "register_op_attr", "register_pattern",
    "register_stateful",
]  # fmt: skip
