"""Expressions and functions run from Python: what goes in, what comes out, and what is refused."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from inline_snapshot import snapshot
from inline_snapshot.extra import raises

from relay_explorer import relay
from relay_explorer.execute.results import to_value
from relay_explorer.ir import RelayError, TypeInferenceError
from relay_explorer.lower import executor

ConstructorValue = relay.backend.interpreter.ConstructorValue
RefValue = relay.backend.interpreter.RefValue

debug = relay.create_executor()


def floats(*values: float) -> np.ndarray:
    return np.array(values, "float32")


def pair() -> relay.Function:
    x, y = relay.var("x", shape=(2,)), relay.var("y", shape=(2,))
    return relay.Function([x, y], relay.Tuple([x + y, x - y]))


@pytest.fixture(scope="module")
def lists() -> Any:
    prelude = relay.prelude.Prelude()
    return prelude, relay.create_executor("debug", prelude.mod), *prelude.mod.get_type("List")


def test_an_expression() -> None:
    result = debug.evaluate(relay.const(1) + relay.const(2))
    assert (result.numpy(), result.dtype, result.shape) == (3, "int32", ())


def test_a_function_takes_arrays_constants_and_ndarrays() -> None:
    function = debug.evaluate(pair())
    for one in (floats(1, 2), relay.const(floats(1, 2)), relay.const(floats(1, 2)).data):
        total, difference = function(one, floats(10, 20))
        np.testing.assert_array_equal(total.numpy(), floats(11, 22))
        np.testing.assert_array_equal(difference.numpy(), floats(-9, -18))


def test_arguments_by_name() -> None:
    function = debug.evaluate(pair())
    assert function(y=floats(1, 1), x=floats(5, 5))[1].numpy().tolist() == [4, 4]
    assert function(floats(5, 5), y=floats(1, 1))[1].numpy().tolist() == [4, 4]


@pytest.mark.parametrize(
    ("named", "message"),
    [
        (
            {"z": 1.0},
            snapshot("""\
error: the function has no parameter `%z`
help: its parameters are `%x`, `%y`\
"""),
        ),
        ({"x": 1.0, "y": 1.0}, snapshot("error: the parameter `%x` is given by position and by name")),
        (
            {},
            snapshot("""\
error: the called value expects 2 arguments, got 1
help: its type is fn (Tensor[(2), float32], Tensor[(2), float32]) -> (_, _)\
"""),
        ),
    ],
)
def test_wrong_names(named: dict[str, float], message: str) -> None:
    with pytest.raises(RelayError) as caught:
        debug.evaluate(pair())(floats(1, 1), **named)
    assert str(caught.value) == message


def test_a_missing_name() -> None:
    with raises(snapshot("RelayError: error: the parameter `%y` is not given")):
        debug.evaluate(pair())(x=floats(1, 1))


def test_types_are_checked_before_anything_runs() -> None:
    function = debug.evaluate(pair())
    with raises(
        snapshot(
            "TypeInferenceError:\n"
            "error: the first argument of `fn (…)` must be `Tensor[(2), float32]`, but the first value "
            "from Python is `Tensor[(3), float32]`\n"
            "note: `fn (…)` has type `fn (Tensor[(2), float32], Tensor[(2), float32]) -> (_, _)`\n"
            "note: the first argument is a value from Python of type `Tensor[(3), float32]`"
        )
    ):
        function(floats(1, 2, 3), floats(1, 2))
    with raises(
        snapshot("""\
