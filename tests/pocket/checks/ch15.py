"""Chapter 15: folding, sharing and sweeping keep types and values, and do what they are for."""

from __future__ import annotations

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
assert show(program).count("(") == 3, show(program)
assert "multiply(%x, 21.08" in show(program)

PASTED = """
def @main(%x: Tensor[(1, 4), float32], %w: Tensor[(8, 4), float32]) {
  %0 = split(nn.dense(%x, %w), indices_or_sections=2, axis=1);
  add(sigmoid(%0.0), tanh(%0.1))
}
"""
cell = relay.parse(PASTED)
pasted = bridge.from_relay(relay.transform.ToTree()(cell))
assert len(find_all(pasted.functions["main"], ir.Call)) == 7
assert tvm.ir.structural_equal(bridge.to_relay(share(pasted)), cell)

DEAD = """
def @main(%x: Tensor[(3), float32]) {
  let %a = exp(%x);
  let %b = log(%a);
  let %f = fn (%n: int32) -> int32 { %f(%n) };
  tanh(%x)
}
"""
assert show(sweep(bridge.from_relay(relay.parse(DEAD)))).count("let") == 0

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
