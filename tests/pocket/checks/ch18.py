"""Chapter 18: partial evaluation keeps values, and leaves of known control flow nothing."""

from __future__ import annotations

import numpy as np
from pocket import bridge, ir
from pocket.interpreter import run
from pocket.partial import partial_evaluate
from pocket.printer import show
from pocket.visitor import find_all

from relay_explorer import relay
from tests.pocket.programs import programs, same


def residual(text: str) -> tuple[ir.Module, ir.Module]:
    program = bridge.from_relay(relay.parse(text))
    return program, partial_evaluate(program)


def operators(program: ir.Module) -> list[str]:
    calls = find_all(program.functions["main"], ir.Call)
    return [getattr(call.callee, "name", "fn") for call in calls]


_, cube = residual("""
def @power(%x: float32, %n: int32) -> float32 {
  if (%n == 0) { 1f } else { %x * @power(%x, %n - 1) }
}
def @main(%x: float32) { @power(%x, 3) }
""")
assert operators(cube) == ["multiply"] * 3, show(cube)
assert run(cube, np.float32(2)) == 8

tree = """
type Phrase { Word(Tensor[(1, 4), float32]), Pair(Phrase, Phrase), }
def @encode(%phrase: Phrase, %w: Tensor[(4, 8), float32]) -> Tensor[(1, 4), float32] {
  match (%phrase) {
    Word(%x) => { tanh(%x) },
    Pair(%left, %right) => {
      let %both = (@encode(%left, %w), @encode(%right, %w));
      tanh(nn.dense(concatenate(%both, axis=1), %w))
    },
  }
}
"""
program, known = residual(
    tree
    + """
def @main(%not: Tensor[(1, 4), float32], %bad: Tensor[(1, 4), float32], %w: Tensor[(4, 8), float32]) {
  @encode(Pair(Pair(Word(%not), Word(%bad)), Word(%bad)), %w)
}"""
)
text = show(known.functions["main"])
assert not find_all(known.functions["main"], ir.Match), f"a match of a known phrase is left:\n{text}"
assert operators(known).count("tanh") == 5, text
assert "encode" not in operators(known), text
args = [np.sin(np.arange(n, dtype="float32")).reshape(s) for n, s in [(4, (1, 4)), (4, (1, 4)), (32, (4, 8))]]
assert same(run(known, *args), run(program, *args))

# What is dynamic stays: a match of an unknown list, and both branches of an unknown condition.
program, open_list = residual("""
type L { Nil, Cons(float32, L), }
def @sum(%l: L) -> float32 { match (%l) { Nil => { 0f }, Cons(%h, %t) => { %h + @sum(%t) } } }
def @main(%l: L, %x: float32) {
  let %f = fn (%a: float32) { if (%a > 0f) { %a } else { %a + 1f } };
  @sum(Cons(%x, Cons(%f(%x), %l)))
}""")
assert len(find_all(open_list.functions["main"], ir.Match)) == 1
assert "sum" in operators(open_list)
nil, cons = program.datatypes["L"]
data = run(
    ir.Module(
        {"main": ir.Function((), ir.Call(cons, (ir.Constant(np.array(5, "float32")), ir.Call(nil, ()))))}
    )
)
for x in (-3, 2):
    assert same(run(open_list, data, np.float32(x)), run(program, data, np.float32(x)))

_, empty = residual("""
type L { Nil, Cons(float32, L), }
def @main(%l: L) { match (%l) { Nil => { 0f }, _ => { 1f } } }""")
nil = empty.datatypes["L"][0]
assert run(empty, run(ir.Module({"main": ir.Function((), ir.Call(nil, ()))}))) == 0

# Of a nested pattern, a part that is dynamic decides.
program, nested = residual("""
type L { Nil, Cons(float32, L), }
def @main(%l: L, %x: float32) {
  match (Cons(%x, %l)) { Cons(%a, Cons(%b, _)) => { %a + %b }, _ => { 7f } }
}""")
nil, cons = program.datatypes["L"]
one = ir.Module({"main": ir.Function((v := ir.Var("v"),), ir.Call(cons, (v, ir.Call(nil, ()))))})
for data in (run(ir.Module({"main": ir.Function((), ir.Call(nil, ()))})), run(one, np.float32(5))):
    value = run(nested, data, np.float32(2))
    assert same(value, run(program, data, np.float32(2))), f"the wrong clause is chosen in\n{show(nested)}"

# It ends: when the fuel is used up, a loop is left to run time.
_, loop = residual("def @loop(%x: int32) -> int32 { @loop(%x) } def @main() { @loop(1) }")
assert operators(loop) == ["loop"]
_, up = residual("""
def @up(%n: int32) -> int32 { if (%n == 5) { 0 } else { @up(%n + 1) } }
def @main() { @up(1) }""")
assert run(up) == 0
assert operators(up) == []
_, fib = residual("""
def @fib(%n: int32) -> int32 { if (%n < 2) { %n } else { @fib(%n - 1) + @fib(%n - 2) } }
def @main() { @fib(40) }""")
assert len(find_all(fib.functions["main"], ir.Call)) < 5000  # the fuel ends

for number, generated in enumerate(programs()):
    program = bridge.from_relay(generated.module)
    left = partial_evaluate(program)
    assert same(run(left), run(program)), f"random program {number}"
