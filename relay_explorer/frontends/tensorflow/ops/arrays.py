"""Converters of TensorArray (TensorFlow 1) and of tensor lists (TensorFlow 2)."""

from __future__ import annotations

from ....ir.expr import Call, Expr, const
from ....ir.types import Any
from ....ops import namespaces as relay
from ...base.context import Results
from ...base.errors import DynamicShapeError
from ...base.source import Node
from ..importer import Importer
from ..registry import converts
from ..tensor_lists import Key, general
from ..tensors import Shape


def _key(tf: Importer, node: Node) -> Key:
    return (*tf.scope.calls, node.name)


@converts("TensorArrayV3")
def _tensor_array(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    """Create an array. The array itself flows; its handle, the first result, says whether it grows."""
    shape = node.attrs.get("element_shape")
    array = tf.elements.create(_key(tf, node), str(node.attrs["dtype"]), shape, inputs[0])
    return const(int(bool(node.attrs.get("dynamic_size"))), "int32"), array


@converts("TensorArrayWriteV3")
def _write(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    handle, index, value, flow = inputs
    return tf.elements.write(flow, index, value, grows=tf.integer(handle, "the array") == 1)


@converts("TensorArrayReadV3")
def _read(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    _, index, flow = inputs
    return tf.elements.read(flow, index)


@converts("TensorArrayScatterV3")
def _scatter(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    _, indices, value, flow = inputs
    return tf.elements.scatter(flow, indices, value)


@converts("TensorArrayGatherV3")
def _gather(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    _, indices, flow = inputs
    return tf.elements.gather(flow, indices)


@converts("TensorArraySplitV3")
def _split(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    _, value, lengths, flow = inputs
    return tf.elements.split(flow, value, lengths)


@converts("TensorArrayConcatV3")
def _concat(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    """Concatenate the tensors. The lengths, the second result, are not computed."""
    return tf.elements.concat(inputs[1])


@converts("TensorArraySizeV3")
def _size(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    return tf.elements.length(inputs[1])


@converts("TensorArrayCloseV3")
def _close(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    return const(0, "int32")


# -- tensor lists: the handle is the list


def _declared(tf: Importer, shape: Expr) -> Shape | None:
    """Return the shape of a list's elements; a scalar, -1, leaves even the rank open."""
    known = tf.context.known(shape)
    if tf.context.rank(shape) == 0 or known is None:
        return None
    return tuple([extent if isinstance(extent, int) and extent >= 0 else Any() for extent in known])


@converts("TensorListReserve")
def _reserve(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    dtype = str(node.attrs["element_dtype"])
    return tf.elements.create(_key(tf, node), dtype, _declared(tf, inputs[0]), inputs[1])


@converts("EmptyTensorList")
def _empty_list(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    dtype = str(node.attrs["element_dtype"])
    return tf.elements.create(_key(tf, node), dtype, _declared(tf, inputs[0]), const(0, "int32"))


@converts("TensorListFromTensor")
def _from_tensor(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    return tf.elements.unstack(inputs[0])


@converts("TensorListSetItem")
def _set_item(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    grows = bool(node.attrs.get("resize_if_index_out_of_bounds"))
    return tf.elements.write(inputs[0], inputs[1], inputs[2], grows)


@converts("TensorListGetItem")
def _get_item(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    return tf.elements.read(inputs[0], inputs[1])


@converts("TensorListStack")
def _stack(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    count = int(node.attrs.get("num_elements", -1))
    return tf.elements.counted(tf.elements.stack(inputs[0]), count if count >= 0 else Any())


@converts("TensorListGather")
def _gather_list(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    return tf.elements.gather(inputs[0], inputs[1])


@converts("TensorListScatterIntoExistingList")
def _scatter_list(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    array, values, indices = inputs
    return tf.elements.scatter(array, indices, values)


@converts("TensorListConcat", "TensorListConcatV2")
def _concat_list(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    return tf.elements.concat(inputs[0])


@converts("TensorListLength")
def _length(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    return tf.elements.length(inputs[0])


@converts("TensorListElementShape")
def _element_shape(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    shape = tf.elements.slot(inputs[0]).shape
    if shape is None or not all(isinstance(extent, int) for extent in shape):
        raise DynamicShapeError("the shape of the list's elements must be known at compile time")
    return relay.cast(const(list(shape), "int64"), str(node.attrs.get("shape_type", "int32")))


@converts("TensorListPushBack")
def _push(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    """Append a tensor to a list, as the last element of a list that is longer by one."""
    array, value = inputs
    return tf.elements.push(array, value, general(tf.context.shape(value)))


@converts("TensorListPopBack")
def _pop(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    """Return the list without its last element, and that."""
    array = inputs[0]
    prelude = tf.context.prelude
    last = relay.subtract(tf.elements.length(array), const(1, "int32"))
    value = tf.elements.read(array, last)
    return Call(prelude.rev, [Call(prelude.tl, [Call(prelude.rev, [array])])]), value
