"""`tvm.relay.testing`: helpers for tests of Relay programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from ..execute.results import ConstructorValue
from ..ir.expr import Call, Expr, Function, Tuple
from ..ir.module import IRModule
from ..ir.op import Op
from ..ir.tuple_wrapper import TupleWrapper
from ..ir.walk import post_order
from ..prelude import Prelude
from ..transform import InferType, Pass, Sequential
from .arrays import DeviceArray, array
from .check_grad import _np_randn_from_type, check_grad
from .testing import enabled_targets
from .workloads import create_workload


def run_opt_pass(
    expr: Expr | TupleWrapper,
    opt_pass: Pass | Sequence[Pass],
    import_prelude: bool = False,
    mod: IRModule | None = None,
) -> Expr:
    """Run a pass, or several, on an expression; return the function if it is one, else the body of `main`."""
    if not isinstance(opt_pass, Pass):
        opt_pass = Sequential(list(opt_pass))
    if isinstance(expr, TupleWrapper):  # TVM's builders returned some of these as tuples of their fields
        expr = Tuple(list(expr))
    module = IRModule.from_expr(expr)
    if mod is not None:
        module.update(mod)
    if import_prelude:
        module.import_from_std("prelude.rly")
    main = opt_pass(module)["main"]
    return main if isinstance(expr, Function) else main.body


def run_infer_type(expr: Expr | TupleWrapper, mod: IRModule | None = None) -> Expr:
    """Return the expression with its types."""
    return run_opt_pass(expr, InferType(), mod=mod)


def rand(dtype: str = "float32", *shape: int) -> DeviceArray:
    """Create an array of random numbers from [0, 1)."""
    import numpy

    return array(numpy.random.default_rng().random(shape).astype(dtype))


def ctx_list() -> list[tuple[str, Any]]:
    """Return `enabled_targets`, under the name that it had before 0.8."""
    return list(enabled_targets())


def make_nat_value(prelude: Prelude, n: int) -> ConstructorValue:
    """Return the natural number `n` as a value; the prelude's module must have `nat.rly`."""
    zero, successor = (prelude.get_ctor("nat", name) for name in ("Z", "S"))
    value = ConstructorValue(zero.tag, [], zero)
    for _ in range(n):
        value = ConstructorValue(successor.tag, [value], successor)
    return value


def make_nat_expr(prelude: Prelude, n: int) -> Expr:
    """Return the natural number `n` as an expression; the prelude's module must have `nat.rly`."""
    zero, successor = (prelude.get_ctor("nat", name) for name in ("Z", "S"))
    expr: Expr = zero()
    for _ in range(n):
        expr = successor(expr)
    return expr


def count_ops(expr: Expr) -> Counter[str]:
    """Count the calls of each operator in an expression, by name; a shared call counts once."""
    nodes = post_order(expr)
    return Counter([n.op.name for n in nodes if isinstance(n, Call) and isinstance(n.op, Op)])


def count(prelude: Prelude, n: ConstructorValue) -> int:
    """Convert a value of the type `nat` to a Python number."""
    number = 0
    while n.fields:
        (n,) = n.fields
        number += 1
    return number


# TVM's own tests import `_np_randn_from_type`, although its name is private.
__all__ = [
    "Prelude", "_np_randn_from_type", "check_grad", "count", "count_ops", "create_workload", "ctx_list",
    "enabled_targets", "make_nat_expr", "make_nat_value", "rand", "run_infer_type", "run_opt_pass",
]  # fmt: skip
