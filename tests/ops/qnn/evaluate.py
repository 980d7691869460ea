"""Evaluate quantized programs by both definitions of their operators, which must agree."""

from __future__ import annotations

import numpy as np

from relay_explorer import relay
from relay_explorer.execute import Interpreter
from relay_explorer.ir.expr import Expr, Function
from relay_explorer.ir.module import IRModule
from relay_explorer.typing import infer_types
from tests.ops.qnn.generate import Array


def program(body: Expr) -> IRModule:
    """Make a typed program, whose parameters are the free variables of an expression."""
    return infer_types(IRModule.from_expr(Function(relay.analysis.free_vars(body), body)))


def value(body: Expr, *arrays: Array) -> Array:
    """Evaluate an expression, whose variables get the arrays in order, by reference implementations; fail
    unless canonical forms compute the same.
    """
    module = program(body)
    result = np.asarray(Interpreter(module).call("main", list(arrays)))
    plain = relay.qnn.transform.CanonicalizeOps()(module)
    np.testing.assert_array_equal(Interpreter(plain).call("main", list(arrays)), result)
    return result
