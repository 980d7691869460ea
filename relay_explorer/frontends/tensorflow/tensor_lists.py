"""TensorFlow's tensor arrays and tensor lists, as the prelude's tensor arrays of one element shape.

A graph often leaves the shape of an array's elements open until something is written. Such an array has a
`Record` of what is written. The first attempt to convert the graph completes the records; when one changed,
the graph is converted again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...ir.adt import Constructor, TypeData
from ...ir.errors import RelayError
from ...ir.expr import Call, Expr, If, Var, const
from ...ir.types import Any, Dim, GlobalTypeVar, TypeCall
from ...ops import namespaces as relay
from ...prelude import StaticTensorArrayOps
from .tensors import Shape

if TYPE_CHECKING:
    from .importer import Importer

Key = tuple[str, ...]  # the calls that lead to the node which creates an array, and its name


class UnsettledError(Exception):
    """The shape of an array's elements is known only now; the graph must be converted again."""


class Record:
    """The shape of the elements of one array as far as it is known: None, or the shape that all have."""

    def __init__(self, shape: Shape | None) -> None:
        self.shape = shape


class Slot:
    """An element type of arrays: the element type and shape (None if unknown) of their tensors, and the
    records of the arrays that have it.
    """

    def __init__(self, dtype: str, shape: Shape | None) -> None:
        self.dtype = dtype
        self.shape = shape
        self.records: list[Record] = []


