"""Chapter 15: folding, sharing and sweeping keep types and values, and do what they are for."""

from __future__ import annotations

import numpy as np
from pocket import bridge, ir
from pocket.cse import share_common
from pocket.dce import remove_dead
from pocket.folding import fold_constants
from pocket.interpreter import run
from pocket.passes import function_pass, sequential
from pocket.printer import show
from pocket.solver import infer_types
from pocket.visitor import find_all

from relay_explorer import models, relay
from relay_explorer.compat import tvm
from tests.pocket.programs import programs, same

fold, share, sweep = map(function_pass, (fold_constants, share_common, remove_dead))

FOLDED = """
def @main(%x: Tensor[(3), float32]) {
  let %scale = exp(add(1f, 2f));
  let %parts = (%x, multiply(%scale, 2f));
  if (less(%scale, 3f)) { %x } else { multiply(%x, add(%scale, 1f)) }
}
"""
program = sweep(fold(bridge.from_relay(relay.parse(FOLDED))))
assert len(find_all(program.functions["main"], ir.Call)) == 1, show(program)
assert "multiply(%x, 21.08" in show(program), show(program)

PASTED = """
def @main(%x: Tensor[(1, 4), float32], %w: Tensor[(8, 8), float32]) {
  %0 = concatenate((%x, %x), axis=1);
  %1 = split(nn.dense(%0, %w), indices_or_sections=2, axis=1);
  add(sigmoid(%1.0), tanh(%1.1))
}
"""
cell = relay.parse(PASTED)
pasted = bridge.from_relay(relay.transform.ToTree()(cell))
assert len(find_all(pasted.functions["main"], ir.Call)) == 9
shared = share(pasted)
assert tvm.ir.structural_equal(bridge.to_relay(shared), cell), f"not all is shared:\n{show(shared)}"

fields = share(bridge.from_relay(relay.parse(PASTED.replace("%1.1", "%1.0")))).functions["main"]
assert len(find_all(fields, ir.TupleGetItem)) == 1, f"a field is taken out twice:\n{show(fields)}"
constants = [ir.Constant(np.zeros((), dtype)) for dtype in ("float32", "int32", "float32")]
constants = share_common(ir.Tuple(tuple(constants))).fields
assert constants[0] is constants[2], "equal constants are not shared"
assert constants[0] is not constants[1], "constants of different element types are not equal"

DEAD = """
def @main(%x: Tensor[(3), float32]) {
  let %a = exp(%x);
  let %b = log(%a);
  let %f = fn (%n: int32) -> int32 { %f(%n) };
  tanh(%x)
}
"""
swept = show(sweep(bridge.from_relay(relay.parse(DEAD))))
assert "let" not in swept, f"unused bindings are left:\n{swept}"

# Constants are folded to values of the same type, and a call that fails stays where it is.
QUOTIENTS = "def @main() -> (int32, int32) { (divide(7, 2), divide(-7, 2)) }"
quotients = fold(bridge.from_relay(relay.parse(QUOTIENTS)))
folded = [(int(part.value), str(part.value.dtype)) for part in quotients.functions["main"].body.fields]
assert folded == [(3, "int32"), (-3, "int32")], f"integers are divided to {folded}"
FAILS = "def @main(%c: bool) -> int32 { if (%c) { power(2, -1) } else { 1 } }"
fails = show(fold(bridge.from_relay(relay.parse(FAILS))))
assert "power" in fails, f"a call that fails is not folded, as in\n{fails}"

for name in ("mlp", "lenet", "lstm", "tree_lstm"):
    program = bridge.from_relay(models.load(name))
    sequential(fold, share, sweep)(program)

removed = 0
for number, generated in enumerate(programs()):
    program = bridge.from_relay(generated.module)
    value, type_ = run(program), infer_types(program)[program.functions["main"]]
    for step in (fold, share, sweep):
        new = step(program)
        assert same(run(new), value), f"random program {number} after {step.__name__}"
        if number < 80:
            assert infer_types(new)[new.functions["main"]] == type_, f"random program {number}"
    new = sweep(share(fold(program)))
    assert same(run(new), value), f"random program {number} after all passes"
    before, after = (len(find_all(p.functions["main"], ir.Node)) for p in (program, new))
    removed += before - after
assert removed > 1000, removed
