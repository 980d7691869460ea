"""The exercise of chapter 19: gradient rules of operators, functions of a call and of the derivative with
respect to its value.

An answer is a rule for one of five operators. It is tested in whole programs, through the compiler's own
reverse mode: each case has its own copy of the operator, whose gradient is the rule, so that nothing
outside changes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any as Anything

from ...ir.expr import Call, Expr, Function, Let, Var
from ...ir.lazy_dataclass import dataclass
from ...ir.module import IRModule
from ...ir.op import Op, OpPattern
from ...ir.tuple_wrapper import TupleWrapper
from ...ir.types import TensorType
from ..answer_values import repr_of
from ..type_relation import MisuseError

ARGUMENTS = {
    "sigmoid": ("x",), "multiply": ("a", "b"), "mean": ("x",), "softmax": ("x",), "blend": ("a", "b", "t"),
}  # fmt: skip
_NAMES = {"softmax": "nn.softmax"}


@dataclass(frozen=True)
class Case:
    """A call of one of the five operators: the shapes of its arguments, its attributes, their element type,
    and the seed of the values.
    """

    part: str
    shapes: tuple[tuple[int, ...], ...]
    attrs: tuple[tuple[str, Anything], ...] = ()
    dtype: str = "float64"
    seed: int = 0


def blend_operator() -> Op:
    """Build the operator that Relay does not have: it interpolates from `a` to `b` by `t`, element-wise."""
    from ...ops.numeric import checked
    from ...ops.relation import SAME_TYPE

    return Op(
        "blend",
        description="Interpolate between two tensors, by the weights in a third.",
        formula=r"y = a + t \cdot (b - a)",
        inputs=ARGUMENTS["blend"],
        relation=SAME_TYPE,
        reference=checked(lambda attrs, a, b, t: a + t * (b - a)),
        pattern=OpPattern.ELEMWISE,
        family="arithmetic",
    )


def _operator(part: str, rule: Anything) -> Op:
    """Copy the operator, with `rule` as its gradient; the copy is not registered."""
    if part == "blend":
        op = blend_operator()
    else:
        old = Op.get(_NAMES.get(part, part))
        op = Op(
            old.name, description=old.description, formula=old.formula, inputs=old.inputs,
            relation=old.relation, attrs_class=old.attrs_class, pattern=old.pattern, flops=old.flops,
            reference=old.reference, family=old.family,
        )  # fmt: skip
    op.set_attr("FPrimalGradient", rule)
    return op


def _call(case: Case, op: Op, params: Sequence[Var]) -> Call:
    attrs = None if op.attrs_class is None else op.attrs_class(**dict(case.attrs))
    return Call(op, params, attrs)


def program(case: Case, rule: Anything) -> IRModule:
    """Build a program with one such call: the sum of its value times `dy`, so that `dy` is the derivative
    that reaches the call.
    """
    from ...ops.binary.arithmetic import multiply
    from ...ops.reduce.folding import sum as sum_of
    from ...typing import infer_types

    params = [
        Var(name, TensorType.of(shape, case.dtype))
        for name, shape in zip(ARGUMENTS[case.part], case.shapes, strict=True)
    ]
    call = _call(case, _operator(case.part, rule), params)
    typed = infer_types(IRModule.from_expr(Function(params, call)))["main"]
    y, dy = Var("y"), Var("dy", typed.body.checked_type)
    loss = Var("loss")
    body = Let(y, call, Let(loss, sum_of(multiply(y, dy)), loss))
    return IRModule.from_expr(Function([*params, dy], body))


def example(part: str, rule: Callable[[Call, Expr], Anything]) -> IRModule:
    """Build a program to look at, with a call of the operator `part` whose gradient is `rule`:
    `explore(example("softmax", softmax_rule), view="gradient")`.
    """
    if part not in ARGUMENTS:
        raise ValueError(f"there is no part {part!r}: there are {', '.join(map(repr, ARGUMENTS))}")
    shapes = {"multiply": ((2, 3), (3,)), "blend": ((2, 3),) * 3}.get(part, ((2, 3),))
    attrs: dict[str, tuple[tuple[str, Anything], ...]] = {
        "mean": (("axis", [1]),), "softmax": (("axis", 1),),
    }  # fmt: skip
    return program(Case(part, shapes, attrs.get(part, ()), "float32"), Watched(rule))


class Watched:
    """A learner's rule, whose result is inspected before the compiler uses it."""

    def __init__(self, rule: Anything) -> None:
        self.rule = rule

    def __call__(self, call: Call, grad: Expr) -> list[Expr | None]:
        inputs = self.rule(call, grad)
        names = ARGUMENTS[_part(call)]
        expected = f"one for each argument: {', '.join(names)}"
        if isinstance(inputs, (Expr, TupleWrapper)) or not isinstance(inputs, (list, tuple)):
            what = "None" if inputs is None else f"a {type(inputs).__name__}"
            raise MisuseError(
                f"the rule returned {what}, not a list",
                "A rule returns a list of derivatives, "
                + expected
                + ". With one argument it is a list of one."
                if inputs is not None
                else "Every path must return a list of derivatives, " + expected + ".",
            )
        if len(inputs) != len(names):
            raise MisuseError(
                f"the rule returned {len(inputs)} derivatives for {len(names)} arguments",
                f"A rule returns a list of derivatives, {expected}, in their order.",
            )
        for name, by in zip(names, inputs, strict=True):
            if by is not None and not isinstance(by, Expr):
                raise MisuseError(
                    f"the derivative with respect to {name} is {repr_of(by, 100)}, a {type(by).__name__}",
                    "A derivative is an expression of the program, and not a number that "
                    "Python computes: for a constant write `relay.const(number, dtype)`.",
                )
        return list(inputs)


def _part(call: Call) -> str:
    assert isinstance(call.op, Op)
    return call.op.name.rpartition(".")[2]
