"""Rules that users register for operators, as TVM's functions took them: `rule(call, operands, context)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any as Anything

from ....ir.expr import Expr, Tuple
from ...annotation import Annotated
from ...forward import Temporary
from ...scheme import Candidate, Operand

UserRule = Callable[..., Anything]
USER_RULES: dict[str, dict[str, UserRule]] = {"FQAnnotateRewrite": {}, "FQPartitionRewrite": {}}


def register_annotate_function(
    op_name: str, frewrite: UserRule | None = None, level: int = 10
) -> UserRule | Callable[[UserRule], UserRule]:
    """Register how TVM's scheme annotates an operator: `rule(call, operands, context)`, in place of its own.

    The rule receives the original call, and its operands as annotated: expressions, or `Annotated`
    (`QAnnotateExpr`) with `expr` and `kind`. It returns an expression, an `Annotated`, or None to leave the
    call in float. Without `frewrite`, return a decorator.
    """
    return _register("FQAnnotateRewrite", op_name, frewrite)


def register_partition_function(
    op_name: str, frewrite: UserRule | None = None, level: int = 10
) -> UserRule | Callable[[UserRule], UserRule]:
    """Register how TVM's scheme cuts a program into kernels at an operator, in place of its own rule."""
    return _register("FQPartitionRewrite", op_name, frewrite)


def _register(table: str, op_name: str, rule: UserRule | None) -> UserRule | Callable[[UserRule], UserRule]:
    def enter(rule: UserRule) -> UserRule:
        USER_RULES[table][op_name] = rule
        return rule

    return enter if rule is None else enter(rule)


def called(rule: UserRule, candidate: Candidate) -> Expr | Temporary | None:
    """Call a user's rule with the operands in TVM's form, tuples as tuples."""
    rest = list(candidate.operands)

    def take(argument: Expr) -> Anything:
        if isinstance(argument, Tuple):
            return [take(field) for field in argument.fields]
        return _annotated(rest.pop(0))

    answer = rule(candidate.call, [take(argument) for argument in candidate.call.args], None)
    assert answer is None or isinstance(answer, (Expr, Temporary))
    return answer


def _annotated(operand: Operand) -> Expr | Annotated:
    return operand.expr if operand.role is None else Annotated(operand.expr, operand.role)
