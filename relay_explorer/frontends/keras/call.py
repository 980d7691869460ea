"""What a converter sees of a layer's call, and the table of converters.

Keras's images have their channels last, unless their layer says otherwise; the program's may have them first,
which is what the importer's layout "NCHW" asks for. A `Value` says which order its expression has, so that
converters move the channels only where it is needed.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...ir.errors import RelayError
from ...ir.expr import Expr, const
from ...ir.ndarray import NDArray
from ...ir.show import counted
from ...ops import namespaces as relay
from ..base.axes import normal_axis
from ..base.context import Context
from .graph import Step

if TYPE_CHECKING:
    from numpy import ndarray as Array

    from .importer import Importer


class Value:
    """A value: its expression; whether its channels come first though Keras has them last; its mask."""

    __slots__ = ("expr", "first", "mask")

    def __init__(self, expr: Expr, first: bool = False, mask: Expr | None = None) -> None:
        self.expr = expr
        self.first = first
        self.mask = mask


Results = Value | Expr | Sequence["Value | Expr"]
Converter = Callable[["Call"], Results]

CONVERTERS: dict[str, Converter] = {}
USES_MASK: set[str] = set()


def layer(*names: str, uses_mask: bool = False) -> Callable[[Converter], Converter]:
    """Register a converter of layers; with `uses_mask`, it reads its operands' masks itself."""

    def register(function: Converter) -> Converter:
        for name in names:
            assert name not in CONVERTERS, name
            CONVERTERS[name] = function
            if uses_mask:
                USES_MASK.add(name)
        return function

    return register


