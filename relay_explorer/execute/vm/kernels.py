"""Kernels as the machine calls them, and those that compute with NumPy, so that every program runs without a
compiler.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from ...ir.errors import RelayError
from ...ir.expr import Constant, Expr, Function, Var
from ...ir.module import IRModule
from ...ir.nest import leaf_types, leaves, nested
from ...ir.types import TensorType, TupleType, Type
from ...transform.tools.inlining import substituted
from ...typing import infer_types
from ..code import Kind, compile_function
from ..interpreter import apply_operator
from .bytecode import KernelCode
from .tensors import argument_types, is_open

if TYPE_CHECKING:
    from numpy import ndarray as Array

Shape = tuple[int, ...]


class Kernel(Protocol):
    """The interface of kernels. Tensors are NumPy arrays; tuples are passed tensor by tensor."""

    def run(self, *tensors: Array) -> object:
        """Read the arguments, which come first, and fill the results."""

    def shapes(self, arguments: Sequence[Array]) -> list[Shape]:
        """Return the shapes of the results for arguments of these shapes."""

    def compute(self, arguments: Sequence[Any]) -> list[Any]:
        """Compute the results in new memory."""


class NumPyKernel:
    """Computes a primitive function with NumPy, operator by operator."""

    def __init__(self, code: KernelCode) -> None:
        function = code.function
        compiled = compile_function(function)
        self.function = function
        self.steps = compiled.block.instructions
        self.result = compiled.block.result
        self.size = compiled.size
        self.constants = [
            (slot, _array(expr)) for slot, expr in compiled.constants if isinstance(expr, Constant)
        ]
        self.types = [p._checked_type for p in function.params]
        arguments, self.results = argument_types(function), leaf_types(function.body._checked_type)
        self.open = arguments is None or self.results is None  # its arguments or its result may be any values
        self.count = len(self.types if arguments is None else arguments)
        self.simple = self.open or all(isinstance(type_, TensorType) for type_ in self.types)
        self.known: dict[tuple[Shape, ...], list[Shape]] = {}

    def run(self, *tensors: Array) -> None:
        for output, value in zip(tensors[self.count :], self.compute(tensors[: self.count])):
            output[...] = value

    def compute(self, arguments: Sequence[Any]) -> list[Any]:
        frame: list[Any] = [None] * self.size
        rest = iter(arguments)
        frame[: len(self.types)] = arguments if self.simple else [nested(rest, p) for p in self.types]
        for slot, array in self.constants:
            frame[slot] = array
        for kind, target, operands, detail, node in self.steps:
            values = [frame[slot] for slot in operands]
            if kind is Kind.OPERATOR:
                op, attrs = detail
                frame[target] = apply_operator(op, attrs, values, node)
            elif kind is Kind.FIELD:
                frame[target] = values[0][detail]
            else:
                frame[target] = tuple(values)
        value = frame[self.result]
        return [value] if self.open else leaves(value)

    def shapes(self, arguments: Sequence[Array]) -> list[Shape]:
        """Infer the shapes by the operators' type relations; where these leave sizes open, by computing the
        results.
        """
        argument_shapes = tuple([a.shape for a in arguments])
        if argument_shapes not in self.known:
            inferred = self._inferred(argument_shapes)
            if inferred is None:
                return [tuple(array.shape) for array in self.compute(arguments)]
            self.known[argument_shapes] = inferred
        return self.known[argument_shapes]

    def _inferred(self, argument_shapes: tuple[Shape, ...]) -> list[Shape] | None:
        typed = sized(self.function, argument_shapes)
        tensors = [] if typed is None else leaf_types(typed.body.checked_type) or []
        is_static = typed is not None and all(t.is_static for t in tensors)
        return [t.concrete_shape for t in tensors] if is_static else None


def sized(function: Function, shapes: Sequence[Shape]) -> Function | None:
    """Retype a primitive function for arguments of these shapes, flat; None where it takes anything but
    tensors, or where its operators refuse these shapes.
    """
    if argument_types(function) is None:
        return None
    rest = iter(shapes)
    params = [Var(p.name_hint, _sized(rest, p.checked_type)) for p in function.params]
    body = substituted(function.body, dict(zip(function.params, params)))
    try:
        return infer_types(IRModule.from_expr(Function(params, body)))["main"]
    except RelayError:
        return None


def narrowed(function: Function) -> Function:
    """Narrow the types of a primitive function's results to the sizes that follow from its arguments. A
    result may be typed with dynamic sizes although they are known, because it is passed on as such.
    """
    inputs, outputs = argument_types(function), leaf_types(function.body._checked_type)
    if inputs is None or outputs is None or not is_open(function):
        return function
    typed = sized(function, [t.concrete_shape for t in inputs])
    if typed is None or is_open(typed):
        return function
    return Function(typed.params, typed.body, typed.ret_type, None, function.attrs)


def _array(expr: Expr) -> Array:
    assert isinstance(expr, Constant)
    array = expr.data.numpy()
    array.flags.writeable = False
    return array


def _sized(rest: Any, type_: Type) -> Type:
    """Replace the shapes in a type by the next ones."""
    if isinstance(type_, TupleType):
        return TupleType([_sized(rest, field) for field in type_.fields])
    assert isinstance(type_, TensorType)
    return TensorType(next(rest), type_.dtype)
