"""Convert ONNX operators on sequences and optionals."""

from __future__ import annotations

from typing import Any as Anything

from ...ir.adt import Clause, Match, PatternConstructor, PatternVar, PatternWildcard
from ...ir.errors import RelayError
from ...ir.expr import Call, Expr, Function, Var, const
from ...ir.types import Any, TensorType, Type
from ...ops import namespaces as relay
from ..base.context import Context
from ..base.errors import DynamicShapeError
from ..base.loops import while_loop
from ..base.source import Node
from . import lists
from .expansion import expansion
from .graph import Graph
from .registry import converter

_MOST_PARTS = 1024  # of a tensor that is split when the model is imported


def sequence_type(context: Context, element: Type) -> Type:
    """Return the Relay type of ONNX's sequences of `element`."""
    return lists.list_type(context, element)


def optional_type(context: Context, element: Type) -> Type:
    """Return the Relay type of ONNX's optional values of type `element`."""
    return lists.option_type(context, element)


# -- building sequences


@converter("SequenceConstruct")
def sequence_construct(g: Graph, node: Node, inputs: list[Anything]) -> Expr:
    return lists.make_list(g.context, inputs)


@converter("SequenceEmpty")
def sequence_empty(g: Graph, node: Node, inputs: list[Anything]) -> Expr:
    from .types import dtype_of

    # The rank is not known yet. Inserting an element builds the list anew, with the type of the element.
    return lists.make_list(g.context, [], TensorType((), dtype_of(g.attr(node, "dtype", 1))))


@converter("SplitToSequence")
def split_to_sequence(g: Graph, node: Node, inputs: list[Anything]) -> Expr:
    data, sizes = inputs[0], inputs[1] if len(inputs) > 1 else None
    axis = _axis(g, node, data)
    keep = bool(g.attr(node, "keepdims", 1)) or sizes is not None
    shape = g.context.shape(data)
    size: int | None = 1
    bounds: list[int] | None = None
    if sizes is not None:
        value = g.context.constant(sizes)
        if value is None:
            return _split_by_run_time_sizes(g.context, data, axis, sizes)
        if value.ndim == 0:
            size = int(value)
        else:
            size, bounds = None, [int(end) for end in value.cumsum()]
    if size is not None and size < 1:
        raise RelayError(f"the split size of SplitToSequence must be positive, not {size}")
    extent = shape[axis]
    if bounds is None and isinstance(extent, int) and size is not None and extent // size <= _MOST_PARTS:
        bounds = [min(end, extent) for end in range(size, extent + size, size)]
    if bounds is None:
        assert size is not None
        return _split_at_run_time(g.context, data, axis, const(size, "int64"), keep, one_each=size == 1)
    total = bounds[-1] if bounds else 0
    if isinstance(extent, int) and total != extent:
        raise RelayError(
            f"the split sizes of SplitToSequence add up to {total}, but the axis has {extent} elements"
        )
    parts = []
    for begin, end in zip([0, *bounds], bounds):
        part = relay.strided_slice(data, [begin], [end], axes=[axis])
        parts.append(part if keep else relay.squeeze(part, [axis]))
    return lists.make_list(g.context, parts, None if parts else g.context.type(data))


def _split_by_run_time_sizes(context: Context, data: Expr, axis: int, sizes: Expr) -> Expr:
    """Split an axis into parts of one size, or of the sizes in a vector, that the program computes."""
    shape = context.shape(sizes)
    if not shape:
        return _split_at_run_time(context, data, axis, relay.cast(sizes, "int64"), True)
    if not isinstance(shape[0], int) or shape[0] > _MOST_PARTS:
        raise DynamicShapeError(
            f"SplitToSequence requires that the number of parts is known at compile time and at most "
            f"{_MOST_PARTS}, but the split sizes have the shape {shape}"
        )
    begin: Expr = const(0, "int64")
    parts = []
    for index in range(shape[0]):
        size = relay.take(relay.cast(sizes, "int64"), const(index, "int64"))
        end = relay.add(begin, size)
        parts.append(relay.take(data, relay.arange(begin, end, const(1, "int64"), "int64"), axis=axis))
        begin = end
    return lists.make_list(context, parts, None if parts else context.type(data))