class Elements:
    """What is known of the elements of all arrays of a graph, in this and former attempts."""

    def __init__(self) -> None:
        self.records: dict[Key, Record] = {}
        self.changed = False
        self._slots: dict[str, Slot] = {}

    def attach(self, importer: Importer) -> None:
        """Begin an attempt."""
        self.importer = importer
        self.changed = False
        self._slots = {}

    # -- creating arrays

    def create(self, key: Key, dtype: str, declared: Shape | None, size: Expr) -> Expr:
        """Return an array of `size` empty elements; `declared` is what the graph says about their shape."""
        if declared is not None and all(isinstance(extent, int) for extent in declared):
            ops = self._ops(dtype, declared)
        else:
            record = self.records.setdefault(key, Record(None))
            if record.shape is None:
                return self._hole(key, dtype, record)
            ops = self._ops(dtype, record.shape)
            self._slot_of(ops).records.append(record)
        ops.define_tensor_array()
        return Call(ops.get_global_var("tensor_array"), [relay.cast(size, "int32")])

    def unstack(self, tensor: Expr, part: Shape | None = None) -> Expr:
        """Return the array of the parts of a tensor along its first axis, as elements of shape `part`."""
        type_ = self.importer.context.tensor(tensor)
        if not type_.shape:
            raise RelayError("a scalar cannot be unstacked into a tensor array")
        first = type_.shape[0] if isinstance(type_.shape[0], int) else Any()
        shape = (first, *(general(type_.shape[1:]) if part is None else part))
        ops = self._ops(type_.dtype, shape)
        self._ops(type_.dtype, shape[1:])
        ops.define_tensor_array_unstack()
        return Call(ops.get_global_var("tensor_array_unstack"), [tensor])

    # -- reading and writing

    def write(self, array: Expr, index: Expr, value: Expr, grows: bool = False) -> Expr:
        """Return the array with a tensor at an index; an array that `grows` may end before it."""
        slot = self.slot(array)
        if not self._fits(slot, general(self.importer.context.shape(value))):
            return array
        ops = self._of(slot)
        ops.define_tensor_array_write()
        element = ops.get_ctor("tensor_constructor")(value)
        index = relay.cast(index, "int32")
        written = Call(ops.get_global_var("tensor_array_write"), [array, index, element])
        if not grows:
            return written
        prelude = self.importer.context.prelude
        length = self.length(array)
        ops.define_tensor_array()
        gap = Call(ops.get_global_var("tensor_array"), [relay.subtract(index, length)])
        one = prelude.get_ctor("List", "Cons")(element, prelude.get_ctor("List", "Nil")())
        longer = Call(prelude.concat, [array, Call(prelude.concat, [gap, one])])
        return If(relay.less(index, length), written, longer)

    def read(self, array: Expr, index: Expr) -> Expr:
        """Return the tensor at an index."""
        ops = self._settled(array)
        ops.define_tensor_array_read()
        read = ops.get_global_var("tensor_array_read")
        return self._data(ops, Call(read, [array, relay.cast(index, "int32")]))

    def scatter(self, array: Expr, indices: Expr, values: Expr) -> Expr:
        """Return the array with the parts of a tensor at some indices."""
        slot = self.slot(array)
        if not self._fits(slot, general(self.importer.context.shape(values)[1:])):
            return array
        ops = self._of(slot)
        parts = self.unstack(values, slot.shape)
        ops.define_tensor_array_scatter()
        scatter = ops.get_global_var("tensor_array_scatter")
        return Call(scatter, [array, relay.cast(indices, "int32"), parts])

    def split(self, array: Expr, value: Expr, lengths: Expr) -> Expr:
        """Return the array whose elements are the first `lengths[0]` rows of a tensor, the next rows, …"""
        known = self.importer.value(lengths)
        if known is not None:
            begin = 0
            for index, length in enumerate(known.reshape(-1)):
                rows = relay.strided_slice(value, [begin], [begin + int(length)], [1], axes=[0])
                array = self.write(array, _scalar(index), rows)
                begin += int(length)
            return array
        slot = self.slot(array)
        shape = general(self.importer.context.shape(value))
        if not self._fits(slot, (Any(), *shape[1:])):
            return array
        assert slot.shape is not None, "it fits"
        ops = StaticTensorArrayOps(self.importer.context.prelude, slot.dtype, slot.shape)
        ops.define_tensor_array_split(value_shape=shape)
        source = StaticTensorArrayOps(self.importer.context.prelude, slot.dtype, shape)
        whole = source.get_ctor("tensor_constructor")(value)
        return Call(ops.get_global_var("tensor_array_split"), [array, whole, relay.cast(lengths, "int32")])

    def push(self, array: Expr, value: Expr, shape: Shape) -> Expr:
        """Return the array with one more tensor of `shape` at its end."""
        slot = self.slot(array)
        if not self._fits(slot, shape):
            return array
        prelude = self.importer.context.prelude
        element = self._of(slot).get_ctor("tensor_constructor")(value)
        one = prelude.get_ctor("List", "Cons")(element, prelude.get_ctor("List", "Nil")())
        return Call(prelude.concat, [array, one])

    def stack(self, array: Expr) -> Expr:
        """Return the tensors along a new first axis."""
        ops = self._settled(array)
        ops.define_tensor_array_stack()
        return self._data(self._more(ops), Call(ops.get_global_var("tensor_array_stack"), [array]))

    def gather(self, array: Expr, indices: Expr) -> Expr:
        """Return the tensors at some indices, along a new first axis."""
        ops = self._settled(array)
        ops.define_tensor_array_gather()
        gather = ops.get_global_var("tensor_array_gather")
        gathered = self._data(self._more(ops), Call(gather, [array, relay.cast(indices, "int32")]))
        return self.counted(gathered, self.importer.context.shape(indices)[0])

    def concat(self, array: Expr) -> Expr:
        """Return the tensors, concatenated along their first axis."""
        ops = self._settled(array)
        shape = list(ops.shape)
        if not shape:
            raise RelayError("a tensor array of scalars cannot be concatenated")
        if isinstance(shape[0], int):  # all have the same number of rows
            return relay.reshape(self.stack(array), [-1, *_reshaped(shape[1:])])
        ops.define_tensor_array_concat()
        return self._data(ops, Call(ops.get_global_var("tensor_array_concat"), [array]))

    def length(self, array: Expr) -> Expr:
        """Return the number of elements."""
        return Call(self.importer.context.prelude.length, [array])

    def counted(self, stacked: Expr, count: Dim) -> Expr:
        """Return a stack of tensors whose number is known, with a static first axis."""
        shape = self.importer.context.shape(stacked)
        if not isinstance(count, int) or shape[0] == count:
            return stacked
        if sum(not isinstance(extent, int) for extent in shape[1:]) > 1:
            return stacked
        return relay.reshape(stacked, [count, *_reshaped(shape[1:])])

    # -- element types

    def slot(self, array: Expr) -> Slot:
        """Return what is known of the elements of an array."""
        type_ = self.importer.context.type(array)
        if isinstance(type_, TypeCall) and len(type_.args) == 1:
            (element,) = type_.args
            header = element.func if isinstance(element, TypeCall) else element
            if isinstance(header, GlobalTypeVar) and header.name_hint in self._slots:
                return self._slots[header.name_hint]
        raise RelayError(f"a tensor array is required here, but the value has type {type_}")

    def _fits(self, slot: Slot, shape: Shape) -> bool:
        """Whether tensors of `shape` may be written to such arrays; if not, widen their records."""
        own = slot.shape
        if own is not None and len(own) == len(shape) and all(map(_includes, own, shape)):
            return True
        if not slot.records:
            raise RelayError(
                f"a tensor of shape {shape} is written to an array whose elements have shape {slot.shape}"
            )
        for record in slot.records:
            wider = shape if record.shape is None else _joined(record.shape, shape)
            if wider != record.shape:
                record.shape = wider
        self.changed = True
        return False

    def _settled(self, array: Expr) -> StaticTensorArrayOps:
        slot = self.slot(array)
        if slot.shape is None:
            if self.changed:
                raise UnsettledError
            raise RelayError(
                "the shape of the array's elements is unknown, because nothing is written to it before this "
                "node reads it",
                help=["give the array an `element_shape`"],
            )
        return self._of(slot)

    def _of(self, slot: Slot) -> StaticTensorArrayOps:
        assert slot.shape is not None, "the shape is known"
        return self._ops(slot.dtype, slot.shape)

    def _ops(self, dtype: str, shape: Sequence[Dim]) -> StaticTensorArrayOps:
        ops = StaticTensorArrayOps(self.importer.context.prelude, dtype, list(shape))
        ops.define_tensor_adt()
        self._slot_of(ops)
        return ops

    def _slot_of(self, ops: StaticTensorArrayOps) -> Slot:
        shape: Shape = tuple(ops.shape)  # type: ignore[arg-type]  # made of dimensions above
        return self._slots.setdefault(ops.tensor_type_var.name_hint, Slot(ops.dtype, shape))

    def _more(self, ops: StaticTensorArrayOps) -> StaticTensorArrayOps:
        return self._ops(ops.dtype, (Any(), *ops.shape))  # type: ignore[arg-type]  # made of dimensions above

    def _data(self, ops: StaticTensorArrayOps, element: Expr) -> Expr:
        ops.define_tensor_get_data()
        return Call(ops.get_global_var("tensor_get_data"), [element])

    def _hole(self, key: Key, dtype: str, record: Record) -> Expr:
        """Return a variable for an array whose element shape is unknown; the attempt will be repeated."""
        prelude = self.importer.context.prelude
        header = GlobalTypeVar(f"unknown_elements_{len(self._slots)}")
        constructor = Constructor(f"UnknownElements{len(self._slots)}", [], header)
        prelude.mod.add_type(header, TypeData(header, [], [constructor]))
        slot = self._slots[header.name_hint] = Slot(dtype, None)
        slot.records.append(record)
        return Var("/".join(key), TypeCall(prelude.get_type("List"), [header]))


def general(shape: Sequence[Dim]) -> Shape:
    """Return a shape with `?` for dimensions that are not numbers, as names of tensor arrays need it."""
    return tuple([extent if isinstance(extent, int) else Any() for extent in shape])


def _includes(general_extent: Dim, extent: Dim) -> bool:
    return isinstance(general_extent, Any) or general_extent == extent


def _joined(a: Shape, b: Shape) -> Shape:
    if len(a) != len(b):
        raise RelayError(f"tensors of shapes {a} and {b}, of different ranks, are written to the same array")
    return tuple([x if x == y else Any() for x, y in zip(a, b)])


def _reshaped(shape: Sequence[object]) -> list[int]:
    return [extent if isinstance(extent, int) else -1 for extent in shape]


def _scalar(value: int) -> Expr:
    return const(value, "int32")
