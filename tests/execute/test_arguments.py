"""Trees, lists and cells from outside are looked at before a program runs, and what is wrong is named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from inline_snapshot import snapshot
from inline_snapshot.extra import raises

from relay_explorer import relay
from relay_explorer.execute import ExecutionError, Interpreter, make_list
from relay_explorer.execute.values import ConstructorValue as Inner
from relay_explorer.ir import RelayError
from relay_explorer.ir.narrow import as_function

PROGRAM = """
type T { Leaf(Tensor[(2), float32]), Node(T, T) }
type Cell { Linked(Ref[Cell]), End }
def @main(%t: T) -> int32 { 1 }
def @left(%t: T) -> T { match? (%t) { Node(%a, _) => { %a } } }
def @both(%p: (T, int32)) -> int32 { %p.1 }
def @nested(%l: List[(int32, List[float32])]) -> int32 { 1 }
def @generic[A](%l: List[A]) -> int32 { 1 }
def @cell(%r: Ref[T]) -> int32 { 1 }
def @linked(%c: Cell) -> int32 { 1 }
def @apply(%l: List[fn (int32) -> int32]) -> int32 { 1 }
def @open(%l: List[Tensor[(?, 2), float32]]) -> int32 { 1 }
"""
MODULE = relay.parse(PROGRAM, "trees.relay", init_module=relay.prelude.Prelude().mod)
run = relay.create_executor(mod=MODULE)
_, LEAF, NODE = MODULE.get_type("T")
_, LINKED, END = MODULE.get_type("Cell")
PAIR = np.ones(2, "float32")


def made(constructor: Any, *fields: Any) -> Any:
    return relay.backend.interpreter.ConstructorValue(constructor.tag, fields, constructor)


def call(name: str, value: Any) -> Any:
    return run.evaluate(MODULE.get_global_var(name))(value)


def refusal(name: str, value: Any) -> str:
    with pytest.raises(RelayError) as caught:
        call(name, value)
    return str(caught.value)


def numbers(*values: float) -> Any:
    return make_list(MODULE, [np.float32(v) for v in values])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("main", made(NODE, made(LEAF, PAIR), made(NODE, made(LEAF, PAIR), made(LEAF, PAIR)))),
        ("both", (made(LEAF, PAIR), 1)),
        ("nested", make_list(MODULE, [(1, numbers(1, 2)), (2, numbers())])),
        ("generic", numbers(1, 2)),
        ("generic", make_list(MODULE, [made(LEAF, PAIR)])),
        ("cell", relay.backend.interpreter.RefValue(made(LEAF, PAIR))),
        ("apply", make_list(MODULE, [run.evaluate(relay.parse_expr("fn (%x: int32) { %x }"))])),
        ("open", make_list(MODULE, [np.ones((1, 2), "float32"), np.ones((5, 2), "float32")])),
    ],
)
def test_what_is_right(name: str, value: Any) -> None:
    assert call(name, value).numpy() == 1


def test_the_part_that_is_wrong_is_named() -> None:
    tree = made(NODE, made(LEAF, PAIR), made(NODE, made(LEAF, np.ones(3, "float32")), made(LEAF, PAIR)))
    assert refusal("main", tree) == (
        "trees.relay:4:11: error: a part of the argument `%t` must be `Tensor[(2), float32]`, "
        "but is `Tensor[(3), float32]`\n"
        "   4 | def @main(%t: T) -> int32 { 1 }\n"
        "     |           ^^^^^\n"
        "note: it is field 0 of `Leaf`, in field 0 of `Node`, in field 1 of `Node`"
    )


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        (
            "main",
            numbers(1),
            snapshot("""\
trees.relay:4:11: error: the argument `%t` must be `T`, but is `Cons`, of the type `List`
   4 | def @main(%t: T) -> int32 { 1 }
     |           ^^^^^\
"""),
        ),
        (
            "main",
            (1, 2),
            snapshot("""\