def _split_at_run_time(
    context: Context, data: Expr, axis: int, step: Expr, keep: bool, one_each: bool = False
) -> Expr:
    """Split an axis into parts of size `step`, from its end, into a list."""
    type_ = context.tensor(data)
    shape: list[Anything] = list(type_.shape)
    shape[axis] = 1 if one_each else Any()
    element = TensorType(shape if keep else [*shape[:axis], *shape[axis + 1 :]], type_.dtype)
    extent = relay.take(relay.shape_of(data, "int64"), const(axis, "int64"))
    one = const(1, "int64")
    count = relay.floor_divide(relay.subtract(relay.add(extent, step), one), step)

    def cut(variables: Anything) -> list[Expr]:
        index, done = variables
        index = relay.subtract(index, one)
        begin = relay.multiply(index, step)
        rows = relay.arange(begin, relay.minimum(relay.add(begin, step), extent), one, "int64")
        part: Expr = relay.take(data, relay.reshape(begin, [1]) if one_each else rows, axis=axis)
        if not keep:
            part = relay.squeeze(part, [axis])
        return [index, Call(lists.constructor(context, "Cons"), [part, done], None, [element])]

    empty = lists.make_list(context, [], element)
    _, result = while_loop(
        context,
        "split",
        [("index", count), ("done", empty)],
        lambda variables: relay.greater(variables[0], const(0, "int64")),
        cut,
    )
    return result


# -- editing sequences


@converter("SequenceInsert")
def sequence_insert(g: Graph, node: Node, inputs: list[Anything]) -> Expr:
    sequence, value = inputs[:2]
    context = g.context
    items = lists.known_items(sequence)
    position = inputs[2] if len(inputs) > 2 else None
    where = None if position is None else context.constant(position)
    if items is not None and (position is None or where is not None):
        index = len(items) if where is None else _checked(int(where), len(items), len(items))
        return lists.make_list(context, [*items[:index], value, *items[index:]])
    alone = lists.make_list(context, [value])
    element = lists.common_elements(context, sequence, alone)
    sequence = lists.with_elements(context, sequence, element)
    if position is None:
        alone = lists.with_elements(context, alone, element)
        return Call(lists.library(context, "concat"), [sequence, alone], None, [element])
    return lists.edit(
        context, "sequence_insert", [sequence, _index(context, sequence, position), value], element
    )


@converter("SequenceErase")
def sequence_erase(g: Graph, node: Node, inputs: list[Anything]) -> Expr:
    sequence, position = inputs[0], inputs[1] if len(inputs) > 1 else None
    context = g.context
    items = lists.known_items(sequence)
    where = -1 if position is None else context.constant(position)
    element = lists.element_type(context, sequence)
    if items is not None and where is not None:
        index = _checked(int(where), len(items), len(items) - 1)
        items = [*items[:index], *items[index + 1 :]]
        return lists.make_list(context, items, None if items else element)
    if position is None:
        position = const(-1, "int64")
    return lists.edit(context, "sequence_erase", [sequence, _index(context, sequence, position)], element)


# -- reading sequences


@converter("SequenceLength")
def sequence_length(g: Graph, node: Node, inputs: list[Anything]) -> Expr:
    return relay.cast(_length(g.context, inputs[0]), "int64")


@converter("SequenceAt")
def sequence_at(g: Graph, node: Node, inputs: list[Anything]) -> Expr:
    sequence, position = inputs
    context = g.context
    items = lists.known_items(sequence)
    where = context.constant(position)
    if items is not None and where is not None:
        return items[_checked(int(where), len(items), len(items) - 1)]
    element = lists.element_type(context, sequence)
    index = _index(context, sequence, position)
    return Call(lists.library(context, "nth"), [sequence, index], None, [element])


@converter("ConcatFromSequence")
def concat_from_sequence(g: Graph, node: Node, inputs: list[Anything]) -> Expr:
    (sequence,) = inputs
    context = g.context
    stacks = bool(g.attr(node, "new_axis", 0))
    axis: int = g.required(node, "axis")
    items = lists.known_items(sequence)
    if items == []:
        raise RelayError("ConcatFromSequence requires at least one tensor, but the sequence is empty")
    element = lists.element_type(context, sequence)
    if not isinstance(element, TensorType):
        raise RelayError(f"ConcatFromSequence concatenates tensors, not values of type {element}")
    rank = len(element.shape) + stacks
    if not -rank <= axis < rank:
        raise RelayError(f"the axis {axis} is out of range for a result of {rank} axes")
    axis %= rank
    if items is not None:
        return relay.stack(items, axis) if stacks else relay.concatenate(items, axis)

    def part(item: Expr) -> Expr:
        return relay.expand_dims(item, axis) if stacks else item

    shape: list[Anything] = list(element.shape)
    if stacks:
        shape.insert(axis, Any())
    else:
        shape[axis] = Any()
    joined = TensorType(shape, element.dtype)
    so_far, item = Var("joined", joined), Var("item", element)
    step = Function([so_far, item], relay.concatenate([so_far, part(item)], axis), joined)
    first = Call(lists.library(context, "hd"), [sequence], None, [element])
    rest = Call(lists.library(context, "tl"), [sequence], None, [element])
    return Call(lists.library(context, "foldl"), [step, part(first), rest], None, [joined, element])


