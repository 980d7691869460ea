"""Find fake-quantized regions, and rewrite them to compute with integers.

The conversion goes through a function once, from the leaves up. For each value it knows whether it is made of
dequantized values by operators that have a rule (`inner`), and for any other floating-point value the
obstacle: why a region that reads it stays float. At a `qnn.quantize`, the region that it ends is rewritten.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ...ir.affine_type import TensorAffineType, TupleAffineType
from ...ir.errors import RelayError
from ...ir.expr import Call, Constant, Expr, Function, Let, Tuple, TupleGetItem, Var
from ...ir.op import Op
from ...ir.recorder import active
from ...ir.rewrites import emit_rewrite
from ...ir.walk import children, post_order, rebuild
from ..fold_scale_axis.axes import operator_of
from .affine import Arithmetic, Rule, StaysFloatError, name_of, requantized, wrong_scale
from .events import Region
from .forms import (
    DEQUANTIZE,
    QUANTIZE,
    FailedError,
    Form,
    Obstacle,
    affine_type,
    applied,
    is_float,
    leaf,
    tuple_form,
    typed,
)
from .rules import commutes, rule_of
from .tables import tabulated

ENDS = frozenset([QUANTIZE, DEQUANTIZE])


class _Applied(NamedTuple):
    """One application of a rule, to be recorded if the whole region is converted."""

    rule: Rule
    before: Call
    after: Expr


class RegionConverter:
    """Converts the regions of one typed function."""

    def __init__(self, hard_fail: bool, optional: frozenset[str], arithmetic: Arithmetic) -> None:
        self.hard_fail = hard_fail
        self.optional = optional
        self.arithmetic = arithmetic
        self.memo: dict[Expr, Expr] = {}  # each expression of the function, rewritten
        self.leaves: dict[Expr, Form] = {}  # dequantized values
        self.obstacles: dict[Expr, Obstacle] = {}  # values that no region may contain
        self.inner: set[Expr] = set()  # values that a region may contain
        self.forms: dict[Expr, Form] = {}  # integer forms that do not depend on how their result is quantized
        self.uses: Counter[Expr] = Counter()
        self.bound: set[Expr] = set()  # variables that a `let` binds
        self.events = active(Region)

    def run(self, function: Function) -> Expr:
        nodes = post_order(function)
        self.uses.update(part for node in nodes for part in children(node))
        self.bound.update(node.var for node in nodes if isinstance(node, Let))
        for node in nodes:
            new = rebuild(node, [self.memo[part] for part in children(node)])
            name = operator_of(node)
            if name == QUANTIZE and isinstance(node, Call) and isinstance(new, Call):
                new = self._quantize(node, new)
            elif name == DEQUANTIZE and isinstance(node, Call) and isinstance(new, Call):
                wrong = wrong_scale(new.args[1])
                if wrong:
                    self.obstacles[node] = Obstacle(wrong, node)
                else:
                    self.leaves[node] = leaf(node, new)
            else:
                self._classify(node)
            self.memo[node] = new
        return self.memo[function]

    def _classify(self, node: Expr) -> None:
        """Record whether a value may be part of a region."""
        parts: Sequence[Expr]
        match node:
            case Constant() | Op():
                return
            case Call(op=Op() as op) if is_float(node._checked_type):
                parts = node.args
                if rule_of(op, op.name in self.optional) is None:
                    self.obstacles[node] = Obstacle(f"{name_of(node)} has no integer form", node)
                    return
            case Tuple() | TupleGetItem():
                parts = children(node)
            case _:
                if is_float(node._checked_type):
                    self.obstacles[node] = _bound(node) if node in self.bound else _outside(node)
                return
        blocked = next((self.obstacles[part] for part in parts if part in self.obstacles), None)
        if blocked is not None:
            self.obstacles[node] = blocked
        elif any(part in self.leaves or part in self.inner for part in parts):
            self.inner.add(node)

    def _quantize(self, node: Call, new: Call) -> Expr:
        """Convert the region that a `qnn.quantize` ends."""
        data = node.args[0]
        assert new.attrs is not None
        target = affine_type(new, new.attrs["out_dtype"])
        if data not in self.inner and data not in self.leaves:
            if data in self.obstacles and not isinstance(data, Var):
                return self._by_table(node, new, target, self.obstacles[data], self._region(data))
            return new
        region = self._region(data)
        if wrong := wrong_scale(target.scale):
            self._stays(node, Obstacle(wrong, node), region)
            return new
        applications: list[_Applied] = []
        try:
            form = self._converted(region, data, target, applications)
            assert isinstance(form.type, TensorAffineType)
            result = requantized(form.value, form.type, target, self.arithmetic)
        except FailedError as failure:
            return self._by_table(node, new, target, failure.obstacle, region)
        except StaysFloatError as problem:
            return self._by_table(node, new, target, Obstacle(str(problem), node), region)
        for application in applications:
            emit_rewrite(*application)
        emit_rewrite(
            self._quantize,
            node,
            result,
            sentence="What is quantized is an integer already; it is requantized where the scales differ.",
        )
        if self.events is not None:
            self.events.emit(Region(node, _calls(region), result))
        return result

    def _by_table(
        self, node: Call, new: Call, target: TensorAffineType, obstacle: Obstacle, region: Sequence[Expr]
    ) -> Expr:
        """Convert a region whose operators have no integer form to a table of its results, or report that it
        stays float.
        """
        refused = not obstacle.failed and not wrong_scale(target.scale)
        result = tabulated(node, target, self.leaves) if refused else None
        if result is None:
            self._stays(node, obstacle, region)
            return new
        emit_rewrite(
            tabulated,
            node,
            result,
            sentence="The result depends on one 8-bit integer: a table of 256 entries has all its values.",
        )
        if self.events is not None:
            self.events.emit(Region(node, _calls(region), result))
        return result

    def _stays(self, end: Call, obstacle: Obstacle, region: Sequence[Expr]) -> None:
        """Report that a region stays float; with `hard_fail`, raise an error."""
        calls = _calls(region)
        if not any(operator_of(part) == DEQUANTIZE for member in (end, *region) for part in children(member)):
            return  # nothing in it is dequantized
        if self.hard_fail:
            raise RelayError(
                f"a fake-quantized region cannot be computed with integers: {obstacle.reason}",
                obstacle.culprit.span or end.span,
                help=["FakeQuantizationToInteger(hard_fail=False) leaves such regions as they are"],
            )
        if self.events is not None:
            self.events.emit(Region(end, calls, None, obstacle.reason, obstacle.culprit))

    def _region(self, data: Expr) -> list[Expr]:
        """Return the expressions that a value is computed from, up to dequantized values, operands first.
        Where nothing is reported, those that have an integer form already are left out.
        """
        order: list[Expr] = []
        seen: set[Expr] = set()
        stack: list[tuple[Expr, bool]] = [(data, False)]
        while stack:
            node, done = stack.pop()
            if done:
                order.append(node)
                continue
            if node in seen or operator_of(node) in ENDS or isinstance(node, (Constant, Op, Var)):
                continue
            if not is_float(node._checked_type) or (node in self.forms and self.events is None):
                continue
            seen.add(node)
            stack.append((node, True))
            parts = node.args if isinstance(node, Call) else children(node)
            stack.extend((part, False) for part in reversed(parts))
        return order

    def _converted(
        self, region: Sequence[Expr], data: Expr, target: TensorAffineType, applications: list[_Applied]
    ) -> Form:
        """Return the integer form of `data`, the last value of a region, and append the rules applied."""
        outputs = self._outputs(region, data, target)
        local: dict[Expr, Form] = {}
        for node in region:
            if node in self.forms:
                continue
            parts = node.args if isinstance(node, Call) else children(node)
            known = {part: form for part in parts if (form := self._known(part, local)) is not None}
            output = outputs.get(node)
            form, asked = self._form(node, known, output, applications)
            if (asked and output is not None) or any(part in local for part in parts):
                local[node] = form
            else:
                self.forms[node] = form
        result = self._known(data, local)
        assert result is not None
        return result

    def _outputs(
        self, region: Sequence[Expr], data: Expr, target: TensorAffineType
    ) -> dict[Expr, TensorAffineType]:
        """Return the values of a region of which only the quantization to `target` is read.

        A value with several readers is computed once, in a type of its own, except the last one.
        """
        members = set(region)
        reached: set[Expr] = {data}
        for node in reversed(region):
            passes = node in reached
            if isinstance(node, Call):
                passes = passes and isinstance(node.op, Op) and commutes(node.op)
            if passes:
                parts = node.args if isinstance(node, Call) else children(node)
                reached.update(part for part in parts if part in members and self.uses[part] == 1)
        return dict.fromkeys(reached, target)

    def _known(self, node: Expr, local: Mapping[Expr, Form]) -> Form | None:
        return local.get(node) or self.forms.get(node) or self.leaves.get(node)

    def _form(
        self,
        node: Expr,
        known: Mapping[Expr, Form],
        output: TensorAffineType | None,
        applications: list[_Applied],
    ) -> tuple[Form, bool]:
        """Return the integer form of one expression, and whether it depends on the type of its result."""
        match node:
            case Tuple(fields=fields) if all(field in known for field in fields):
                return tuple_form(node, [known[field] for field in fields]), False
            case TupleGetItem(tuple_value=whole, index=index) if whole in known:
                form = known[whole]
                assert isinstance(form.type, TupleAffineType)
                type_ = form.type.types[index]
                return Form(typed(TupleGetItem(form.value, index, node.span), node, type_), type_), False
            case Call(op=Op() as op):
                rule = rule_of(op, op.name in self.optional)
                assert rule is not None
                value, affine, asked = applied(
                    rule, node, known, self.memo, output, arithmetic=self.arithmetic
                )
                applications.append(_Applied(rule, node, value))
                return Form(value, affine), asked
        raise FailedError(Obstacle("a tuple has a field that is not quantized", node))


def _bound(var: Expr) -> Obstacle:
    name = var.name_hint if isinstance(var, Var) else ""
    return Obstacle(f"`%{name}` is bound by a `let`: apply ToGraphNormalForm first", var)


def _outside(node: Expr) -> Obstacle:
    """Return the obstacle of a floating-point value that no operator computes."""
    match node:
        case Var():
            return Obstacle(f"`%{node.name_hint}` is not quantized", node)
        case Call():
            return Obstacle("a function is called in it", node)
    return Obstacle(f"it reads the value of a `{type(node).__name__.lower()}`", node)


def _calls(region: Sequence[Expr]) -> tuple[Call, ...]:
    return tuple(node for node in region if isinstance(node, Call))
