"""What TorchScript's operators on lists and dictionaries do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from ...ir.errors import RelayError
from ..aten import Scalar
from ..aten.values import Int
from .cells import List, Tensor
from .graph import TorchNode
from .interpreter import Environment, Interpreter
from .prims import prim

Inputs = list[object]


@prim("aten::append.list")
def append(run: Interpreter, node: TorchNode, inputs: Inputs, environment: Environment) -> object:
    target = cast(List, inputs[0])
    run.lists.append(target, inputs[1])
    return target


@prim("aten::add_.list", "aten::extend.list", "aten::__iadd__.list")
def extend(run: Interpreter, node: TorchNode, inputs: Inputs, environment: Environment) -> object:
    target = cast(List, inputs[0])
    run.lists.extend(target, cast(List, inputs[1]))
    return target


@prim("aten::add.list")
def add(run: Interpreter, node: TorchNode, inputs: Inputs, environment: Environment) -> object:
    return run.lists.concatenated(cast(List, inputs[0]), cast(List, inputs[1]))


@prim("aten::mul.list")
def mul(run: Interpreter, node: TorchNode, inputs: Inputs, environment: Environment) -> object:
    return List(run.journal, cast(List, inputs[0]).items * run.ctx.integer(inputs[1], "a number of copies"))


@prim("aten::insert.list")
def insert(run: Interpreter, node: TorchNode, inputs: Inputs, environment: Environment) -> object:
    target = cast(List, inputs[0])
    items = list(target.items)
    items.insert(run.ctx.integer(inputs[1], "the index of an element"), inputs[2])
    target.change(tuple(items))
    return None


@prim("aten::pop.list")
def pop(run: Interpreter, node: TorchNode, inputs: Inputs, environment: Environment) -> object:
    target = cast(List, inputs[0])
    items = list(target.items)
    last = items.pop(run.ctx.integer(inputs[1], "the index of an element"))
    target.change(tuple(items))
    return last


@prim("aten::clear.list")
def clear(run: Interpreter, node: TorchNode, inputs: Inputs, environment: Environment) -> object:
    cast(List, inputs[0]).change(())
    return None


@prim("aten::reverse.list")
def reverse(run: Interpreter, node: TorchNode, inputs: Inputs, environment: Environment) -> object:
    target = cast(List, inputs[0])
    target.change(run.lists.reversed(target).state)
    return None


@prim("aten::copy.list", "aten::list.list")
def copy(run: Interpreter, node: TorchNode, inputs: Inputs, environment: Environment) -> object:
    result = List(run.journal, ())
    result.state = cast(List, inputs[0]).state
    return result


@prim("aten::len.list")
def length(run: Interpreter, node: TorchNode, inputs: Inputs, environment: Environment) -> object:
    return run.lists.length(cast(List, inputs[0]))


@prim("aten::__getitem__.list")
def item(run: Interpreter, node: TorchNode, inputs: Inputs, environment: Environment) -> object:
    target, index = cast(List, inputs[0]), cast(Int, inputs[1])
    if not target.is_known:
        return run.lists.item(target, index)
    return target.items[_position(run, target, index)]


@prim("aten::_set_item.list")
def set_item(run: Interpreter, node: TorchNode, inputs: Inputs, environment: Environment) -> object:
    target, index, value = cast(List, inputs[0]), cast(Int, inputs[1]), inputs[2]
    if target.is_known:
        items = list(target.items)
        items[_position(run, target, index)] = value
        target.change(tuple(items))
    else:
        run.lists.replace(target, index, value)
    return target


def _position(run: Interpreter, target: List, index: Int) -> int:
    """Return an index, which must be known, as a non-negative number."""
    position = run.ctx.integer(index, "the index of an element of a list")
    count = len(target.items)
    if not -count <= position < count:
        raise RelayError(f"a list of {count} elements has no element {position}")
    return position % count


@prim("aten::slice.list")
def slice_(run: Interpreter, node: TorchNode, inputs: Inputs, environment: Environment) -> object:
    bounds = [None if bound is None else run.ctx.integer(bound, "a bound of a slice") for bound in inputs[1:]]
    return List(run.journal, cast(List, inputs[0]).items[slice(*bounds)])


def _joined(run: Interpreter, inputs: Inputs, stack: bool) -> object | None:
    """Return the tensor of a list whose length is known only at run time; None for other lists."""
    target = cast(List, inputs[0])
    if target.is_known:
        return None
    axis = run.ctx.integer(inputs[1], "the axis") if len(inputs) > 1 else 0
    return Tensor(run.journal, run.lists.joined(target, axis, stack))


@prim("aten::stack.list")
def stack(run: Interpreter, node: TorchNode, inputs: Inputs, environment: Environment) -> object:
    return _joined(run, inputs, True) or run.operator(node, inputs)


@prim("aten::cat.list", "aten::concat.list")
def cat(run: Interpreter, node: TorchNode, inputs: Inputs, environment: Environment) -> object:
    return _joined(run, inputs, False) or run.operator(node, inputs)


@prim("aten::__contains__.list")
def contains(run: Interpreter, node: TorchNode, inputs: Inputs, environment: Environment) -> object:
    items = cast(List, inputs[0]).items
    if any(isinstance(value, (Scalar, Tensor)) for value in (*items, inputs[1])):
        raise RelayError("`in` cannot be evaluated for a list with values that are known only at run time")
    return inputs[1] in items


# -- dictionaries


@prim("aten::__getitem__.dict")
def dict_item(run: Interpreter, node: TorchNode, inputs: Inputs, environment: Environment) -> object:
    mapping = cast("dict[object, object]", inputs[0])
    if inputs[1] not in mapping:
        raise RelayError(f"a dictionary has no key {inputs[1]!r}; it has {list(mapping)}")
    return mapping[inputs[1]]


@prim("aten::get.dict")
def dict_get(run: Interpreter, node: TorchNode, inputs: Inputs, environment: Environment) -> object:
    mapping = cast("dict[object, object]", inputs[0])
    return mapping.get(inputs[1], inputs[2] if len(inputs) > 2 else None)


@prim("aten::_set_item.dict")
def dict_set(run: Interpreter, node: TorchNode, inputs: Inputs, environment: Environment) -> object:
    if run.depth_of_branches:
        raise RelayError("a dictionary is changed under a condition that is known only at run time")
    cast("dict[object, object]", inputs[0])[inputs[1]] = inputs[2]
    return None


@prim("aten::__contains__.dict")
def dict_contains(run: Interpreter, node: TorchNode, inputs: Inputs, environment: Environment) -> object:
    return inputs[1] in cast("dict[object, object]", inputs[0])


@prim("aten::len.dict")
def dict_length(run: Interpreter, node: TorchNode, inputs: Inputs, environment: Environment) -> object:
    return len(cast("dict[object, object]", inputs[0]))


@prim("aten::keys.dict")
def dict_keys(run: Interpreter, node: TorchNode, inputs: Inputs, environment: Environment) -> object:
    return List(run.journal, list(cast("dict[object, object]", inputs[0])))


@prim("aten::values.dict")
def dict_values(run: Interpreter, node: TorchNode, inputs: Inputs, environment: Environment) -> object:
    return List(run.journal, list(cast("dict[object, object]", inputs[0]).values()))


@prim("aten::items.dict")
def dict_items(run: Interpreter, node: TorchNode, inputs: Inputs, environment: Environment) -> object:
    return List(run.journal, list(cast("dict[object, object]", inputs[0]).items()))


@prim("aten::len.tuple")
def tuple_length(run: Interpreter, node: TorchNode, inputs: Inputs, environment: Environment) -> object:
    return len(cast("Sequence[object]", inputs[0]))