trees.relay:4:11: error: the argument `%t` must be `T`, but is a tuple of 2 fields
   4 | def @main(%t: T) -> int32 { 1 }
     |           ^^^^^\
"""),
        ),
        (
            "main",
            made(NODE, 1.0, made(LEAF, PAIR)),
            snapshot("""\
trees.relay:4:11: error: a part of the argument `%t` must be `T`, but is `float32`
   4 | def @main(%t: T) -> int32 { 1 }
     |           ^^^^^
note: it is field 0 of `Node`\
"""),
        ),
        (
            "both",
            made(LEAF, PAIR),
            snapshot(
                "trees.relay:6:11: error: the argument `%p` must be `(T, int32)`, but is `Leaf`, of the "
                "type `T`\n"
                "   6 | def @both(%p: (T, int32)) -> int32 { %p.1 }\n"
                "     |           ^^^^^^^^^^^^^^"
            ),
        ),
        (
            "nested",
            make_list(MODULE, [(1, make_list(MODULE, [2]))]),
            snapshot("""\
trees.relay:7:13: error: a part of the argument `%l` must be `float32`, but is `int32`
   7 | def @nested(%l: List[(int32, List[float32])]) -> int32 { 1 }
     |             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
note: it is field 0 of `Cons`, in field 1 of a tuple, in field 0 of `Cons`\
"""),
        ),
        (
            "cell",
            made(LEAF, PAIR),
            snapshot(
                "trees.relay:9:11: error: the argument `%r` must be `ref(T)`, but is `Leaf`, of the type "
                "`T`\n"
                "   9 | def @cell(%r: Ref[T]) -> int32 { 1 }\n"
                "     |           ^^^^^^^^^^"
            ),
        ),
        (
            "cell",
            relay.backend.interpreter.RefValue(1),
            snapshot("""\
trees.relay:9:11: error: a part of the argument `%r` must be `T`, but is `int32`
   9 | def @cell(%r: Ref[T]) -> int32 { 1 }
     |           ^^^^^^^^^^
note: it is the content of a cell\
"""),
        ),
        (
            "apply",
            make_list(MODULE, [1]),
            snapshot(
                "trees.relay:11:12: error: a part of the argument `%l` must be `fn (int32) -> int32`, but "
                "is `int32`\n"
                "  11 | def @apply(%l: List[fn (int32) -> int32]) -> int32 { 1 }\n"
                "     |            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
                "note: it is field 0 of `Cons`"
            ),
        ),
        (
            "open",
            make_list(MODULE, [np.ones((2, 3), "float32")]),
            snapshot(
                "trees.relay:12:11: error: a part of the argument `%l` must be `Tensor[(?, 2), float32]`, "
                "but is `Tensor[(2, 3), float32]`\n"
                "  12 | def @open(%l: List[Tensor[(?, 2), float32]]) -> int32 { 1 }\n"
                "     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
                "note: it is field 0 of `Cons`"
            ),
        ),
        (
            "generic",
            made(LEAF, PAIR),
            snapshot(
                "trees.relay:8:17: error: the argument `%l` must be `List[A]`, but is `Leaf`, of the type "
                "`T`\n"
                "   8 | def @generic[A](%l: List[A]) -> int32 { 1 }\n"
                "     |                 ^^^^^^^^^^^"
            ),
        ),
    ],
)
def test_what_is_wrong(name: str, value: Any, message: str) -> None:
    assert refusal(name, value) == message


@pytest.mark.parametrize("name", ["main", "cell", "nested"])
def test_nothing(name: str) -> None:
    """A tree that was never made."""
    assert refusal(name, None) == snapshot(
        "error: a NoneType cannot be an argument of a Relay function\n"
        "help: None is not a value: an empty list is `Nil`, and an optional value needs a constructor"
    )


def test_a_node_without_its_halves() -> None:
    for fields in ((), (made(LEAF, PAIR),), (made(LEAF, PAIR),) * 3):
        with pytest.raises(RelayError) as caught:
            made(NODE, *fields)
        assert str(caught.value) == (
            f"error: `Node` expects 2 fields, got {len(fields)}\nhelp: it is declared `Node(T, T)`"
        )
    with raises(
        snapshot(
            "RelayError:\n"
            "error: a NoneType cannot be an argument of a Relay function\n"
            "help: None is not a value: an empty list is `Nil`, and an optional value needs a constructor"
        )
    ):
        made(NODE, None, None)


def test_data_a_hundred_thousand_deep_are_looked_at() -> None:
    good = make_list(MODULE, range(100_000))
    assert call("generic", good).numpy() == 1
    bad = make_list(MODULE, [(0, numbers())] * 100_000 + [0])
    note = refusal("nested", bad).splitlines()[-1]
    assert note == snapshot(
        "note: it is field 0 of `Cons`, in field 1 of `Cons`, in field 1 of `Cons`, in field 1 of "
        "`Cons`, in field 1 of `Cons`, in field 1 of `Cons`, in 99,995 more"
    )
    assert note.endswith(", in 99,995 more")


def test_a_shared_part_is_looked_at_once() -> None:
    """If it were at each use, this would take 2 to the power of 60 looks."""
    tree = made(LEAF, PAIR)
    for _ in range(60):
        tree = made(NODE, tree, tree)
    assert call("main", tree).numpy() == 1


def test_a_cell_that_leads_back_to_itself() -> None:
    cell = relay.backend.interpreter.RefValue(made(END))
    cell.value = made(LINKED, cell)
    assert call("linked", made(LINKED, cell)).numpy() == 1
    assert repr(cell).count("Linked") == 100
    cell.value = 1
    assert refusal("linked", made(LINKED, cell)) == snapshot("""\
