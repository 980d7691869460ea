"""Chapter 6: the interpreter runs closures, branches and recursion, and the networks."""

from __future__ import annotations

import time

import numpy as np
from pocket import bridge, ir
from pocket.interpreter import run

from relay_explorer import models, relay
from relay_explorer.ir.narrow import as_tensor_type
from tests.pocket.programs import same

SUM = """
def @main(%n: int32) -> int32 {
  if (equal(%n, 0)) { 0 } else { add(%n, @main(subtract(%n, 1))) }
}
"""
CLOSURE = """
def @main(%a: int32, %b: int32) {
  let %plus = fn (%x: int32) { add(%x, %a) };
  let %twice = fn (%f: fn (int32) -> int32, %x: int32) { %f(%f(%x)) };
  let %down = fn (%x: int32) -> int32 { if (less(%x, 1)) { %x } else { %down(subtract(%x, 7)) } };
  (%twice(%plus, %b), %down(%a))
}
"""
five, thousand = np.array(5, "int32"), np.array(1000, "int32")
assert run(bridge.from_relay(relay.parse(SUM)), thousand) == 500_500
assert run(bridge.from_relay(relay.parse(CLOSURE)), five, thousand) == (1010, -2)

# A value that is used twice is computed once: otherwise this would take an age.
doubled = x = ir.Var("x")
for _ in range(60):
    doubled = ir.call("add", doubled, doubled)
module = ir.Module({"main": ir.Function((x,), doubled)})
assert run(module, np.array(1.0)) == 2.0**60

numbers = np.random.default_rng(0)

# Operators with attributes: the sides of an image differ, and so do strides and padding.
ONE_CALL = [
    "nn.conv2d(%x, %k, strides=[2, 1], padding=[1, 0, 2, 3], channels=4, kernel_size=[3, 2])",
    "nn.max_pool2d(%x, pool_size=[3, 2], strides=[2, 1], padding=[1, 0, 2, 1])",
    "nn.bias_add(%x, %b, axis=1)",
    "nn.softmax(%x, axis=1)",
    "nn.softmax(multiply(%x, 1000f))",
    "sum(%x, axis=[1, 3], keepdims=True)",
    "mean(%x)",
    "nn.dense(nn.batch_flatten(%x), %d)",
]
TYPES = "%x: Tensor[(2, 3, 7, 6), float32], %k: Tensor[(4, 3, 3, 2), float32], %b: Tensor[(3), float32]"
TYPES += ", %d: Tensor[(5, 126), float32]"
for text in ONE_CALL:
    module = relay.parse(f"def @main({TYPES}) {{ {text} }}")
    values = [
        numbers.standard_normal(as_tensor_type(param.type_annotation).concrete_shape).astype("float32")
        for param in module["main"].params
    ]
    mine = run(bridge.from_relay(module), *values)
    theirs = relay.create_executor(mod=module).evaluate()(*values)
    assert same(mine, theirs), f"{text} has another value than in the package"
for name in ("mlp", "lenet", "lstm"):
    module = models.load(name)
    hints = [param.type_annotation for param in module["main"].params]
    shapes = [type_.concrete_shape for type_ in hints if isinstance(type_, relay.TensorType)]
    values = [(numbers.standard_normal(shape) / 8).astype("float32") for shape in shapes]
    start = time.perf_counter()
    mine = run(bridge.from_relay(module), *values)
    assert time.perf_counter() - start < 1, name
    assert same(mine, relay.create_executor(mod=module).evaluate()(*values)), name
