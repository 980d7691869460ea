"""Programs for the virtual machine with compiled kernels: they give what the interpreter gives, and are saved
and loaded.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import relay_explorer
from relay_explorer import relay
from relay_explorer.execute import ExecutionError, Interpreter, list_items, make_list
from relay_explorer.execute.results import to_value
from relay_explorer.ir import IRModule, RelayError
from relay_explorer.lower.runtime.virtual import VMExecutable
from relay_explorer.models.char_rnn import char_rnn
from relay_explorer.models.lenet import lenet
from relay_explorer.models.tree_lstm import phrase, tree_lstm
from relay_explorer.testing import generate
from relay_explorer.text import parse
from tests.execute.programs import assert_same
from tests.models.reference import weights

LIST = "type List[A] { Cons(A, List[A]), Nil }\n"
LAST = (
    LIST
    + """
def @last(%l: List[Tensor[(2), float32]]) -> Tensor[(2), float32] {
  match? (%l) { Cons(%x, Nil) => tanh(%x), Cons(_, %rest) => @last(%rest) }
}
def @main(%l: List[Tensor[(2), float32]], %n: int32) -> (Tensor[(2), float32], List[Tensor[(2), float32]]) {
  let %x = @last(%l);
  (%x, if (greater(%n, 0)) { Cons(%x, %l) } else { Nil })
}"""
)


@pytest.fixture(scope="module")
def last() -> Any:
    return relay_explorer.build(parse(LAST, "last.relay"), quiet=True)


def rows(module: IRModule, count: int) -> Any:
    return make_list(module, [np.full(2, k, "float32") for k in range(count)])


def test_a_tree() -> None:
    module = tree_lstm(inputs=4, hidden=3, moods=5)
    arguments = weights(module, 0)
    words = np.random.default_rng(1).standard_normal((4, 4)).astype("float32")
    sentence = phrase(module, ((words[0], words[1]), (words[2], words[3])))
    exe = relay_explorer.build(module, params=arguments, quiet=True)
    assert isinstance(exe, VMExecutable)
    args = [to_value(sentence), *[arguments[p.name_hint] for p in module["main"].params[1:]]]
    assert_same(exe(sentence), Interpreter(module).call("main", args))


def test_a_list_of_letters() -> None:
    module = char_rnn(alphabet=6, hidden=4)
    arguments = weights(module, 0)
    text = make_list(module, [np.array(letter, "int32") for letter in (3, 1, 5, 0)])
    exe = relay_explorer.build(module, params=arguments, quiet=True)
    args = [to_value(text), *[arguments[p.name_hint] for p in module["main"].params[1:]]]
    assert_same(exe(text), Interpreter(module).call("main", args))


def test_a_network_may_run_there_too() -> None:
    module = lenet()
    arguments = {name: value for name, value in weights(module, 0).items() if name != "data"}
    image = np.random.default_rng(0).standard_normal((1, 1, 28, 28)).astype("float32")
    exe = relay_explorer.build(module, params=arguments, executor="vm", quiet=True)
    graph = relay_explorer.build(module, params=arguments, quiet=True)
    assert_same(exe(image), graph(image))
    # Fewer storages than kernels: memory is used again.
    text = str(exe.program)
    assert text.count(" alloc_storage ") < text.count(" invoke_packed ")


@pytest.mark.parametrize("seed", [3, 8])
def test_random_programs(seed: int) -> None:
    module = generate(seed, size=40, closed=True).module
    exe = relay_explorer.build(module, executor="vm", quiet=True)
    assert_same(to_value(exe()), Interpreter(module).call("main", []), 1e-3, 1e-4)


def test_lists_in_and_out(last: Any) -> None:
    module = parse(LAST)
    x, items = last(rows(module, 3), 1)
    np.testing.assert_allclose(x, np.tanh([2, 2]), rtol=1e-5)
    assert [item.numpy().tolist() for item in list_items(items)][1:] == [[0, 0], [1, 1], [2, 2]]
    assert repr(last.run(n=0, l=rows(module, 1))[1]) == "Nil"


def test_arrays_that_kernels_cannot_read_are_copied(last: Any) -> None:
    module = parse(LAST)
    odd = np.frombuffer(b"\0" + np.array([1, 2], "float32").tobytes(), "uint8")[1:].view("float32")
    far = np.arange(8, dtype="float32")[::4]
    for array in (odd, far):
        np.testing.assert_allclose(last(make_list(module, [array]), 0)[0], np.tanh(array), rtol=1e-5)


def test_sizes_that_are_known_only_then() -> None:
    x, y = (relay.var(name, shape=(relay.Any(), 2)) for name in "xy")
    exe = relay_explorer.build(relay.Function([x, y], relay.tanh(x) + y), quiet=True)
    a = np.arange(6, dtype="float32").reshape(3, 2)
    np.testing.assert_allclose(exe(a, a), np.tanh(a) + a, rtol=1e-5)
    np.testing.assert_allclose(exe(a, a[:1]), np.tanh(a) + a[:1], rtol=1e-5)
    with pytest.raises(ExecutionError, match="`add` failed: operands could not be broadcast together"):
        exe(a, a[:2])


def test_a_saved_program(last: Any, tmp_path: Path) -> None:
    module = parse(LAST)
    path = tmp_path / "last.vm"
    last.save(path)
    again = relay_explorer.load(path)
    assert_same(to_value(again(rows(module, 4), 1)), to_value(last(rows(module, 4), 1)))
    assert [given.type for given in again.inputs] == ["List[Tensor[(2), float32]]", "int32"]
    assert again.text == last.text != ""
    for exe in (last, again):  # also the places of errors are kept
        with pytest.raises(ExecutionError, match=r"last.relay:4:3: error: no clause matches Nil"):
            exe(rows(module, 0), 1)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(RelayError, match="is not a complete program that this package saved"):
        relay_explorer.load(path)


def test_the_interpreter_takes_the_same_arguments(last: Any) -> None:
    module = parse(LAST)
    exe = relay_explorer.build(module, executor="interpreter")
    assert_same(to_value(exe(rows(module, 3), 1)), to_value(last(rows(module, 3), 1)), 1e-5)
    assert repr(exe) == ("<program for the interpreter: (%l: List[Tensor[(2), float32]], %n: int32)>")
    with pytest.raises(RelayError, match="the argument `%l` must be `List"):
        exe(1, 1)
    with pytest.raises(RelayError, match="there is nothing compiled to save"):
        exe.save("nowhere")


def test_what_it_says(last: Any) -> None:
    assert repr(last).startswith("<program for the virtual machine on cpu (")
    assert "): (%l: List[Tensor[(2), float32]], %n: int32); 2 functions of " in repr(last)
    assert " instructions, 2 kernels, built in " in repr(last)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (
            (),
            "the program expects 2 arguments, got 0\nhelp: they are `%l: List[Tensor[(2), float32]]`,",
        ),
        ((1, 1), "the argument `%l` must be `List[Tensor[(2), float32]]`, but is `int32`"),
        (
            (make_list(parse(LAST), [np.zeros(3, "float32")]), 1),
            "a part of the argument `%l` must be `Tensor[(2), float32]`, but is `Tensor[(3), float32]`\n"
            "note: it is field 0 of `Cons`",
        ),
        ((rows(parse(LAST), 1), 0.5), "the argument `%n` must be `int32`, but is `float32`"),
        ((rows(parse(LAST), 1), 1 << 40), "the argument `%n` must be `int32`, but is `int64`"),
        ((rows(parse(LAST), 1), "one"), "a str cannot be an argument of a Relay function"),
    ],
)
def test_a_wrong_argument(last: Any, args: tuple[Any, ...], message: str) -> None:
    with pytest.raises(RelayError) as caught:
        last(*args)
    assert str(caught.value).startswith(f"error: {message}")