class Call:
    """One call of a layer that is being converted. `inputs` are its tensors; `arguments` its parameters by
    name, with `Value`s for tensors.
    """

    def __init__(
        self, importer: Importer, step: Step, inputs: list[Value], arguments: dict[str, Any]
    ) -> None:
        self.importer = importer
        self.context: Context = importer.context
        self.step = step
        self.layer = step.operation
        self.kind = step.kind
        self.inputs = inputs
        self.arguments = arguments
        self.name = importer.weight_name(step.operation)

    def __getitem__(self, index: int) -> Expr:
        """Return an operand with its axes in Keras's order, in the layer's element type."""
        return self.cast(self.last(self.value(index)))

    def __len__(self) -> int:
        return len(self.inputs)

    def value(self, index: int) -> Value:
        """Return an operand."""
        if index >= len(self.inputs):
            raise RelayError(
                f"the layer `{self.layer.name}` is called with {counted(len(self.inputs), 'tensor')}, but "
                f"needs at least {index + 1}"
            )
        return self.inputs[index]

    def all(self) -> list[Expr]:
        """Return all operands in Keras's order."""
        return [self[index] for index in range(len(self.inputs))]

    def cast(self, x: Expr) -> Expr:
        """Cast a float to the type in which the layer computes (see Keras's mixed precision)."""
        wanted = getattr(self.layer, "compute_dtype", None)
        actual = self.context.dtype(x)
        if not wanted or actual == wanted or not getattr(self.layer, "autocast", True):
            return x
        floats = ("float16", "float32", "float64", "bfloat16")
        return relay.cast(x, wanted) if actual in floats and wanted in floats else x

    @property
    def dtype(self) -> str:
        """The element type in which the layer computes."""
        return str(getattr(self.layer, "compute_dtype", None) or "float32")

    def number(self, value: float) -> Expr:
        """Return a constant in the layer's element type."""
        return const(value, self.dtype)

    def attr(self, name: str, default: Any = None) -> Any:
        """Return an attribute of the layer."""
        return getattr(self.layer, name, default)

    def argument(self, name: str, default: Any = None) -> Any:
        """Return a parameter of the call."""
        value = self.arguments.get(name, default)
        return default if value is None else value

    # -- the order of axes

    def last(self, value: Value) -> Expr:
        """Return an expression with its axes in Keras's order."""
        return self.importer.to_last(value.expr) if value.first else value.expr

    def first(self, value: Value) -> Expr:
        """Return an expression with the channels first, for a value whose channels are last in Keras."""
        return value.expr if value.first else self.importer.to_first(value.expr)

    def image(self, index: int = 0) -> tuple[Expr, bool, Callable[[Expr], Value]]:
        """Return an operand with channels, whether they are first, and a function that makes the result's
        value of an expression in the same order.
        """
        value = self.value(index)
        if self.attr("data_format") == "channels_first":
            return self.cast(self.last(value)), True, Value
        if value.first or self.importer.wants_first(self.context.rank(value.expr)):
            return self.cast(self.first(value)), True, lambda x: Value(x, True)
        return self.cast(self.last(value)), False, Value

    def alike(self) -> tuple[list[Expr], bool]:
        """Return all operands in one order, and whether the channels are first."""
        ranks = {self.context.rank(value.expr) for value in self.inputs}
        if len(ranks) == 1 and any(value.first for value in self.inputs):
            return [self.cast(self.first(value)) for value in self.inputs], True
        return self.all(), False

    def axis(self, axis: int, index: int = 0) -> int:
        """Return an axis of Keras's order, counted from the front."""
        return normal_axis(axis, self.context.rank(self.value(index).expr))

    def moved_axis(self, axis: int, rank: int, first: bool) -> int:
        """Return where an axis of Keras's order is if the channels come first."""
        if not first or axis == 0:
            return axis
        return 1 if axis == rank - 1 else axis + 1

    # -- weights

    def array(self, variable: Any) -> Array:
        """Return a weight's values."""
        import numpy as np

        if self.attr("quantization_mode"):
            raise RelayError(
                f"the layer `{self.layer.name}` is quantized ({self.attr('quantization_mode')}), which "
                "cannot be imported",
                help=["import the model before calling model.quantize"],
            )
        value = getattr(variable, "value", None)
        if value is not None and not callable(value):
            variable = value  # the backend's own tensor
        if hasattr(variable, "detach"):
            variable = variable.detach().cpu()
            if str(variable.dtype) == "torch.bfloat16":
                variable = variable.float()
        elif hasattr(variable, "numpy"):
            return np.asarray(variable.numpy())
        return np.asarray(variable)

    def weight(self, name: str, change: Callable[[Array], Array] | None = None, form: str = "") -> Expr:
        """Return the layer's weight `name`, after `change`, whose name is `form`."""
        return self.weight_of(self.layer, name, change, form)

    def weight_of(
        self, layer: Any, name: str, change: Callable[[Array], Array] | None = None, form: str = ""
    ) -> Expr:
        """Return a weight of a layer that belongs to this one."""

        def make() -> Array:
            variable = getattr(layer, name, None)
            if variable is None:
                raise RelayError(
                    f"the layer `{layer.name}` has no weight `{name}` yet",
                    help=["build the model: call it once, or call model.build(shape)"],
                )
            values = self.array(variable)
            return values if change is None else change(values)

        return self.cast(self.importer.weight(layer, f"{name}:{form}" if form else name, make))

    def has(self, name: str) -> bool:
        """Whether the layer has a weight `name`."""
        return self.attr(name) is not None

    def constant(self, array: Any) -> Expr:
        """Return values that are part of the layer's configuration."""
        import numpy as np

        return const(np.asarray(array, self.dtype))

    def activated(self, x: Expr, axis: int = -1) -> Expr:
        """Apply the layer's activation function, along `axis` if it is a softmax."""
        from .activations import activate

        return activate(self, self.attr("activation"), x, axis)


def bind(operation: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call by parameter name."""
    try:
        bound = inspect.signature(operation.call).bind(*args, **kwargs)
    except (TypeError, ValueError):
        return dict(kwargs)
    arguments = dict(bound.arguments)
    for name, parameter in inspect.signature(operation.call).parameters.items():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            arguments.update(arguments.pop(name, {}))
    return arguments


def shared(array: Array) -> NDArray:
    """Return values that share the array's memory where they are in order."""
    return NDArray.sharing(array)
