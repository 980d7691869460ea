"""SimplifyExpr: simplify calls algebraically, with one rule per simplification.

The rules are in `shapes` (`…_like` operators, reshapes, transposes), `casts`, `arithmetic` and `quantized`.
Each receives a call whose arguments are simplified already.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from ...ir.annotate import set_origin
from ...ir.declaration import Trait
from ...ir.expr import Call, Expr, Function, Var
from ...ir.lazy_dataclass import dataclass
from ...ir.module import IRModule
from ...ir.op import Op
from ...ir.rewrites import emit_rewrite
from ...ir.types import TensorType, Type
from ...ir.walk import children, post_order, rebuild
from ...typing import infer_types
from ..infrastructure import Contract, PassContext
from ..infrastructure.function_passes import TypedPass, rewritten
from ..tools.typed_rewrite import call as untyped
from . import arithmetic, casts, quantized, shapes

Rule = Callable[["Simplifier", Call], Expr | None]
Rules = Mapping[str | Trait, Sequence[Rule]]  # by the name of an operator, or a trait of several


@dataclass(frozen=True)
class SimplifyExpr(TypedPass):
    """Simplify calls algebraically, without changing their values.

    `zeros_like` becomes `zeros` where the shape is known; `x + 0` and `x * 1` become `x`; a tensor with one
    element becomes a scalar; sequences of reshapes, transposes and casts become one or none; `(x + 1) * 2`
    becomes `x * 2 + 2`; sequences of constant additions or multiplications become one; `x / sqrt(y)` becomes
    `x * rsqrt(y)`; `x * x + 2 * x * y + y * y` becomes `(x + y) * (x + y)`.

    Floating-point results may be rounded differently.
    """

    name = "SimplifyExpr"
    opt_level = 0
    contract = Contract(error=1e-4)
    rules: ClassVar[Rules] = {}

    def transform_function(self, function: Function, mod: IRModule, ctx: PassContext) -> Function:
        return rewritten(function, Simplifier(self.rules).run(function))


@dataclass(frozen=True)
class SimplifyExprPostAlterOp(SimplifyExpr):
    """Apply the rules of SimplifyExpr for what a layout conversion leaves behind: identities, reshapes, casts
    and clips.
    """

    name = "SimplifyExprPostAlterOp"
    contract = Contract()


class Simplifier:
    """Applies the rules from the leaves up, to each call until no rule matches, and records the type of
    everything that it builds.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self._types: dict[Expr, Type] = {}
        self._at: Expr | None = None  # the call of the program that is being simplified

    def run(self, root: Expr) -> Expr:
        memo: dict[Expr, Expr] = {}
        for node in post_order(root):
            new = rebuild(node, [memo[part] for part in children(node)])
            if isinstance(node, Call) and isinstance(node.op, Op) and isinstance(new, Call):
                if new is not node:
                    self._types[new] = node.checked_type
                self._at = node
                result = self.simplified(new)
                if result is not new and not result.origin and result not in memo:
                    set_origin(result, (node,))
                new = result
            if new is not node and new not in self._types and node._checked_type is not None:
                self._types[new] = node._checked_type
            memo[node] = new
        return memo[root]

    def simplified(self, call: Call) -> Expr:
        """Apply the rules to a call until none matches."""
        current: Expr = call
        while isinstance(current, Call) and isinstance(current.op, Op):
            type_ = self.type(current)
            for rule in self._rules_of(current.op):
                result = rule(self, current)
                if result is not None:
                    emit_rewrite(rule, current, result, self._at or current)
                    if result._checked_type is None:
                        self._types.setdefault(result, type_)
                    current = result
                    break
            else:
                break
        return current

    def _rules_of(self, op: Op) -> Sequence[Rule]:
        """Return the rules for an operator, followed by those for its traits."""
        named, rules = self.rules.get(op.name, ()), self.rules
        return [*named, *[rule for trait in op.traits for rule in rules.get(trait, ())]]

    def type(self, expr: Expr) -> Type:
        """Return the type of an expression of the program, or of one that a rule built."""
        recorded = self._types.get(expr)
        return expr.checked_type if recorded is None else recorded

    def tensor(self, expr: Expr) -> TensorType:
        """Return the type of an expression that is a tensor."""
        type_ = self.type(expr)
        assert isinstance(type_, TensorType), f"{expr} is not a tensor but {type_}"
        return type_

    def call(self, name: str, *args: Expr, **attrs: object) -> Expr:
        """Build a call, infer its type, and simplify it."""
        new = untyped(name, *args, **attrs)
        params = [Var(f"x{number}", self.type(arg)) for number, arg in enumerate(args)]
        alone = Function(params, Call(new.op, params, new.attrs))
        inferred = infer_types(IRModule.from_expr(alone))["main"]
        assert isinstance(inferred, Function)
        self._types[new] = inferred.body.checked_type
        return self.simplified(new)


def _together(*tables: Rules) -> Rules:
    rules_of: dict[str | Trait, list[Rule]] = {}
    for table in tables:
        for name, rules in table.items():
            rules_of.setdefault(name, []).extend(rules)
    return rules_of


SimplifyExpr.rules = _together(
    shapes.RULES, casts.RULES, arithmetic.IDENTITIES, arithmetic.RULES, quantized.RULES
)
SimplifyExprPostAlterOp.rules = _together(
    {"reshape": shapes.RULES["reshape"]}, casts.EXACT, arithmetic.IDENTITIES
)
