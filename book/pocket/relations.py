# %%
from dataclasses import replace

import numpy as np

from pocket import ir, visitor
from pocket.interpreter import ARITHMETIC, apply, windows
from pocket.types import TensorType, TupleType, TypeVariable


def require(condition, message):
    """Raise a TypeError unless a condition holds."""
    if not condition:
        raise TypeError(message)


# %%
def broadcast(*operands):
    """Relate element-wise operands; an extent of 1 is broadcast."""
    dtypes = {operand.dtype for operand in operands}
    require(len(dtypes) == 1, f"element types differ: {dtypes}")
    shape = np.broadcast_shapes(*[operand.shape for operand in operands])
    return replace(operands[0], shape=shape)


# %%
def dense(x, weight, units=None):
    require(x.shape[-1:] == weight.shape[1:], f"{x} does not fit {weight}")
    return replace(x, shape=(*x.shape[:-1], weight.shape[0]))


def slide(x, pool_size, **attrs):
    """Replace the height and the width by the number of windows."""
    image = np.empty(x.shape, bool)
    return replace(x, shape=windows(image, pool_size, **attrs).shape[:4])


def conv2d(x, weight, channels=None, kernel_size=None, **attrs):
    outputs, inputs, *size = weight.shape
    require(x.shape[1] == inputs, f"{x} does not have {inputs} channels")
    result = replace(x, shape=(x.shape[0], outputs, *x.shape[2:]))
    return slide(result, size, **attrs)


# %%
def type_of(value):
    """Return the type of a value."""
    if isinstance(value, tuple):
        return TupleType(tuple(map(type_of, value)))
    return TensorType(value.shape, str(value.dtype))


def zeros(type_):
    """Return a value of a type: tensors of zeros."""
    if isinstance(type_, TupleType):
        return tuple(map(zeros, type_.parts))
    return np.zeros(type_.shape, type_.dtype)


# %%
ELEMENTWISE = f"{ARITHMETIC} sigmoid nn.relu".split()
RELATIONS = dict.fromkeys(ELEMENTWISE, broadcast) | {
    "nn.dense": dense,
    "nn.conv2d": conv2d,
    "nn.max_pool2d": slide,
    "nn.batch_norm": lambda x, *rest, **_: TupleType((x, *rest[2:])),
    "nn.global_avg_pool2d": lambda x: slide(x, x.shape[2:]),
}


# %%
def result_type(name, operands, attrs):
    """Return the type of an operator's result; None if it is too early."""
    if any(visitor.find_all(type_, TypeVariable) for type_ in operands):
        return None
    if name in RELATIONS:
        return RELATIONS[name](*operands, **attrs)
    return type_of(apply(ir.Op(name), map(zeros, operands), attrs))
