"""The class that old scripts derive from to convert operators of their own: TVM's `OperatorConverter`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...ir.expr import Expr
from ..base.context import Results

if TYPE_CHECKING:
    from .importer import Frame
    from .reader import Tensor


class ExprTable:
    """The expressions of a subgraph's tensors."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame

    def get_expr(self, tensor_idx: int) -> Expr:
        """Return the expression of a tensor."""
        return self.frame.value(self.frame.graph.tensors[tensor_idx])


@dataclass(frozen=True)
class TensorWrapper:
    """A tensor as old converters see it: `tensor_idx`, and its description `tensor`."""

    tensor_idx: int
    tensor: Tensor


class OperatorConverter:
    """Converts the operators of a subgraph. A subclass adds functions to `convert_map`, by operator; each is
    given the `tflite.Operator` and returns its Relay expression. The importer converts the other operators.
    """

    def __init__(self, model: object, subgraph: object, exp_tab: ExprTable) -> None:
        self.model = model
        self.subgraph = subgraph
        self.exp_tab = exp_tab
        self.allow_custom_ops = False
        self.convert_map: dict[str, Callable[[Any], Results]] = {}

    def get_input_tensors(self, op: Any) -> list[TensorWrapper]:
        """Return an operator's operands."""
        return self._wrapped([op.Inputs(index) for index in range(op.InputsLength())])

    def get_output_tensors(self, op: Any) -> list[TensorWrapper]:
        """Return an operator's results."""
        return self._wrapped([op.Outputs(index) for index in range(op.OutputsLength())])

    def get_expr(self, input_tensor_idx: int) -> Expr:
        """Return the expression of a tensor."""
        return self.exp_tab.get_expr(input_tensor_idx)

    def has_expr(self, input_tensor_idx: int) -> bool:
        """Whether a tensor has an expression already."""
        return input_tensor_idx in self.exp_tab.frame.exprs

    def get_tensor_expr(self, tensor: TensorWrapper) -> Expr:
        """Return the expression of a tensor."""
        return self.get_expr(tensor.tensor_idx)

    def get_tensor_value(self, tensor: TensorWrapper) -> Any:
        """Return the values of a constant as a NumPy array; None if the tensor is none."""
        return tensor.tensor.data

    def _wrapped(self, indices: list[int]) -> list[TensorWrapper]:
        tensors = self.exp_tab.frame.graph.tensors
        return [TensorWrapper(index, tensors[index]) for index in indices if index >= 0]