TypeInferenceError:
error: `%x` is used, but nothing introduces it
help: make it a parameter of the function, or bind it with `let`\
""")
    ):
        debug.evaluate(relay.var("x", "int32") + relay.const(1))


def test_a_parameter_without_a_type_takes_the_arguments() -> None:
    x = relay.var("x")
    double = debug.evaluate(relay.Function([x], x + x))
    assert double(floats(1, 2)).numpy().tolist() == [2, 4]
    assert double(np.array(4)).numpy() == 8
    with pytest.raises(TypeInferenceError, match="add"):
        double((floats(1), floats(2)))


def test_an_open_size_takes_any() -> None:
    x = relay.var("x", shape=(relay.Any(), 2))
    total = debug.evaluate(relay.Function([x], relay.sum(x)))
    assert [float(total(np.ones((n, 2), "float32")).numpy()) for n in (1, 5)] == [2, 10]
    with raises(
        snapshot(
            "TypeInferenceError:\n"
            "error: the first argument of `fn (…)` must be `Tensor[(?, 2), float32]`, but the first "
            "value from Python is `Tensor[(1, 3), float32]`\n"
            "note: `fn (…)` has type `fn (Tensor[(?, 2), float32]) -> _`\n"
            "note: the first argument is a value from Python of type `Tensor[(1, 3), float32]`"
        )
    ):
        total(np.ones((1, 3), "float32"))


def test_variables_with_values() -> None:
    x, y = relay.var("x"), relay.var("y")
    result = debug.evaluate(x - y, binds={x: floats(5, 5), y: relay.const(2.0)})
    assert result.numpy().tolist() == [3, 3]


def test_nested_tuples_go_in_and_out() -> None:
    x = relay.var("x")
    swap = debug.evaluate(
        relay.Function([x], relay.Tuple([relay.TupleGetItem(x, 1), relay.TupleGetItem(x, 0)]))
    )
    (a, b), c = swap((floats(1), (floats(2), 3)))
    assert (a.numpy().tolist(), b.dtype, c.numpy().tolist()) == ([2], "int32", [1])


def test_a_tuple_that_holds_itself() -> None:
    endless: list[object] = []
    endless.append(endless)
    x = relay.var("x")
    with raises(snapshot("RelayError: error: an argument has tuples nested deeper than 100 levels")):
        debug.evaluate(relay.Function([x], x))(endless)


def test_constructed_values(lists: Any) -> None:
    prelude, run, _, cons, nil = lists
    value = ConstructorValue(cons.tag, [floats(1, 2), ConstructorValue(nil.tag, [], nil)], cons)
    same = run.evaluate(prelude.id)(value)
    assert (same.tag, same.constructor) == (cons.tag, cons)
    assert same.fields[0].numpy().tolist() == [1, 2]
    assert (same.fields[1].tag, same.fields[1].fields) == (nil.tag, ())
    assert repr(same) == "Cons([1.0, 2.0], Nil)"
    assert run.evaluate(prelude.length)(same).numpy() == 1
    assert repr(run.evaluate(prelude.rev(cons(relay.const(1), cons(relay.const(2), nil()))))) == (
        "Cons(2, Cons(1, Nil))"
    )


def test_a_wrong_tag(lists: Any) -> None:
    *_, cons, nil = lists
    with pytest.raises(RelayError, match=f"the tag of `Nil` is {nil.tag}, not {cons.tag}"):
        ConstructorValue(cons.tag, [], nil)


def test_a_hundred_thousand_deep_value_comes_out_and_goes_in(lists: Any) -> None:
    prelude, run, *_ = lists
    module = relay.parse(
        "def @down(%i: int32, %l: List[int32]) -> List[int32] {"
        " if (equal(%i, 0)) { %l } else { @down(subtract(%i, 1), Cons(%i, %l)) } }"
        "def @main(%n: int32) { @down(%n, Nil) }",
        init_module=prelude.mod,
    )
    deep = relay.create_executor(mod=module).evaluate()(100_000)
    assert deep.fields[1].fields[0].numpy() == 2
    assert run.evaluate(prelude.length)(deep).numpy() == 100_000


def test_a_cell_stays_the_same_cell() -> None:
    module = relay.parse(
        "def @main(%r: Ref[int32]) { let %u = ref_write(%r, add(ref_read(%r), 1)); (%r, ref_read(%r)) }"
    )
    cell = RefValue(41)
    again, number = relay.create_executor(mod=module).evaluate()(cell)
    assert (number.numpy(), cell.value.numpy(), repr(again)) == (42, 42, "ref(42)")
    cell.value = 7
    assert again.value.numpy() == 7


def test_functions_come_out_and_go_in(lists: Any) -> None:
    prelude, run, *_ = lists
    adder = debug.evaluate(
        relay.parse_expr("""
          fn (%x: int32) -> (fn (int32) -> int32, fn (Tensor[(1), float32]) -> Tensor[(1), float32], int32) {
            (fn (%y: int32) { add(%x, %y) }, negative, 5)
          }
        """)
    )
    add_two, negate, five = adder(2)
    assert (add_two(40).numpy(), negate(floats(1)).numpy().tolist(), five.numpy()) == (42, [-1], 5)
    assert repr(add_two) == "<fn (%y)>"
    both = run.evaluate(prelude.compose)(add_two, relay.parse_expr("fn (%z: int32) { multiply(%z, 10) }"))
    assert both(3).numpy() == 32
    with raises(
        snapshot("""\
ExecutionError:
from_string:3:14: error: the function expects 1 argument, got 2
   3 |             (fn (%y: int32) { add(%x, %y) }, negative, 5)
     |              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\
