"""Chapter 25: whole programs run compiled: random ones, and LeNet, the LSTM and the TreeLSTM (part V)."""

from __future__ import annotations

import random
import timeit
from typing import Any

import numpy as np
import pytest
from pocket import bridge, executor, ir
from pocket.dce import remove_dead
from pocket.executor import build, compile_kernels, has_formulas, link, optimize
from pocket.interpreter import run
from pocket.memory import LAUNCHES, lifetimes, lines_of, plan, use_arena
from pocket.partial import partial_evaluate
from pocket.printer import show
from pocket.types import TensorType
from pocket.visitor import find_all, map_functions

from relay_explorer import models, relay
from relay_explorer.models import sentiment, tree_lstm
from tests.pocket.kernels import quick_to_compile
from tests.pocket.programs import programs, same

# Random programs. All of their kernels are compiled at once, which is quicker.
whole = [bridge.from_relay(generated.module) for generated in programs()]
lowered = [optimize(program) for program in whole]
texts: dict[str, Any] = {
    show(function): function for p in lowered for function in p.functions.values() if function.primitive
}
names = {text: f"k{n}" for n, text in enumerate(texts)}
functions = {names[text]: function for text, function in texts.items() if has_formulas(function)}
with quick_to_compile():
    compiled = compile_kernels(functions)
assert len(compiled) > 100, len(compiled)

executor.compile_kernels = lambda kernels: {name: compiled[names[show(f)]] for name, f in kernels.items()}
for number, (program, kernels) in enumerate(zip(whole, lowered)):
    right = same(run(link(kernels)), run(program))
    assert right, f"random program {number}: compiled, it has another value:\n{show(kernels)}"
executor.compile_kernels = compile_kernels

# A plan: no two buffers that are needed at the same time overlap, and memory is used again.
planned = needed = 0
for seed in range(100):
    rng = random.Random(seed)
    lives, sizes = {}, {}
    for n in range(rng.randint(1, 30)):
        begin = rng.randint(0, 20)
        lives[n], sizes[n] = (begin, begin + rng.randint(0, 6)), 64 * rng.randint(1, 9)
    offsets = plan(lives, sizes)
    planned += max(offsets[n] + sizes[n] for n in lives)
    needed += max(
        sum(sizes[n] for n, (begin, end) in lives.items() if begin <= step <= end) for step in range(30)
    )
    for a in lives:
        for b in lives:
            if a < b and lives[a][0] <= lives[b][1] and lives[b][0] <= lives[a][1]:
                apart = offsets[a] + sizes[a] <= offsets[b] or offsets[b] + sizes[b] <= offsets[a]
                message = f"{lives[a]} and {lives[b]} live at the same time, and overlap: {offsets} {sizes}"
                assert apart, message
assert planned < 1.3 * needed, f"100 plans take {planned} bytes, of which {needed} are needed at once"
a, b, c, d = (ir.Var(name) for name in "abcd")
steps = [(b, ir.call("exp", a)), (c, ir.call("tanh", b)), (d, ir.call("add", b, c))]
operators = [call.callee for _, call in steps]
LAUNCHES.update(dict.fromkeys(operators, 448))
for result, expected in [(d, {b: (0, 2), c: (1, 2)}), (b, {c: (1, 2), d: (2, 2)})]:
    found = lifetimes(steps, result)
    assert found == expected, f"{found} in b = exp(a); c = tanh(b); d = add(b, c); {result.name}"
arena = use_arena(ir.Let(b, steps[0][1], ir.Let(c, steps[1][1], ir.Let(d, steps[2][1], d))))
assert arena.value.attrs == {"size": 2 * 448}  # whole cache lines for b and c, none for the result
first, second, last = [call.attrs.get("offset") for _, call in lines_of(arena)[0][1:]]
assert last is None, "the result of the chain is not in the arena"
assert {first, second} == {0, 448}
del LAUNCHES[operators[-1]]
assert lifetimes(steps, d) == {}
LAUNCHES.clear()


