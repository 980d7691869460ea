"""Chapter 16: fusion keeps values, makes the package's kernels, and can be given another rule."""

from __future__ import annotations

import numpy as np
from pocket import bridge, ir
from pocket.dce import remove_dead
from pocket.folding import fold_constants
from pocket.fusion import (
    BROADCAST,
    ELEMENTWISE,
    INJECTIVE,
    OUT_FUSABLE,
    PATTERNS,
    REDUCTION,
    TUPLE,
    Flow,
    fuse,
    may_fuse,
    paths,
)
from pocket.interpreter import run
from pocket.printer import show
from pocket.scopes import post_order
from pocket.solver import infer_types
from pocket.visitor import find_all, map_functions

from relay_explorer import models, relay
from tests.pocket.programs import programs, same


def prepared(program: ir.Module) -> ir.Module:
    return map_functions(program, lambda function: remove_dead(fold_constants(function)))


def launches(program: ir.Module) -> int:
    """Count the calls of kernels."""
    kernels = {name for name, f in program.functions.items() if f.primitive}
    exprs = [e for f in program.functions.values() for e in post_order(f)]
    return sum(isinstance(e, ir.Call) and getattr(e.callee, "name", "") in kernels for e in exprs)


def fused(program: ir.Module, rule: object = may_fuse) -> ir.Module:
    return fuse(program, infer_types(program), rule)


def in_package(module: relay.IRModule) -> int:
    fused = relay.transform.FuseOps()(relay.transform.InferType()(module))
    found: list[object] = []
    for function in fused.functions.values():
        relay.analysis.post_order_visit(function, found.append)
    return sum(isinstance(e, relay.Function) and "Primitive" in e.attrs for e in found)


diamond = relay.parse("""
def @main(%x: Tensor[(1, 4, 8, 8), float32], %w: Tensor[(6, 4, 3, 3), float32]) {
  %0 = nn.conv2d(%x, %w, padding=[1, 1, 1, 1]);
  %1 = nn.relu(%0);
  %2 = tanh(%0);
  %3 = exp(%1);
  %4 = add(%3, %2);
  %5 = mean(%4, axis=[1]);
  sqrt(%5)
}
""")
program = fused(bridge.from_relay(diamond))
assert launches(program) == in_package(diamond) == 3, show(program)
sizes = [len(find_all(f, ir.Call)) for f in program.functions.values() if f.primitive]
assert max(sizes) == 5, show(program)  # the convolution with both branches, and the addition
args = [
    np.sin(np.arange(np.prod(p.type.shape))).reshape(p.type.shape) for p in program.functions["main"].params
]
assert np.allclose(run(program, *args), run(bridge.from_relay(diamond), *args))

for name in ("lenet", "tree_lstm"):
    module = models.load(name)
    mine, theirs = launches(fused(bridge.from_relay(module))), in_package(module)
    assert mine == theirs, f"{name} becomes {mine} kernels, the package's are {theirs}"

# A convolution is fused along element-wise uses only, and a reduction ends a kernel.
v = ir.Var("v", bridge.FromRelay().type(relay.TensorType((1, 4), "float32")))
w = ir.Var("w", bridge.FromRelay().type(relay.TensorType((4, 4), "float32")))
for body, kernels in [
    (ir.call("add", ir.call("nn.dense", v, w), w), 2),
    (ir.call("tanh", ir.call("sum", ir.call("exp", v), axis=[1])), 3),
    (ir.call("nn.dense", ir.call("tanh", v), w), 2),
    (ir.call("reshape", ir.call("tanh", v), newshape=[2, 2]), 1),
    (ir.call("concatenate", ir.Tuple((v, v)), axis=0), 1),
]:
    module = ir.Module({"main": ir.Function((v, w), body)})
    program = fused(module)
    fewest = in_package(bridge.to_relay(module))  # with the whole rule, the chapter's exercise
    message = f"{kernels} kernels are expected of\n{show(body)}\nand there are {launches(program)}:\n"
    assert fewest <= launches(program) <= kernels, message + show(program)


def whole_rule(node: int, phase: int, flow: Flow) -> bool:
    """The rule of the exercise: the package's."""
    end = flow.post_dominator(node)
    between, use = paths(node, flow)
    inside, own = max([0, *map(flow.kernel, between)]), flow.kernel(node)
    worst = max(inside, flow.kernel(end))
    if phase == 3:
        return bool(flow.pattern(end) == TUPLE and max(own, worst) <= INJECTIVE)
    if own <= BROADCAST:
        sink = flow.kernel(end) <= OUT_FUSABLE
        return bool(use <= REDUCTION and inside <= INJECTIVE and sink)
    if own == OUT_FUSABLE:
        return phase == 1 and use == ELEMENTWISE and worst <= BROADCAST
    return own in (INJECTIVE, TUPLE) and phase == 2 and worst <= INJECTIVE


# ResNet has operators without a relation in pocket: fusion needs the types only.
for name in ("resnet18", "squeezenet"):
    module = relay.transform.InferType()(relay.transform.SimplifyInference()(models.load(name)))
    program = bridge.from_relay(module)
    types = {
        expr: bridge.FromRelay().type(bridge.ORIGIN[expr].checked_type)
        for expr in post_order(program.functions["main"])
        if not isinstance(expr, (ir.Op, ir.Function))
    }
    unknown = {e.callee.name for e in types if isinstance(e, ir.Call)} - PATTERNS.keys()
    PATTERNS.update({name: int(relay.op.get(name).pattern) for name in unknown})
    mine, theirs = launches(fuse(program, types, whole_rule)), in_package(module)
    assert mine == theirs, f"{name}, with the whole rule: {mine} kernels, the package's are {theirs}"
    assert launches(fuse(program, types)) >= theirs, name
both = ir.call("concatenate", ir.Tuple((ir.call("tanh", v), ir.call("exp", v))), axis=1)
halves = ir.Module({"main": ir.Function((v,), both)})
assert launches(fused(halves, whole_rule)) == 1

for number, generated in enumerate(programs()):
    program = bridge.from_relay(generated.module)
    rule = (may_fuse, whole_rule)[number % 2]
    assert same(run(fused(prepared(program), rule)), run(program)), f"random program {number}"
