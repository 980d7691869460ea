"""Chapter 7: data and `match`; the milestone of part II: the sentiment TreeLSTM reads a sentence."""

from __future__ import annotations

from pocket import bridge
from pocket.interpreter import run
from pocket.printer import show

from relay_explorer import relay
from relay_explorer.models import sentiment, tree_lstm
from tests.pocket.programs import programs, same

for number, generated in enumerate(programs()):
    program = bridge.from_relay(generated.module)
    mine = run(program)
    theirs = relay.create_executor(mod=generated.module).evaluate()()
    assert same(mine, theirs), f"random program {number}"
    if number < 50:  # what is printed can be read back, and has the same value
        again = bridge.from_relay(relay.parse(show(program)))
        assert same(run(again), theirs), f"random program {number}, printed"

# The first clause that matches is taken, whatever the others are.
FIRST = """
type L { Nil, Cons(int32, L), }
def @kind(%l: L) -> int32 {
  match (%l) { Nil => { 0 }, Cons(_, Nil) => { 1 }, Cons(%a, Cons(%b, _)) => { add(%a, %b) }, _ => { 9 } }
}
def @main() { (@kind(Nil), @kind(Cons(7, Nil)), @kind(Cons(2, Cons(3, Nil)))) }
"""
values = [int(value) for value in run(bridge.from_relay(relay.parse(FIRST)))]
assert values == [0, 1, 5], f"the values are {values} and not [0, 1, 5] in{FIRST}"

module = sentiment.module()
program = bridge.from_relay(module)
weights = sentiment.weights()
arguments = [weights[param.name] for param in program.functions["main"].params[1:]]
for text, mood in [("((the film) (is (not bad)))", "positive"), ("(very bad)", "very negative")]:
    phrase = tree_lstm.phrase(module, sentiment.parse(text), sentiment.vectors())
    chances = run(program, bridge.from_value(phrase, program), *arguments)
    assert sentiment.MOODS[chances.argmax()] == mood, (text, chances, sentiment.MOODS)
