"""What a converter sees of an operator, and the table of converters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...ir.errors import RelayError
from ...ir.expr import Expr
from ...ir.types import Dim
from ...ops import namespaces as relay
from ..base.context import Context, Results
from ..base.errors import DynamicShapeError
from .quantization import dequantized
from .reader import Operator, Tensor

if TYPE_CHECKING:
    from numpy import ndarray as Array

    from .importer import Frame

Converter = Callable[["Operation"], Results]

CONVERTERS: dict[str, tuple[Converter, str]] = {}


def converter(*names: str, mode: str = "real") -> Callable[[Converter], Converter]:
    """Register a converter of the operators `names`.

    With the mode "real", operands that are quantized are dequantized, and the results are quantized. With
    "stored", the operator only moves values, so that it works on the integers; where the operands and results
    are not quantized alike, the mode is "real". With "own", the converter handles quantization.
    """

    def register(function: Converter) -> Converter:
        for name in names:
            assert name not in CONVERTERS, name
            CONVERTERS[name] = (function, mode)
        return function

    return register


class Operation:
    """One operator that is being converted: its attributes, operands and what is known of them.

    `op[i]` is operand i: its real values, or the stored ones where the converter's mode is "stored" or "own".
    """

    def __init__(self, frame: Frame, operator: Operator, mode: str) -> None:
        self.frame = frame
        self.context: Context = frame.context
        self.operator = operator
        self.name = operator.name
        self.attrs = operator.attrs
        self.mode = mode

    def __len__(self) -> int:
        return len(self.operator.inputs)

    def __getitem__(self, index: int) -> Expr:
        return self.real(index) if self.mode == "real" else self.stored(index)

    def has(self, index: int) -> bool:
        """Whether operand `index` is given."""
        return index < len(self.operator.inputs) and self.operator.inputs[index] >= 0

    def tensor(self, index: int) -> Tensor:
        """Return the description of operand `index`; raise a RelayError if it is not given."""
        if not self.has(index):
            raise RelayError(f"operand {index} is missing")
        return self.frame.graph.tensors[self.operator.inputs[index]]

    def result(self, index: int = 0) -> Tensor:
        """Return the description of result `index`."""
        if index >= len(self.operator.outputs):
            raise RelayError(f"result {index} is missing")
        return self.frame.graph.tensors[self.operator.outputs[index]]

    def stored(self, index: int) -> Expr:
        """Return an operand as it is stored: integers if it is quantized."""
        return self.frame.value(self.tensor(index))

    def real(self, index: int) -> Expr:
        """Return an operand's real values."""
        tensor, stored = self.tensor(index), self.stored(index)
        if tensor.quantization is None or tensor.dtype not in ("int8", "uint8", "int16", "int32"):
            return stored
        return self.frame.once(("real", tensor.index), lambda: self._dequantized(stored, tensor))

    def _dequantized(self, stored: Expr, tensor: Tensor) -> Expr:
        assert tensor.quantization is not None
        return dequantized(self.context, stored, tensor.quantization)

    def all(self) -> list[Expr]:
        """Return all operands."""
        return [self[index] for index in range(len(self))]

    # -- what is known

    def values(self, index: int) -> Array | None:
        """Return the stored values of an operand if they are known at compile time."""
        tensor = self.tensor(index)
        if tensor.data is not None:
            return tensor.data
        value: Array | None = self.context.constant(self.stored(index))
        return value

    def ints(self, index: int, role: str) -> tuple[int, ...]:
        """Return the elements of an integer operand, which must be known at compile time."""
        values = self.values(index)
        if values is None:
            known = self.context.known(self.stored(index))
            if known is not None and all(isinstance(element, int) for element in known):
                return tuple([element for element in known if isinstance(element, int)])
            raise DynamicShapeError(f"{role} must be known at compile time, but the model computes it")
        return tuple([int(value) for value in values.reshape(-1)])

    def number(self, index: int, role: str) -> float:
        """Return a scalar operand, which must be known at compile time."""
        values = self.values(index)
        if values is None:
            raise DynamicShapeError(f"{role} must be a number that is known at compile time")
        if values.size != 1:
            raise RelayError(f"{role} must be a single number, not {values.size}")
        return float(values.reshape(-1)[0])

    def sizes(self, index: int, role: str) -> tuple[int, ...] | Expr:
        """Return a shape operand: ints if it is known (one of them may be -1), else its expression."""
        values = self.values(index)
        if values is not None:
            return self.ints(index, role)
        stored = self.stored(index)
        known = self.context.known(stored)
        if known is None:
            return stored
        ints = [element if isinstance(element, int) else -1 for element in known]
        return stored if ints.count(-1) else tuple(ints)

    def shape(self, index: int) -> tuple[Dim, ...]:
        """Return an operand's shape."""
        data = self.tensor(index).data  # a constant may be needed in another form only
        return self.context.shape(self.stored(index)) if data is None else tuple(map(int, data.shape))

    def extents(self, index: int, axes: Sequence[int]) -> tuple[int, ...]:
        """Return an operand's extents on `axes`, which must be known at compile time."""
        shape = self.shape(index)
        result: list[int] = []
        for axis in axes:
            extent = shape[axis]
            if not isinstance(extent, int):
                raise DynamicShapeError(
                    f"the extent of axis {axis} of operand {index} must be known at compile time, but its "
                    f"type is {self.context.type(self.stored(index))}"
                )
            result.append(extent)
        return tuple(result)

    def rank(self, index: int) -> int:
        """Return the number of an operand's axes."""
        return len(self.shape(index))

    def dtype(self, index: int) -> str:
        """Return an operand's stored element type."""
        data = self.tensor(index).data
        return self.context.dtype(self.stored(index)) if data is None else str(data.dtype)

    def attr(self, name: str, default: Any = 0) -> Any:
        """Return an attribute; an operator without options has each at its default."""
        if self.attrs and name not in self.attrs and "custom_options" not in self.attrs:
            raise RelayError(f"{self.name} has no option `{name}`; it has {', '.join(self.attrs)}")
        return self.attrs.get(name, default)

    # -- building

    def activated(self, x: Expr) -> Expr:
        """Apply the fused activation function."""
        return activation(x, int(self.attr("fused_activation_function")))


def activation(x: Expr, kind: int) -> Expr:
    """Apply an activation function of the schema's enumeration to real values."""
    match kind:
        case 0:
            return x
        case 1:
            return relay.nn.relu(x)
        case 2:
            return relay.clip(x, -1.0, 1.0)
        case 3:
            return relay.clip(x, 0.0, 6.0)
        case 4:
            return relay.tanh(x)
    raise RelayError(f"the fused activation function {kind} cannot be imported")
