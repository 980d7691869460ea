"""The virtual machine gives what the interpreter gives, whatever the program is made of."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from relay_explorer import relay
from relay_explorer.execute import ExecutionError, Interpreter, list_items, make_list, memory
from relay_explorer.execute.results import to_value
from relay_explorer.execute.vm import Machine, compile_program
from relay_explorer.execute.vm.events import FunctionEntered
from relay_explorer.ir import IRModule, RelayError
from relay_explorer.ir.narrow import as_tensor_type
from relay_explorer.ir.recorder import Recorder
from relay_explorer.models.char_rnn import char_rnn
from relay_explorer.models.lenet import lenet
from relay_explorer.models.lstm import lstm
from relay_explorer.models.tree_lstm import phrase, tree_lstm
from relay_explorer.testing import generate
from relay_explorer.text import parse
from relay_explorer.typing import infer_types
from tests.execute.programs import assert_same
from tests.models.reference import weights

CASES = json.loads((Path(__file__).parents[1] / "data" / "conformance.json").read_text())
TEXTS = [case["text"] for case in CASES.values() if case["well_typed"]]
LIST = "type List[A] { Cons(A, List[A]), Nil }\n"


def random_arguments(module: IRModule) -> list[Any] | None:
    """Tensors for the parameters of `main`; None where it takes anything else."""
    rng = np.random.default_rng(0)
    types = [p.checked_type for p in infer_types(module)["main"].params]
    if not all(isinstance(t, relay.TensorType) and t.is_static for t in types):
        return None
    return [
        np.asarray(rng.standard_normal(t.concrete_shape) * 2, t.dtype) for t in map(as_tensor_type, types)
    ]


def both(module: IRModule, args: list[Any], level: int = 3) -> tuple[Any, Any]:
    return Machine(compile_program(module, opt_level=level)).call("main", args), Interpreter(module).call(
        "main", args
    )


def test_the_reference_programs() -> None:
    tried = 0
    for text in TEXTS:
        module = parse(text)
        args = random_arguments(module)
        if args is not None and sum(a.size for a in args) < 200_000:
            assert_same(*both(module, args), 1e-3, 1e-3)
            tried += 1
    assert tried == 49


@pytest.mark.parametrize("seed", range(0, 40, 4))
def test_random_programs(seed: int) -> None:
    for number in range(seed, seed + 4):
        module = generate(number, size=60, closed=True).module
        level = 3 * (number % 2)
        try:
            expected = Interpreter(module).call("main", [])
        except RelayError as error:
            with pytest.raises(type(error)):
                Machine(compile_program(module, opt_level=level)).call("main", [])
            continue
        assert_same(Machine(compile_program(module, opt_level=level)).call("main", []), expected, 1e-3, 1e-4)


def test_a_tree() -> None:
    module = tree_lstm(inputs=4, hidden=3, moods=5)
    rng = np.random.default_rng(1)
    words = [rng.standard_normal(4).astype("float32") for _ in range(5)]
    sentence = to_value(phrase(module, ((words[0], words[1]), (words[2], (words[3], words[4])))))
    arguments = weights(module, 0)
    args = [sentence, *[arguments[p.name_hint] for p in module["main"].params[1:]]]
    assert_same(*both(module, args))


def test_a_list() -> None:
    module = char_rnn(alphabet=6, hidden=4)
    arguments = weights(module, 0)
    text = to_value(make_list(module, [np.array(letter, "int32") for letter in (3, 1, 5, 0)]))
    args = [text, *[arguments[p.name_hint] for p in module["main"].params[1:]]]
    assert_same(*both(module, args))


@pytest.mark.parametrize("module", [lenet(), lstm(steps=3, inputs=4, hidden=5)], ids=["lenet", "lstm"])
def test_networks(module: IRModule) -> None:
    args = random_arguments(module)
    assert args is not None
    result, expected = both(module, [a * 0.2 for a in args])
    assert_same(result, expected, 1e-3, 1e-4)


EFFECTS = """
def @log(%r: Ref[(int32, int32)], %d: int32) -> int32 {
  let %now = ref_read(%r);
  let %done = ref_write(%r, (add(multiply(%now.0, 10), %d), add(%now.1, 1)));
  %d
}
def @main(%c: bool) -> (int32, (int32, int32)) {
  let %r = ref((0, 0));
  let %f = fn (%x: int32) { multiply(@log(%r, %x), @log(%r, 7)) };
  let %sum = add(%f(1), if (%c) { %f(2) } else { @log(%r, 3) });
  let %late = ref_read(%r);
  let %more = @log(%r, 9);
  (%sum, %late)
}
"""


@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("cond", [True, False])
def test_effects_come_in_their_order(level: int, cond: bool) -> None:
    result, expected = both(parse(EFFECTS), [np.array(cond)], level)
    assert_same(result, expected)
    assert int(result[1][0]) == (1727 if cond else 173)


def test_a_loop_of_many_turns_keeps_nothing() -> None:
    """No turn waits for the next: the deepest the machine gets is one activation."""

    program = """
    def @main(%n: int32) -> int32 {
      let %loop = fn (%i: int32, %sum: int32) -> int32 {
        if (less(%i, %n)) { %loop(add(%i, 1), add(%sum, %i)) } else { %sum }
      };
      %loop(0, 0)
    }"""
    machine = Machine(compile_program(parse(program)))
    with Recorder(FunctionEntered) as recorder:
        result = machine.call("main", [np.array(20_000, "int32")])
    assert int(result) == 199_990_000
    assert sum(not event.tail for event in recorder.events) == 1


def test_a_deep_recursion() -> None:
    program = """
    def @down(%n: int32) -> int32 { if (greater(%n, 0)) { add(@down(subtract(%n, 1)), 1) } else { 0 } }
    def @main(%n: int32) -> int32 { @down(%n) }"""
    assert int(Machine(compile_program(parse(program))).call("main", [np.array(30_000, "int32")])) == 30_000


def failure(run: Any, *args: Any) -> str:
    with pytest.raises(ExecutionError) as caught:
        run("main", list(args))
    return re.sub(r"[\d,]+ (MiB|deep)", r"N \1", str(caught.value))


WRONG = {
    "match": LIST + "def @first(%l: List[int32]) -> int32 { match? (%l) { Cons(%x, Cons(_, _)) => %x } }\n"
    "def @main(%n: int32) -> int32 { @first(Cons(%n, Nil)) }",
    "endless": "def @f(%n: int32) -> int32 { add(@f(%n), 1) }\ndef @main(%n: int32) -> int32 { @f(%n) }",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_goes_wrong_is_told_as_the_interpreter_tells_it(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "LEAST", 4 << 20)
    monkeypatch.setattr(memory, "free", lambda: 0)
    module = parse(WRONG[name], "wrong.relay")
    one = np.array(1, "int32")
    expected = failure(Interpreter(module).call, one)
    assert failure(Machine(compile_program(module)).call, one) == expected


def test_a_run_that_takes_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "LEAST", 16 << 20)
    monkeypatch.setattr(memory, "free", lambda: 0)
    program = (
        "def @main(%x: Tensor[(100000), float32]) -> Tensor[(100000), float32] {\n"
        "  negative(@main(negative(%x)))\n"
        "}"
    )
    result = failure(
        Machine(compile_program(parse(program, "much.relay"))).call, np.zeros(100_000, "float32")
    )
    assert result.startswith(
        "much.relay:2:12: error: the program has taken N MiB of memory, over half of what was free\n"
    )
    assert "\nnote: calls are nested N deep; the last is of `@main`\nhelp: does the " in result


def test_sizes_that_are_known_only_then() -> None:
    x = relay.var("x", shape=(relay.Any(), 2))
    y = relay.var("y", shape=(relay.Any(), 2))
    module = IRModule.from_expr(
        relay.Function([x, y], relay.sum(relay.concatenate([x, y], 0) * relay.const(2.0)))
    )
    rows = np.arange(6, dtype="float32").reshape(3, 2)
    assert_same(*both(module, [rows, rows[:1]]))
    adding = IRModule.from_expr(relay.Function([x, y], relay.add(x, y)))
    assert_same(*both(adding, [rows, rows[:1]]))
    assert failure(Machine(compile_program(adding)).call, rows, rows[:2]) == failure(
        Interpreter(adding).call, rows, rows[:2]
    )


def test_sizes_that_only_data_tell() -> None:
    x = relay.var("x", shape=(5,))
    module = IRModule.from_expr(relay.Function([x], relay.argwhere(relay.nn.relu(x))))
    assert_same(*both(module, [np.array([0, 1, -1, 0, 2], "float32")]))


def test_functions_as_values() -> None:
    """Operators, constructors, functions of the module and closures, passed on and given back."""
    program = (
        LIST
        + """
    def @twice[A](%f: fn (A) -> A, %x: A) -> A { %f(%f(%x)) }
    def @inc(%x: int32) -> int32 { add(%x, 1) }
    def @pair(%g: fn (int32, List[int32]) -> List[int32], %x: int32) -> List[int32] { %g(%x, %g(%x, Nil)) }
    def @main(%n: int32) -> (int32, int32, int32, List[int32], fn (int32) -> int32) {
      let %k = fn (%x: int32) { multiply(%x, %n) };
      let %deep = fn (%x: int32) { fn (%y: int32) { add(%k(%x), %y) } };
      let %f = %deep(2);
      (@twice(%k, 3), @twice(@inc, %n), @twice(negative, %n), @pair(Cons, %n), %f)
    }"""
    )
    module = parse(program)
    run = relay.create_executor("vm", module).evaluate()
    a, b, c, items, f = run(5)
    assert [v.numpy().tolist() for v in (a, b, c)] == [75, 7, 5]
    assert [v.numpy().tolist() for v in list_items(items)] == [5, 5]
    assert f(4).numpy().tolist() == 14
    assert repr(f) == "<fn (%y)>"


def test_the_executor() -> None:
    run = relay.create_executor("vm")
    x = relay.var("x", shape=(2,))
    assert run.evaluate(relay.const(1) + relay.const(2)).numpy().tolist() == 3
    assert run.evaluate(relay.Function([x], x + x))(np.ones(2, "float32")).numpy().tolist() == [2, 2]
    assert run.evaluate(x + x, {x: np.ones(2, "float32")}).numpy().tolist() == [2, 2]
    with pytest.raises(RelayError, match=r"the program has no function `@f`\nhelp: it has `@main`"):
        Machine(compile_program(relay.Function([x], x))).call("f", [])
    with pytest.raises(ExecutionError, match="the function expects 1 argument, got 0"):
        Machine(compile_program(relay.Function([x], x))).call("main", [])
