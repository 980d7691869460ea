"""Operators that old code declares step by step.

    op = relay.op.register("smooth", "A running mean.")
    op.set_num_inputs(1)
    op.add_argument("data", "Tensor", "The numbers.")
    op.add_type_rel("Identity")

The methods are attached to `Op` when the compat layer is loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any as Anything
from typing import NamedTuple
from weakref import WeakKeyDictionary

from ..ir.attrs import Attrs
from ..ir.errors import UnknownOperatorError
from ..ir.op import Op, Relation, RelationError, Reporter
from ..ir.types import Type
from ..ops.relation import SAME_TYPE, known

OTHER_NAMES = {"BroadcastComp": "BroadcastCompare"}  # by TVM's name, this package's


def named_relation(name: str) -> Relation:
    """Return the relation of that name. Raise an UnknownOperatorError where no operator has it."""
    if name == SAME_TYPE.name:
        return SAME_TYPE
    Op.load_all()
    name = OTHER_NAMES.get(name, name)
    for op in Op._registry.values():
        if op.relation.name == name:
            return op.relation
    names = sorted({op.relation.name for op in Op._registry.values()})
    raise UnknownOperatorError(
        f"there is no type relation called `{name[:200]}`", help=[f"there are {', '.join(names)}"]
    )


def relation_from_function(name: str, function: Callable[[list[Type], Anything], Type]) -> Relation:
    """Return a relation that waits for the argument types, and calls `function` on them and on the attributes
    (None where the call has none) to compute the result's type. Exceptions of `function` propagate.
    """

    def rule(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
        if not known(types, num_inputs):
            return False
        passed_attrs = attrs if attrs is not None and len(list(attrs.items())) else None
        result = function(list(types[:num_inputs]), passed_attrs)
        if not isinstance(result, Type):
            raise RelationError(f"the relation `{name}` returned {result!r:.60}, which is not a type")
        reporter.assign(types[num_inputs], result)
        return True

    return Relation(name, rule, f"{{out}} = {name}(…)")


def attrs_called(key: str) -> type[Attrs]:
    """Return the attributes class with that key."""
    Op.load_all()
    if (schema := Attrs.by_key(key)) is not None:
        return schema
    raise UnknownOperatorError(f"there is no class of attributes called `{key[:200]}`")


# -- the steps


class Argument(NamedTuple):
    """A tensor argument of an operator."""

    name: str
    type_info: str = "Tensor"
    description: str = ""


_described: WeakKeyDictionary[Op, list[Argument]] = WeakKeyDictionary()


def _arguments(op: Op) -> list[Argument]:
    return _described.setdefault(op, [Argument(name) for name in op.inputs or ()])


def arguments(op: Op) -> tuple[Argument, ...]:
    """Return the operator's tensor arguments, as far as they were described."""
    return tuple(_arguments(op))


def set_num_inputs(op: Op, n: int) -> None:
    """Let a call take `n` arguments, or any number where `n` is -1."""
    names = [argument.name for argument in _arguments(op)[: max(n, 0)]]
    op.inputs = None if n < 0 else (*names, *[f"arg{k}" for k in range(len(names), n)])


def add_argument(op: Op, name: str, type: str = "Tensor", description: str = "") -> None:
    """Describe the next argument."""
    described = _arguments(op)
    described.append(Argument(name, type, description))
    set_num_inputs(op, max(op.num_inputs, len(described)))


def add_type_rel(
    op: Op, rel_name: str, type_rel_func: Callable[[list[Type], Anything], Type] | None = None
) -> None:
    """Set the operator's relation: the relation of that name of other operators, or a Python function, which
    takes the argument types, once they are known, and the attributes, and returns the type of the result.
    """
    op.relation = (
        named_relation(rel_name) if type_rel_func is None else relation_from_function(rel_name, type_rel_func)
    )


def set_attrs_type_key(op: Op, key: str) -> None:
    """Set the operator's attributes class by its key; raise an UnknownOperatorError where there is none."""
    op.attrs_class = attrs_called(key)


def set_support_level(op: Op, level: int) -> None:
    """Set the operator's level in TVM's list of operators."""
    op.level = level


def attrs_type_key(op: Op) -> str:
    """Return the key of the operator's attributes class; "" where it has none."""
    return "" if op.attrs_class is None else op.attrs_class._key


def support_level(op: Op) -> int:
    """Return the operator's level in TVM's list of operators."""
    return op.level


METHODS: dict[str, object] = {
    step.__name__: step
    for step in (set_num_inputs, add_argument, add_type_rel, set_attrs_type_key, set_support_level)
}
METHODS |= {reader.__name__: property(reader) for reader in (arguments, attrs_type_key, support_level)}
