"""Chapter 12: the solver; the milestone of part III: the same types as the package, in the real networks."""

from __future__ import annotations

import time

from pocket import bridge, ir
from pocket.printer import show
from pocket.scopes import post_order
from pocket.solver import Solver, infer_types
from pocket.types import FuncType, TensorType

from relay_explorer import models, relay
from tests.pocket.programs import programs

unifier = Solver(None)
a, b, c = unifier.fresh(), unifier.fresh(), unifier.fresh()
number = TensorType(())
unifier.unify(FuncType((a, b)), c)
unifier.unify(c, FuncType((number, a)))
assert unifier.resolve(b) == number
for left, right in [(c, number), (unifier.fresh(), None)]:
    try:
        unifier.unify(left, right or FuncType((left, number)))
    except (TypeError, ValueError):
        continue
    raise AssertionError(f"unified what cannot be equal: {left} and {right or 'a function that takes it'}")


def check_complete(program: ir.Module, types: dict[ir.Node, object], name: str) -> None:
    """Every expression of the module has a type; of operators and names, this is not needed."""
    for function in program.functions.values():
        for expr in post_order(function):
            if not isinstance(expr, (ir.Op, ir.GlobalVar, ir.Constructor, ir.Clause)):
                assert expr in types, f"{name}: infer_types returns no type of {show(expr)[-200:]}"


for name in ("mlp", "lenet", "lstm", "tree_lstm", "resnet50"):
    typed = relay.transform.InferType()(models.load(name))
    converter = bridge.FromRelay()
    program = converter.module(typed)
    start = time.perf_counter()
    types = infer_types(program)
    seconds = time.perf_counter() - start
    assert seconds < 2, f"{name} takes {seconds:.1f} seconds"
    check_complete(program, types, name)
    matches = [expr for expr in types if isinstance(expr, ir.Match)]
    patterns = [clause.pattern for match in matches for clause in match.clauses]
    inside = {part for pattern in patterns for part in post_order(pattern)}
    count = len([expr for expr in types if expr in inside - set(converter.memo.values())])
    for expr, mine in converter.memo.items():
        if mine in types and not isinstance(mine, ir.Constructor):
            expected = converter.type(expr.checked_type)
            assert types[mine] == expected, f"{name}: {show(mine)[-200:]} is {expected}, not {types[mine]}"
            count += 1
    assert count == len([expr for expr in types if not isinstance(expr, (ir.Clause, ir.Constructor))]), name

for number_, generated in enumerate(programs()):
    converter = bridge.FromRelay()
    program = converter.module(generated.module)
    types = infer_types(program)
    check_complete(program, types, f"random program {number_}")
    for expr, type_ in generated.types.items():
        mine = converter.memo.get(expr)
        if mine in types:
            expected = converter.type(type_)
            message = f"random program {number_}: {show(mine)[-200:]} is {expected}, not {types[mine]}"
            assert types[mine] == expected, message

WRONG = [
    "def @main(%x: Tensor[(1, 784), float32], %w: Tensor[(784, 256), float32]) { nn.dense(%x, %w) }",
    "def @main(%x: int32) { %x.0 }",
    "def @main(%x: int32) { if (%x) { 1 } else { 2 } }",
    "def @main(%x: bool) { if (%x) { 1 } else { 2f } }",
    "def @main(%x) { exp(%x) }",
    "def @main(%x: int32) { %x(1) }",
    "def @main(%f) { %f(%f) }",
]
for text in WRONG:
    found: Exception | None = None
    try:
        infer_types(bridge.from_relay(relay.parse(text)))
    except (TypeError, ValueError) as error:
        found = error
    assert found is not None, f"infer_types accepts\n{text}"
    assert getattr(found, "__notes__", []), f"{found!r} has no note that names the place in\n{text}"
