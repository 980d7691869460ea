"""Chapter 19: gradients equal difference quotients and the package's; the milestone of part IV: a classifier
of digits, trained with them.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
from pocket import bridge, ir
from pocket.fusion import fuse
from pocket.gradient import RULES, gradient
from pocket.interpreter import run
from pocket.ir import call
from pocket.printer import show
from pocket.solver import infer_types
from pocket.types import TensorType

from relay_explorer import relay


def var(name: str, *shape: int) -> ir.Var:
    return ir.Var(name, TensorType(shape))


def error(function: ir.Function, seed: int = 0) -> float:
    """Return the relative distance of a derivative along a direction from a difference quotient."""
    rng = np.random.default_rng(seed)
    at = [0.5 + 0.3 * rng.random(p.type.shape) for p in function.params]
    way = [rng.normal(size=p.type.shape) for p in function.params]
    program = ir.Module({"main": function})
    step = 1e-6
    ends = [run(program, *(a + s * w for a, w in zip(at, way))).sum() for s in (step, -step)]
    result, by_params = run(ir.Module({"main": gradient(function)}), *at)
    assert np.allclose(result, run(program, *at))
    shapes = [[value.shape for value in values] for values in (by_params, at)]
    assert shapes[0] == shapes[1], (
        f"derivatives of {shapes[0]} for parameters of {shapes[1]}: {show(function)}"
    )
    slope = sum((d * w).sum() for d, w in zip(by_params, way))
    return float(abs(slope - (ends[0] - ends[1]) / (2 * step)) / max(1, abs(slope)))


x, row, weight, bias = var("x", 2, 6), var("row", 6), var("weight", 3, 6), var("bias", 6)
ONE_CALL: dict[str, list[ir.Node]] = {
    "add": [call("add", x, row), call("add", row, x), call("add", x, x)],
    "subtract": [call("subtract", x, row), call("subtract", row, x)],
    "multiply": [call("multiply", x, row), call("multiply", x, x)],
    "negative": [call("negative", x)],
    "exp": [call("exp", x)],
    "log": [call("log", x)],
    "tanh": [call("tanh", x)],
    "sigmoid": [call("sigmoid", x)],
    "nn.relu": [call("nn.relu", call("subtract", x, row))],
    "nn.dense": [call("nn.dense", x, weight)],
    "nn.bias_add": [call("nn.bias_add", x, bias)],
    "nn.softmax": [call("multiply", call("nn.softmax", x), x), call("log", call("nn.softmax", x, axis=0))],
    "sum": [call("sum", x)],
}
ONE_CALL["sqrt"] = [call("sqrt", call("exp", x))]  # the chapter's exercise
assert RULES.keys() >= ONE_CALL.keys() - {"sqrt"}, f"no rule for {ONE_CALL.keys() - RULES.keys()}"
for name, bodies in ONE_CALL.items():
    for body in bodies if name in RULES else []:
        uneven = call("multiply", body, call("exp", body))  # derivatives that differ
        difference = error(ir.Function((x, row, weight, bias), uneven))
        message = f"{name}: the derivative of {show(body)} differs from the quotient by {difference:.2g}"
        assert difference < 1e-5, message

UNARY = ["negative", "exp", "tanh", "sigmoid", "nn.relu", "nn.softmax"]
BINARY = ["add", "subtract", "multiply"]


def random_function(seed: int) -> ir.Function:
    """A graph of operators, whose values may be used several times."""
    rng = random.Random(seed)
    params = var("x", 2, 3), var("row", 1, 3), var("w", 3, 3)
    values: list[ir.Node] = [params[0]]
    for _ in range(rng.randint(1, 12)):
        kind = rng.random()
        if kind < 0.4:
            values.append(call(rng.choice(UNARY), call("tanh", rng.choice(values))))
        elif kind < 0.8:
            values.append(call(rng.choice(BINARY), rng.choice(values), rng.choice([*values, params[1]])))
        else:
            values.append(call("nn.dense", rng.choice(values), params[2]))
    return ir.Function(params, call("sum", call("tanh", values[-1])))


package: Callable[[relay.IRModule], relay.IRModule] = relay.transform.FirstOrderGradient()
for seed in range(200):
    function = random_function(seed)
    assert error(function, seed) < 1e-6, f"random program {seed}"
    if seed < 40:
        module = ir.Module({"main": function})
        rng = np.random.default_rng(seed)
        args = [rng.normal(size=p.type.shape).astype("float32") for p in function.params]
        _, mine = run(ir.Module({"main": gradient(function)}), *args)
        _, theirs = relay.create_executor(mod=package(bridge.to_relay(module))).evaluate()(*args)
        assert all(np.allclose(a, b.numpy(), atol=1e-5) for a, b in zip(mine, theirs)), seed


# Part IV: a network with two layers learns digits; its gradient is fused before it runs.
from sklearn.datasets import load_digits  # noqa: E402

pixels, labels = load_digits(return_X_y=True)
pixels, targets = (pixels / 16).astype("float32"), np.eye(10, dtype="float32")[labels]
images, goal = var("images", 100, 64), var("goal", 100, 10)
w1, b1, w2, b2 = var("w1", 32, 64), var("b1", 32), var("w2", 10, 32), var("b2", 10)
hidden = call("nn.relu", call("nn.bias_add", call("nn.dense", images, w1), b1))
chances = call("nn.softmax", call("nn.bias_add", call("nn.dense", hidden, w2), b2))
likelihood = call("sum", call("multiply", goal, call("log", chances)))
loss = ir.Function((images, goal, w1, b1, w2, b2), call("negative", likelihood))
step = ir.Module({"main": gradient(loss)})
step = fuse(step, infer_types(step))

rng = np.random.default_rng(0)
weights = [rng.normal(size=p.type.shape).astype("float32") * np.float32(0.1) for p in (w1, b1, w2, b2)]
for _ in range(15):
    for start in range(0, 1500, 100):
        batch = slice(start, start + 100)
        _, (_, _, *slopes) = run(step, pixels[batch], targets[batch], *weights)
        weights = [w - np.float32(0.005) * slope for w, slope in zip(weights, slopes)]
rest = pixels[1500:1600], targets[1500:1600]
read = run(ir.Module({"main": ir.Function(loss.params, chances)}), *rest, *weights)
assert (read.argmax(1) == labels[1500:1600]).mean() > 0.85
