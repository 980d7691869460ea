"""Convert single operators whose operands are all dequantized, in regions that could not be converted as a
whole.

    add(nn.dense(dequantize(%x), dequantize(%w)), %y)   becomes   add(dequantize(qnn.dense(%x, %w)), %y)

Only what needs no knowledge of how the result will be quantized is converted: the result is dequantized at
once, and differs from the float one by rounding errors of floating-point arithmetic alone.
"""

from __future__ import annotations

from ...ir.affine_type import TensorAffineType
from ...ir.annotate import set_checked_type, set_origin
from ...ir.declaration import Trait
from ...ir.expr import Call, Constant, Expr, Function, Tuple
from ...ir.op import Op
from ...ir.recorder import active
from ...ir.rewrites import emit_rewrite
from ...ir.typed import tensor_type
from ...ir.walk import children, post_order, rebuild
from ..fold_scale_axis.axes import operator_of
from ..tools.typed_rewrite import call
from .affine import Arithmetic, Rule, wrong_scale
from .events import Region
from .forms import DEQUANTIZE, QUANTIZE, FailedError, Form, applied, is_float, leaf, tuple_form
from .rules import rule_of


class SingleConverter:
    """Converts the operators of one typed function, each on its own."""

    def __init__(self, optional: frozenset[str], arithmetic: Arithmetic) -> None:
        self.optional = optional
        self.arithmetic = arithmetic
        self.memo: dict[Expr, Expr] = {}
        self.leaves: dict[
            Expr, Form
        ] = {}  # values that are dequantized now, by the expression of the function
        self.events = active(Region)

    def run(self, function: Function) -> Expr:
        for node in post_order(function):
            new = rebuild(node, [self.memo[part] for part in children(node)])
            if isinstance(node, Call) and isinstance(new, Call) and isinstance(node.op, Op):
                if operator_of(node) == DEQUANTIZE:
                    if not wrong_scale(new.args[1]):
                        self.leaves[node] = leaf(node, new)
                elif operator_of(node) != QUANTIZE:
                    new = self._converted(node, new, node.op)
            self.memo[node] = new
        return self.memo[function]

    def _converted(self, node: Call, new: Call, op: Op) -> Expr:
        """Return the call, or its integer form, dequantized."""
        rule = rule_of(op, op.name in self.optional)
        # Arithmetic on pairs of elements would only move from float32 to int32.
        if rule is None or op.has(Trait.PAIRWISE) or not is_float(node._checked_type):
            return new
        operands: dict[Expr, Form] = {}
        for arg in node.args:
            form = self._form(arg)
            if form is not None:
                operands[arg] = form
            elif is_float(arg._checked_type) and not isinstance(arg, Constant):
                return new
        if not operands:
            return new
        try:
            value, type_, _ = applied(
                rule, node, operands, self.memo, None, dequantized=True, arithmetic=self.arithmetic
            )
        except FailedError:
            return new
        if not isinstance(type_, TensorAffineType):
            return new
        return self._dequantized(rule, node, value, type_)

    def _form(self, arg: Expr) -> Form | None:
        """Return the integers of an operand: of a dequantized value, or of a tuple of them."""
        if isinstance(arg, Tuple) and arg.fields and all(field in self.leaves for field in arg.fields):
            return tuple_form(arg, [self.leaves[field] for field in arg.fields])
        return self.leaves.get(arg)

    def _dequantized(self, rule: Rule, node: Call, value: Expr, type_: TensorAffineType) -> Call:
        emit_rewrite(rule, node, value)
        result = call(
            DEQUANTIZE,
            value,
            type_.scale,
            type_.zero_point,
            axis=type_.axis,
            out_dtype=tensor_type(node).dtype,
        )
        set_checked_type(result, node.checked_type)
        set_origin(result, (node,))
        emit_rewrite(
            self._dequantized,
            node,
            result,
            sentence="The integers are dequantized, because what follows is computed in floating point.",
        )
        if self.events is not None:
            self.events.emit(Region(node, (node,), result))
        self.leaves[node] = Form(value, type_)
        return result