def arguments(program: ir.Module) -> list[np.ndarray]:
    rng = np.random.default_rng(1)
    params = program.functions["main"].params
    return [0.1 * rng.normal(size=param.type.shape).astype("float32") for param in params]


def milliseconds(function: Any, *args: Any) -> float:
    return 1e3 * min(timeit.repeat(lambda: function(*args), number=1, repeat=10))


for name in ("lenet", "lstm"):
    program = bridge.from_relay(models.load(name))
    mine, args = build(program), arguments(program)
    theirs = relay.create_executor(mod=models.load(name)).evaluate()(*args).numpy()
    assert np.allclose(run(mine, *args), theirs, rtol=1e-4, atol=1e-6), name
    fast, slow = milliseconds(run, mine, *args), milliseconds(run, program, *args)
    print(f"{name}: {fast:.2f} ms compiled, {slow:.2f} ms interpreted")
    assert fast < slow or name == "lstm"  # whose `split`s NumPy computes
    called = find_all(mine.functions["main"], ir.GlobalVar)  # by the interpreter
    others = {op.name for var in called for op in find_all(mine.functions[var.name], ir.Op)}
    assert others <= {"nn.softmax", "nn.batch_flatten", "split"}

module = sentiment.module()
program = bridge.from_relay(module)
mine, weights = build(program), sentiment.weights()
known = [weights[param.name] for param in program.functions["main"].params[1:]]
for text, mood in [("((the film) (is (not bad)))", "positive"), ("(very bad)", "very negative")]:
    phrase = tree_lstm.phrase(module, sentiment.parse(text), sentiment.vectors())
    chances = run(mine, bridge.from_value(phrase, program), *known)
    assert np.allclose(chances, run(program, bridge.from_value(phrase, program), *known), atol=1e-6)
    assert sentiment.MOODS[chances.argmax()] == mood

# Kernels read no more than there is.
small = build(ir.Module({"main": ir.Function((x := ir.Var("x", TensorType((2, 3))),), ir.call("tanh", x))}))
for wrong in (2, np.ones(3), np.ones((2, 4))):
    with pytest.raises(ValueError, match="needs tensors"):
        run(small, wrong)
columns = np.arange(6, dtype="float32").reshape(3, 2).T  # not row after row in memory
assert np.allclose(run(small, columns), np.tanh(columns)), "the kernel reads another order of elements"

# A sentence that is known beforehand: no match and no call is left, and one arena holds what is in between.
text = module.astext().replace("def @main(", "def @mood(")
weights_of = [param for param in module["main"].params if param.name_hint != "sentence"]
declared = ["%a: Tensor[(1, 16), float32]", *(f"%{p.name_hint}: {p.type_annotation}" for p in weights_of)]
passed = ", ".join(f"%{p.name_hint}" for p in weights_of)
sentence = "Pair(Pair(Word(%a), Word(%a)), Word(%a))"
text += f"\ndef @main({', '.join(declared)}) {{ @mood({sentence}, {passed}) }}"
program = bridge.from_relay(relay.parse(text))
straight = map_functions(partial_evaluate(program), remove_dead)
straight = ir.Module({"main": straight.functions["main"]}, straight.datatypes)
vector = sentiment.vectors()["good"].reshape(1, 16)
mine = build(straight)
assert np.allclose(run(mine, vector, *known), run(program, vector, *known), atol=1e-6)
(arena, alloc), *lines = lines_of(mine.functions["main"].body)[0]
called = find_all(mine.functions["main"], ir.GlobalVar)
assert {op.name for var in called for op in find_all(mine.functions[var.name], ir.Op)} <= {
    "concatenate",
    "nn.softmax",
    "split",
}
used = [arena in call.args for _, call in lines if isinstance(call, ir.Call)]
assert sum(used) >= 2  # the cells, which only kernels read
assert alloc.attrs["size"] < sum(64 + 4 * value.size for value in known)