@converter("SequenceMap", since=17)
def sequence_map(g: Graph, node: Node, inputs: list[Anything]) -> Anything:
    context = g.context
    body = g.required(node, "body")
    is_list = [lists.argument_of(context.type(value), "List") is not None for value in inputs]
    known = [lists.known_items(value) if mapped else None for value, mapped in zip(inputs, is_list)]
    if all(items is not None for items, mapped in zip(known, is_list) if mapped):
        rows = [items for items in known if items is not None]
        count = len(rows[0])
        if any(len(items) < count for items in rows):
            raise RelayError("the input sequences of SequenceMap have different lengths")
        if count:
            results = [
                g.subgraph(
                    body, [value if items is None else items[i] for value, items in zip(inputs, known)]
                )
                for i in range(count)
            ]
            return [lists.make_list(context, column) for column in zip(*results)]
    expand = expansion(g.importer, node, g.opsets)
    if expand is None:
        raise RelayError(
            "SequenceMap over sequences of dynamic length cannot be imported: the installed onnx package "
            "does not define it as a function",
            help=["upgrade the package: pip install --upgrade onnx"],
        )
    return expand(g, node, inputs)


# -- optionals


@converter("Optional", since=15)
def optional(g: Graph, node: Node, inputs: list[Anything]) -> Expr:
    value = inputs[0] if inputs else None
    if value is not None:
        return lists.some(g.context, value)
    return lists.absent(g.context, g.relay_type(g.required(node, "type")))


@converter("OptionalHasElement", since=15)
def optional_has_element(g: Graph, node: Node, inputs: list[Anything]) -> Expr:
    value = inputs[0] if inputs else None
    if value is None or lists.is_call_of(value, "None"):
        return const(False)
    if lists.is_call_of(value, "Some") or lists.argument_of(g.context.type(value), "Option") is None:
        return const(True)
    some = lists.constructor(g.context, "Some")
    clauses = [
        Clause(PatternConstructor(some, [PatternWildcard()]), const(True)),
        Clause(PatternConstructor(lists.constructor(g.context, "None"), []), const(False)),
    ]
    return Match(value, clauses)


@converter("OptionalGetElement", since=15)
def optional_get_element(g: Graph, node: Node, inputs: list[Anything]) -> Expr:
    (value,) = inputs
    element = lists.argument_of(g.context.type(value), "Option")
    if element is None:
        return value  # type: ignore[no-any-return]  # an operand
    if lists.is_call_of(value, "None"):
        raise RelayError("OptionalGetElement reads an optional that has no element")
    if lists.is_call_of(value, "Some"):
        return value.args[0]  # type: ignore[no-any-return]  # an expression
    present = Var("value", element)
    pattern = PatternConstructor(lists.constructor(g.context, "Some"), [PatternVar(present)])
    return Match(value, [Clause(pattern, present)], complete=False)


# -- positions


def _axis(g: Graph, node: Node, data: Expr) -> int:
    axis: int = g.attr(node, "axis", 0)
    rank = g.context.rank(data)
    if not -rank <= axis < rank:
        raise RelayError(f"the axis {axis} is out of range for a tensor of {rank} axes")
    return axis % rank


def _checked(index: int, length: int, last: int) -> int:
    """Return a position counted from the start; raise a RelayError where it is out of range."""
    if not -length <= index <= last:
        raise RelayError(f"the position {index} is out of range for a sequence of {length}")
    return index + length if index < 0 else index


def _length(context: Context, sequence: Expr) -> Expr:
    items = lists.known_items(sequence)
    if items is not None:
        return const(len(items), "int32")
    element = lists.element_type(context, sequence)
    return Call(lists.library(context, "length"), [sequence], None, [element])


def _index(context: Context, sequence: Expr, position: Expr) -> Expr:
    """Return a position as an int32 scalar, counted from the start."""
    known = context.constant(position)
    if known is not None and known.size == 1 and int(known.item()) >= 0:
        return const(int(known.item()), "int32")
    index = relay.cast(relay.reshape(position, []), "int32")
    length = _length(context, sequence)
    return relay.where(relay.less(index, const(0, "int32")), relay.add(index, length), index)
