"""Random small networks of convolutions, dense layers and arithmetic, and how a pass breaks them."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any as Anything

import numpy as np

from relay_explorer import relay
from relay_explorer.execute.interpreter import Interpreter
from relay_explorer.grading.fragments import snapshot
from relay_explorer.ir import Call, Expr, Function, IRModule, TupleType, Var, structural_equal
from relay_explorer.ir.narrow import as_func_type, as_tensor_type
from relay_explorer.transform import Pass
from relay_explorer.typing import infer_types


class Network:
    """Draws layers on what is there already, so that values are shared and branches run side by side."""

    def __init__(self, seed: int, layout: str = "NCHW", channels: Sequence[int] = (2, 3, 4)) -> None:
        self.rng = random.Random(seed)
        self.layout = layout
        self.channels = channels
        self.params: list[Var] = []

    def param(self, *shape: int) -> Expr:
        """Return a parameter, or a constant, which may have any sign."""
        if self.rng.random() < 0.3:
            values = np.random.default_rng(self.rng.randrange(2**32)).uniform(0.5, 2, shape)
            sign = -1 if self.rng.random() < 0.3 else 1
            return relay.const((sign * values).astype("float32"))
        var = relay.var(f"p{len(self.params)}", shape=shape)
        self.params.append(var)
        return var

    def images(self, layers: int) -> IRModule:
        """Build a network over images of 5 by 5."""
        x = relay.var("x", shape=self.shape(self.rng.choice(self.channels)))
        self.params.append(x)
        values: list[tuple[Expr, int]] = [
            (x, as_tensor_type(x.type_annotation).concrete_shape[self.layout.index("C")])
        ]
        for _ in range(layers):
            values.append(self.image_layer(*self.rng.choice(values[-4:]), values))
        return self.module([value for value, _ in values[-3:]])

    def shape(self, channels: int) -> tuple[int, ...]:
        return tuple({"N": 1, "C": channels}.get(axis, 5) for axis in self.layout)

    def along(self, channels: int) -> Expr:
        """Return a parameter that varies by channel."""
        spatial = len(self.layout) - self.layout.index("C") - 1
        return self.param(channels, *[1] * spatial)

    def image_layer(
        self, value: Expr, count: int, values: list[tuple[Expr, int]], kind: str = ""
    ) -> tuple[Expr, int]:
        kind = kind or self.rng.choice(
            ["conv"] * 6 + ["branches"] * 3 + ["row"] * 3
            + ["depthwise", "relu", "relu", "scale", "scale", "bias", "number", "pool"]
            + ["residual", "residual", "concatenate", "bias_add", "leaky", "sigmoid", "minus"]
        )  # fmt: skip
        others = [other for other, channels in values if channels == count]
        axis = self.layout.index("C")
        if kind == "conv":
            result, kernel = self.rng.choice(self.channels), self.rng.choice([1, 3])
            sizes = {"O": result, "I": count, "H": kernel, "W": kernel}
            return self.conv(value, sizes, kernel, 1), result
        if kind == "row":
            return self.row(value, count, values)
        if kind == "branches":
            return self.branches(value, count)
        if kind == "depthwise":
            return self.conv(value, {"O": count, "I": 1, "H": 3, "W": 3}, 3, count), count
        if kind == "residual":
            return relay.add(value, self.rng.choice(others)), count
        if kind == "minus":
            return relay.subtract(self.rng.choice(others), value), count
        if kind == "concatenate":
            return relay.concatenate([value, self.rng.choice(others)], axis=axis), 2 * count
        if kind == "pool":
            pool = self.rng.choice([relay.nn.max_pool2d, relay.nn.avg_pool2d])
            return pool(value, pool_size=(3, 3), strides=(1, 1), padding=(1, 1), layout=self.layout), count
        if kind == "number":
            return relay.multiply(value, relay.const(self.rng.choice([0.5, -2.0]))), count
        if kind == "scale":
            scale = self.along(count)
            return relay.multiply(*self.rng.choice([(value, scale), (scale, value)])), count
        make: dict[str, Callable[[Expr], Expr]] = {
            "relu": relay.nn.relu, "sigmoid": relay.sigmoid,
            "leaky": lambda v: relay.nn.leaky_relu(v, alpha=0.1),
            "bias": lambda v: relay.add(v, self.along(count)),
            "bias_add": lambda v: relay.nn.bias_add(v, self.param(count), axis=axis),
        }  # fmt: skip
        return make[kind](value), count

    def row(self, value: Expr, count: int, values: list[tuple[Expr, int]]) -> tuple[Expr, int]:
        """Add a convolution between additions, scales and ReLUs that nothing else reads."""
        plain = ["scale", "bias", "number", "relu", "residual", "bias_add", "leaky", "minus"]
        kinds = [self.rng.choice(plain) for _ in range(self.rng.randrange(6))]
        kinds.insert(self.rng.randrange(len(kinds) + 1), "conv")
        for kind in kinds:
            value, count = self.image_layer(value, count, [*values, (value, count)], kind)
        return value, count

    def branches(self, value: Expr, count: int) -> tuple[Expr, int]:
        """Convolutions of the same value side by side, and what follows each."""
        result, total = [], 0
        for _ in range(self.rng.choice([2, 2, 3])):
            own = self.rng.choice(self.channels)
            branch = self.conv(value, {"O": own, "I": count, "H": 3, "W": 3}, 3, 1)
            if self.rng.random() < 0.7:
                branch = relay.add(branch, self.along(own))
            result.append(self.rng.choice([relay.nn.relu, relay.nn.relu, relay.tanh])(branch))
            total += own
        return relay.concatenate(result, axis=self.layout.index("C")), total

    def conv(self, value: Expr, sizes: dict[str, int], kernel: int, groups: int) -> Expr:
        layout = {"NCHW": "OIHW", "NHWC": "HWIO"}[self.layout]
        return relay.nn.conv2d(
            value, self.param(*[sizes[axis] for axis in layout]), padding=(kernel // 2, kernel // 2),
            groups=groups, channels=sizes["O"], kernel_size=(kernel, kernel),
            data_layout=self.layout, kernel_layout=layout,
        )  # fmt: skip

    def rows(self, layers: int) -> IRModule:
        """Build a network of dense layers over three rows."""
        x = relay.var("x", shape=(3, 4))
        self.params.append(x)
        values: list[tuple[Expr, int]] = [(x, 4)]
        for _ in range(layers):
            values.append(self.row_layer(*self.rng.choice(values[-4:]), values))
        return self.module([value for value, _ in values[-3:]])

    def row_layer(self, value: Expr, count: int, values: list[tuple[Expr, int]]) -> tuple[Expr, int]:
        kind = self.rng.choice(["dense"] * 5 + ["relu", "scale", "bias", "number", "residual", "bias_add"])
        if kind == "dense":
            result = self.rng.choice((1, *self.channels))
            return relay.nn.dense(value, self.param(result, count)), result
        if kind == "residual":
            return relay.add(value, self.rng.choice([o for o, n in values if n == count])), count
        shape = self.rng.choice([(count,), (1, count), (3, count), (1,), (), (3, 1)])
        make: dict[str, Callable[[Expr], Expr]] = {
            "relu": relay.nn.relu,
            "scale": lambda v: relay.multiply(v, self.param(*shape)),
            "bias": lambda v: relay.add(v, self.param(*shape)),
            "number": lambda v: relay.multiply(v, relay.const(0.5)),
            "bias_add": lambda v: relay.nn.bias_add(v, self.param(count), axis=self.rng.choice([1, -1])),
        }
        return make[kind](value), count

    def module(self, results: Sequence[Expr]) -> IRModule:
        body = relay.Tuple(list(results))
        return infer_types(IRModule.from_expr(Function(relay.analysis.free_vars(body), body)))


def arguments(module: IRModule, seed: int = 0) -> list[Anything]:
    """Random arguments for `main`, no element of them near 0."""
    rng = np.random.default_rng(seed)
    result = []
    for param in module["main"].params:
        type_ = as_tensor_type(param)
        values = rng.uniform(0.5, 1.5, type_.concrete_shape) * rng.choice([-1, 1], type_.concrete_shape)
        result.append(values.astype(type_.dtype))
    return result


def value_of(module: IRModule, args: Sequence[Anything]) -> Anything:
    with np.errstate(all="ignore"):
        values = [relay.const(arg) for arg in args]
        return Interpreter(module).evaluate(Call(module.get_global_var("main"), values))


def broken(module: IRModule, steps: Sequence[Pass], error: float = 1e-4) -> str | None:
    """How the passes change what a network means, beyond `error`; None where they do not."""
    before = {var: snapshot(f) for var, f in module.functions.items()}
    output = module
    for step in steps:
        output = step(output)
    if before != {var: snapshot(f) for var, f in module.functions.items()}:
        return "the input is changed"
    output = infer_types(output)
    expected, result = module["main"].checked_type, output["main"].checked_type
    if not structural_equal(expected, result):
        return f"the type {expected} became {result}\n{output}"
    args = arguments(module)
    first, second = value_of(module, args), value_of(output, args)
    assert isinstance(as_func_type(module["main"].checked_type).ret_type, TupleType)
    for a, b in zip(first, second, strict=True):
        scale = max(1.0, float(np.abs(a).max()))
        if not np.allclose(a, b, rtol=error, atol=error * scale, equal_nan=True):
            return f"{a} became {b}\n{module}\n{output}"
    return None
