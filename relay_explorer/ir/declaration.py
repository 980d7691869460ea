"""The classes in which an operator's declaration answers the questions of passes: gradients, precision,
traits.

`relay_explorer.ops.operator` collects the answers, and `relay_explorer.ir.op.Op` holds them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import TYPE_CHECKING

from .lazy_dataclass import dataclass

if TYPE_CHECKING:
    from .expr import Call, Expr

GradientRule = Callable[["Call", "Expr"], "Sequence[Expr | None]"]


@dataclass(frozen=True)
class Gradient:
    """How an operator propagates derivatives in the backward pass.

    `formula` states it in one line: `dy` is the derivative with respect to the result `y`, `dx` with respect
    to the operand `x`. `rule` builds it from `call` and `grad`. `call` is a typed call of the operator, with
    typed operands; used as an expression it is the value that the forward pass computed, which a gradient may
    reuse. `grad` is the derivative with respect to the call's value, of that value's type. The rule returns
    the derivative with respect to each operand, of the operand's type; for a tuple, an expression that is a
    tuple. None stands for zero, where the value does not depend smoothly on an operand: an index, a
    condition, a shape.
    """

    formula: str
    rule: GradientRule


# A function of a typed call and of the operands to use in its place (those of the call, possibly rewritten),
# which returns the operator's canonical form: an expression of operators without one, of the call's type and
# value.
Canonical = Callable[["Call", "Sequence[Expr]"], "Expr"]


@dataclass(frozen=True)
class NotApplicable:
    """States that a question does not apply to an operator, and why."""

    reason: str


class Precision(Enum):
    """How mixed precision treats an operator, by TVM's lists."""

    ALWAYS = "always"  # its speedup pays for the casts that it needs
    FOLLOW = "follow"  # takes the precision of its operands
    NEVER = "never"  # loses too much in a narrow type
    UNLISTED = "unlisted"  # in none of TVM's lists: treated like NEVER, unless its operands are narrow anyway


class Trait(Enum):
    """A property that passes query (`op.has(Trait.RESHAPE)`), so that no pass lists operators by name."""

    RESHAPE = "the elements stay in their order; only the shape changes"
    TRANSPOSE = "the elements stay; their order in memory changes"
    CAST = "the elements stay; their type changes"
    COPY = "every element of the result is one of the first operand's, which may occur several times"
    SELECTION = "it selects elements by index or by comparison: op(f(x)) = f(op(x)) for every increasing f"
    ZEROS = "every element of the result is 0"
    ONES = "every element of the result is 1"
    DISPLACED = "an element of the result need not be made of the elements at its own index"
    COMMUTATIVE = "patterns match the operands in either order"
    ASSOCIATIVE = "patterns match chains of it, however they are nested"
    POSITIVELY_HOMOGENEOUS = "f(a · x) = a · f(x) for every a > 0, so positive scales move through it"
    PAIRWISE = "each element is computed from one element of each of two operands, which are broadcast"
    ADDITIVE = "f(a · x, a · y) = a · f(x, y), so scales move through it"
    POLYNOMIAL = "a polynomial of its operands, finite where they are"
    LINEAR_IN_WEIGHT = "a layer that absorbs a scale of its channels into its weight, the second operand"
    CONVOLUTION = "a layer that slides windows over the axes of space"
    TRANSPOSED_CONVOLUTION = "the gradient of a convolution with respect to its data"
    POOL = "it summarizes windows of each channel"
    ACTIVATION = "an element-wise function that often follows a layer, and is finite where that gives 0"
    SHAPE_QUERY = "the value follows from the operand's type alone"
    TYPE_OF_FIRST = "only the type of the first operand matters, not its value"
    TYPE_OF_SECOND = "only the type of the second operand matters, not its value"
    SIZED_BY_VALUES = "the size of the result may depend on the operands' values"
    DIFFERS_IN_TRAINING = "inference computes something else than training, so it is not folded"
    APPROXIMATION = "it approximates the operator of the same name without `fast_`"
    NON_COMPUTATIONAL = "a marker: returns its operand, and no kernel is generated for it"
    KERNEL_BOUNDARY = "a marker of a value that a kernel stores, so it means nothing on a constant"
    MULTIPLY_ADD = "every other operation is an addition to a product"