trees.relay:10:13: error: a part of the argument `%c` must be `Cell`, but is `int32`
  10 | def @linked(%c: Cell) -> int32 { 1 }
     |             ^^^^^^^^
note: it is the content of a cell, in field 0 of `Linked`\
""")


def test_a_match_that_nothing_fits_says_which_case_it_lacks() -> None:
    with pytest.raises(ExecutionError) as caught:
        call("left", made(LEAF, PAIR))
    assert str(caught.value) == (
        "trees.relay:5:25: error: no clause matches Leaf([1.0, 1.0])\n"
        "   5 | def @left(%t: T) -> T { match? (%t) { Node(%a, _) => { %a } } }\n"
        "     |                         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
        "note: the match has clauses for `Node(_, _)`\n"
        "help: add a clause for `Leaf(_)`, or for `_`, which matches any value"
    )


@pytest.mark.parametrize("value", [None, "a tree", Inner(LEAF, [None])])
def test_the_interpreter_alone_is_given_nonsense(value: Any) -> None:
    """It does not look at its arguments; it still says where it went wrong."""
    program = "def @main(%t: T) { match (%t) { Leaf(%x) => { %x }, Node(%a, _) => { @main(%a) } } }"
    module = relay.parse("type T { Leaf(Tensor[(2), float32]), Node(T, T) }\n" + program)
    with pytest.raises(ExecutionError):
        Interpreter(module).evaluate(
            relay.nn.relu(relay.Call(module.get_global_var("main"), [x])), {x: value}
        )


x = relay.var("x")


def test_an_ill_typed_program_says_where() -> None:
    function = relay.parse_expr("fn (%x: int32) { add(%x.1, 1) }")
    with pytest.raises(ExecutionError) as caught:
        Interpreter().call(as_function(function), [np.array(1, "int32")])
    assert str(caught.value) == snapshot(
        "from_string:1:22: error: a value is not what the program expects here: too many indices "
        "for array: array is 0-dimensional, but 1 were indexed\n"
        "   1 | fn (%x: int32) { add(%x.1, 1) }\n"
        "     |                      ^^^^\n"
        "help: infer types first; an executor does so, and checks the arguments too"
    )
