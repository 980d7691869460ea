"""Converters of MXNet's operators.

    @converts("Activation")
    def activation(op: Operation) -> Results:
        return relay.nn.relu(op[0])

An `Operation` is a node with the Relay expressions of its inputs. Importing a file of converters registers
them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ...ir.errors import RelayError
from ...ir.expr import Expr
from ...ir.show import counted
from ...ir.types import Dim
from ..base.axes import normal_axis
from ..base.context import Context, Results
from ..base.errors import DynamicShapeError
from .attributes import Attributes
from .symbol import SymbolNode

if TYPE_CHECKING:
    from .importer import Importer

Converter = Callable[["Operation"], Results]

CONVERTERS: dict[str, Converter] = {}
# The operators whose other inputs, the labels of training, have no effect in inference.
LOSSES = frozenset(
    {
        "SoftmaxOutput", "Softmax", "LinearRegressionOutput", "LogisticRegressionOutput",
        "MAERegressionOutput", "SVMOutput",
    }
)  # fmt: skip


class Operation:
    """A node that is being converted. `operation[0]` is the expression of its first input."""

    def __init__(self, importer: Importer, node: SymbolNode, inputs: list[Expr]) -> None:
        self.importer = importer
        self.node = node
        self.inputs = inputs

    @property
    def context(self) -> Context:
        return self.importer.context

    @property
    def attrs(self) -> Attributes:
        return self.node.attrs

    def __getitem__(self, index: int) -> Expr:
        if index >= len(self.inputs):
            count = counted(len(self.inputs), "input")
            raise RelayError(f"the node has {count}, but requires at least {index + 1}")
        return self.inputs[index]

    def __len__(self) -> int:
        return len(self.inputs)

    def shape(self, index: int = 0) -> tuple[Dim, ...]:
        """Return the shape of an input."""
        return self.context.shape(self[index])

    def static_shape(self, index: int = 0) -> tuple[int, ...]:
        """Return the shape of an input, which must be static."""
        return self.context.static_shape(self[index])

    def rank(self, index: int = 0) -> int:
        return self.context.rank(self[index])

    def dtype(self, index: int = 0) -> str:
        return self.context.dtype(self[index])

    def extent(self, index: int, axis: int) -> int:
        """Return the extent of an input's axis, which must be known at compile time."""
        extent = self.shape(index)[axis]
        if not isinstance(extent, int):
            raise DynamicShapeError(
                f"the extent of axis {axis} of input {index} must be known at compile time, but it is "
                f"`{extent}`"
            )
        return extent

    def axis(self, axis: int, index: int = 0) -> int:
        """Return an axis counted from the front; raise a RelayError if the input does not have it."""
        return normal_axis(axis, self.rank(index))


def converts(*names: str) -> Callable[[Converter], Converter]:
    """Register a function as the converter of operators."""

    def register(function: Converter) -> Converter:
        for name in names:
            assert name not in CONVERTERS, f"{name} has two converters"
            CONVERTERS[name] = function
        return function

    return register