""")
    ):
        add_two(1, 2)


def test_main_and_the_parameters_of_a_model() -> None:
    x, w = relay.var("x", shape=(1, 2)), relay.var("w", shape=(3, 2))
    module = relay.IRModule.from_expr(relay.nn.dense(x, w))
    weight = np.arange(6, dtype="float32").reshape(3, 2)
    run = relay.create_executor("debug", module, params={"w": weight, "unused": weight})
    assert run.evaluate()(floats(1, 1)[None]).numpy().tolist() == [[1, 5, 9]]
    assert len(module["main"].params) == 2


def test_parameters_by_name() -> None:
    function = pair()
    bound = relay.build_module.bind_params_by_name(function, {"y": floats(1, 2)})
    assert [p.name_hint for p in bound.params] == ["x"]
    assert debug.evaluate(bound)(floats(1, 2))[0].numpy().tolist() == [2, 4]
    twins = relay.Function([relay.var("x", "int32"), relay.var("x", "int32")], relay.const(1))
    with raises(snapshot("RelayError: error: the function has 2 parameters called `%x`")):
        relay.build_module.bind_params_by_name(twins, {"x": 1})


@pytest.mark.parametrize("kind", ["graph", "aot"])
def test_without_a_compiler_others_run_the_interpreter_and_say_so_once(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executor, "_announced", set())
    monkeypatch.setattr(executor, "_missing_compiler", lambda: "TVM is not installed")
    module = relay.IRModule.from_expr(pair())
    with pytest.warns(UserWarning, match=f'the executor "{kind}" cannot compile here, so it uses the inter'):
        run = relay.create_executor(kind, module)
    assert run.evaluate()(floats(1, 1), floats(1, 1))[0].numpy().tolist() == [2, 2]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        relay.create_executor(kind, module)


def test_what_cannot_be_run() -> None:
    with raises(
        snapshot("""\
RelayError:
error: there is no executor called 'jit'
help: there are 'debug', 'graph', 'vm', 'aot'\
""")
    ):
        relay.create_executor("jit")
    with raises(snapshot("ModuleError: error: the module has no function `@main`")):
        debug.evaluate()
    with raises(
        snapshot("""\
RelayError:
error: a str cannot be an argument of a Relay function
help: tensors are NumPy arrays, NDArrays or numbers; tuples are tuples of them\
""")
    ):
        debug.evaluate(pair())("one", "two")


def test_numbers_take_the_element_types_of_parameters() -> None:
    module = relay.fromtext(
        """
#[version = "0.0.5"]
def @main(%n: int64, %p: (float32, (uint8, bool)), %k: int32) {
  (%n, %p.0, %p.1.0, %p.1.1, %k)
}
"""
    )
    call = relay.create_executor(mod=module).evaluate()
    result = call(3, (4, [5, True]), k=6)
    assert [(v.dtype, v.numpy().item()) for v in result] == [
        ("int64", 3), ("float32", 4.0), ("uint8", 5), ("bool", True), ("int32", 6),
    ]  # fmt: skip


@pytest.mark.parametrize("wrong", [300, -1, 2.5])
def test_a_number_that_its_parameter_cannot_hold_is_refused(wrong: float) -> None:
    call = relay.create_executor(
        mod=relay.fromtext('#[version = "0.0.5"]\ndef @main(%n: uint8) { %n }')
    ).evaluate()
    with pytest.raises(TypeInferenceError, match="must be `uint8`"):
        call(wrong)


def test_a_type_that_nobody_asks_for_may_stay_unknown(lists: Any) -> None:
    prelude, run, _, cons, nil = lists
    assert repr(run.evaluate(nil())) == "Nil"
    pairs = run.evaluate(prelude.zip(cons(relay.const(1), nil()), cons(nil(), nil())))
    assert repr(pairs) == "Cons((1, Nil), Nil)"
    x = relay.var("x")
    same = relay.Function([x], x)
    assert repr(run.evaluate(same(nil()))) == "Nil"
    with raises(
        snapshot("""\
TypeInferenceError:
error: the program does not say enough: the type of the call of `Nil` cannot be found
note: `Nil` has type `List[_]`
help: annotate a parameter or a `let` that it depends on\
""")
    ):
        relay.transform.InferType()(relay.IRModule.from_expr(nil(), {}, prelude.mod.type_definitions))
    with raises(
        snapshot(
            "TypeInferenceError:\n"
            "error: the program does not say enough: `add` cannot be typed, since 2 of its argument "
            "types are not known\n"
            "help: give `%x` a type: `%x: Tensor[(…), float32]`"
        )
    ):
        run.evaluate(prelude.map(relay.Function([x], relay.add(x, x)), nil()))


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (2**31, "is an integer of 32 bits, too large for an int32"),
        (10**400, "is an integer of 1329 bits, too large for an int32"),
        (-1e300, "is -1.0e+300, too large for a float32"),
    ],
)
def test_numbers_that_are_too_large(number: float, message: str) -> None:
    with pytest.raises(RelayError) as caught:
        to_value(number)
    assert str(caught.value) == (
        f"error: an argument {message}\nhelp: a NumPy scalar has a type of its own: numpy.int64(…)"
    )


@pytest.mark.parametrize("number", [-(2**31), 2**31 - 1, 3.4028234e38, float("inf"), True])
def test_numbers_that_just_fit(number: float) -> None:
    assert to_value(number) == number or isinstance(number, float)
    assert bool(np.isfinite(to_value(number))) == bool(np.isfinite(number))
