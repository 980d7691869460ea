"""The loops that importers build: values that every iteration shares are computed once, before the loop."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from relay_explorer import relay
from relay_explorer.frontends.base.context import Context
from relay_explorer.frontends.base.recurrence import UNROLLED, scan
from relay_explorer.ir.expr import Call, Expr, Function, const
from relay_explorer.ir.module import IRModule
from relay_explorer.ir.op import Op
from relay_explorer.ir.types import TensorType
from relay_explorer.ir.walk import post_order


def running_sum(steps: int, backwards: bool) -> IRModule:
    """Import a layer that adds up the rows of a matrix, each multiplied by 2."""
    context = Context("sums", "test")
    x = context.variable("x", TensorType((steps, 3), "float32"))
    doubled = relay.multiply(x, const(2.0))

    def step(parts: Sequence[Expr], states: Sequence[Expr]) -> tuple[Expr, Sequence[Expr]]:
        total = relay.add(states[0], parts[0])
        return total, [total]

    outputs, _ = scan(context, [doubled], [relay.zeros((3,), "float32")], step, backwards)
    return context.main([x], outputs)


@pytest.mark.parametrize("steps", [1, 5, UNROLLED + 1])
@pytest.mark.parametrize("backwards", [False, True])
def test_outputs_are_in_the_order_of_the_sequence(steps: int, backwards: bool) -> None:
    mod = running_sum(steps, backwards)
    x = np.arange(steps * 3, dtype="float32").reshape(steps, 3)
    result = relay.create_executor("debug", mod).evaluate()(x).numpy()
    expected = np.cumsum(2 * x[::-1], 0)[::-1] if backwards else np.cumsum(2 * x, 0)
    np.testing.assert_allclose(result, expected)


def test_a_loop_does_not_repeat_what_no_iteration_changes() -> None:
    main = running_sum(UNROLLED + 1, False)["main"]
    (loop,) = [expr for expr in post_order(main.body) if isinstance(expr, Function)]
    called = [e.op.name for e in post_order(loop.body) if isinstance(e, Call) and isinstance(e.op, Op)]
    assert "add" in called
    assert "multiply" not in called
