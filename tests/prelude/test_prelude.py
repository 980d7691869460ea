"""The prelude against plain Python, on random lists and trees."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from itertools import accumulate
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relay_explorer.execute import Closure, ConstructorValue, ExecutionError, Interpreter
from relay_explorer.ir import IRModule, ModuleError
from relay_explorer.ir.equal import assert_structural_equal
from relay_explorer.prelude import Prelude, library
from relay_explorer.text import parse
from relay_explorer.transform import InferType

PROGRAM = """
def @twice(%x: int32) -> int32 { multiply(%x, 2) }
def @less(%a: int32, %b: int32) -> int32 { subtract(%a, %b) }
def @step(%acc: int32, %x: int32) -> (int32, int32) { (add(%acc, %x), subtract(%acc, %x)) }
def @down(%n: int32) -> Option[(int32, int32)] {
  if (less_equal(%n, 0)) { None } else { Some((subtract(%n, 1), multiply(%n, %n))) }
}
def @t_compose(%x: int32) { @compose(@twice, fn (%y: int32) { add(%y, 1) })(%x) }
def @t_flip(%x: int32) { @flip(@less)(%x, 10) }
def @t_iterate(%n: int32) { @iterate(@twice, %n)(1) }
def @t_map(%xs: List[int32]) { @map(@twice, %xs) }
def @t_foldl(%xs: List[int32]) { @foldl(@less, 100, %xs) }
def @t_foldr(%xs: List[int32]) { @foldr(@less, 100, %xs) }
def @t_foldr1(%xs: List[int32]) { @foldr1(@less, %xs) }
def @t_filter(%xs: List[int32]) { @filter(fn (%x: int32) { less(%x, 0) }, %xs) }
def @t_map_accuml(%xs: List[int32]) { @map_accuml(@step, 7, %xs) }
def @t_map_accumr(%xs: List[int32]) { @map_accumr(@step, 7, %xs) }
def @t_unfoldr(%n: int32) { @unfoldr(@down, %n) }
def @t_unfoldl(%n: int32) { @unfoldl(@down, %n) }
def @t_tmap(%t: Tree[int32]) { @tmap(@twice, %t) }
def @t_ids(%xs: List[int32]) { @map(@id, %xs) }
def @t_nat_iterate(%n: nat) { @nat_iterate(@twice, %n)(1) }
"""


def _module() -> IRModule:
    module = Prelude().mod
    module.import_from_std("nat.rly")
    return InferType()(parse(PROGRAM, init_module=module))


MODULE = _module()
CONSTRUCTORS = {c.name_hint: c for c in MODULE.constructors()}
Tree = tuple[int, list[Any]]

ints = st.integers(-50, 50)
lists = st.lists(ints, max_size=8)
trees: st.SearchStrategy[Any] = st.recursive(
    ints.map(lambda x: (x, [])), lambda sub: st.tuples(ints, st.lists(sub, max_size=3)), max_leaves=10
)


def made(name: str, *fields: object) -> ConstructorValue:
    return ConstructorValue(CONSTRUCTORS[name], fields)


def of_list(values: list[Any], element: Callable[[Any], object] = lambda x: np.array(x, "int32")) -> Any:
    return reduce(lambda rest, x: made("Cons", element(x), rest), reversed(values), made("Nil"))


def of_tree(tree: Tree) -> ConstructorValue:
    return made("Rose", np.array(tree[0], "int32"), of_list(tree[1], of_tree))


def of_nat(number: int) -> ConstructorValue:
    return reduce(lambda n, _: made("S", n), range(number), made("Z"))


def plain(value: Any) -> Any:
    """Convert lists, trees, tuples and numbers to Python's."""
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    if not isinstance(value, ConstructorValue):
        return int(value)
    name = value.constructor.name_hint
    if name == "Rose":
        return plain(value.fields[0]), plain(value.fields[1])
    if name in ("S", "Z"):
        return 1 + plain(value.fields[0]) if name == "S" else 0
    result = []
    while value.fields:
        result.append(plain(value.fields[0]))
        value = value.fields[1]
    return result


def run(function: str, *args: Any) -> Any:
    values = [a if isinstance(a, (ConstructorValue, Closure)) else np.array(a, "int32") for a in args]
    return plain(Interpreter(MODULE).call(function, values))


def flat(tree: Tree) -> list[int]:
    return [tree[0], *(x for sub in tree[1] for x in flat(sub))]


def doubled(tree: Tree) -> Tree:
    return 2 * tree[0], [doubled(sub) for sub in tree[1]]


@settings(max_examples=40, deadline=None)
@given(lists)
def test_functions_of_a_list(xs: list[int]) -> None:
    value = of_list(xs)
    assert run("t_map", value) == [2 * x for x in xs]
    assert run("t_ids", value) == xs
    assert run("t_filter", value) == [x for x in xs if x < 0]
    assert run("rev", value) == xs[::-1]
    assert run("sum", value) == sum(xs)
    assert run("length", value) == len(xs)


@settings(max_examples=40, deadline=None)
@given(lists)
def test_folds(xs: list[int]) -> None:
    value = of_list(xs)
    assert run("t_foldl", value) == reduce(lambda a, b: a - b, xs, 100)
    assert run("t_foldr", value) == reduce(lambda b, a: a - b, reversed(xs), 100)
    if xs:
        assert run("t_foldr1", value) == reduce(lambda b, a: a - b, reversed(xs))


@settings(max_examples=40, deadline=None)
@given(lists)
def test_maps_that_carry_a_value(xs: list[int]) -> None:
    left = list(accumulate(xs, initial=7))
    assert run("t_map_accuml", of_list(xs)) == (left[-1], [a - x for a, x in zip(left, xs)][::-1])
    right = list(accumulate(reversed(xs), initial=7))
    assert run("t_map_accumr", of_list(xs)) == (right[-1], [a - x for a, x in zip(right, xs[::-1])][::-1])


@settings(max_examples=40, deadline=None)
@given(lists, lists)
def test_functions_of_two_lists(xs: list[int], ys: list[int]) -> None:
    assert run("concat", of_list(xs), of_list(ys)) == xs + ys
    assert run("zip", of_list(xs), of_list(ys)) == list(zip(xs, ys))


@settings(max_examples=40, deadline=None)
@given(st.lists(ints, min_size=1, max_size=8), st.data(), ints)
def test_elements(xs: list[int], data: st.DataObject, new: int) -> None:
    index = data.draw(st.integers(0, len(xs) - 1))
    assert run("hd", of_list(xs)) == xs[0]
    assert run("tl", of_list(xs)) == xs[1:]
    assert run("nth", of_list(xs), index) == xs[index]
    assert run("update", of_list(xs), index, new) == [*xs[:index], new, *xs[index + 1 :]]


@settings(max_examples=40, deadline=None)
@given(trees)
def test_functions_of_a_tree(tree: Tree) -> None:
    assert run("t_tmap", of_tree(tree)) == doubled(tree)
    assert run("size", of_tree(tree)) == len(flat(tree))


@pytest.mark.parametrize("n", [-1, 0, 1, 4])
def test_functions_of_a_number(n: int) -> None:
    squares = [k * k for k in range(n, 0, -1)]
    assert run("t_unfoldr", n) == squares
    assert run("t_unfoldl", n) == squares[::-1]
    assert run("t_iterate", n) == 2 ** max(n, 0)
    assert run("id", n) == n
    assert run("t_compose", n) == 2 * (n + 1)
    assert run("t_flip", n) == 10 - n


@pytest.mark.parametrize("m", range(4))
def test_natural_numbers(m: int) -> None:
    assert run("nat_double", of_nat(m)) == 2 * m
    assert [run("nat_add", of_nat(m), of_nat(k)) for k in range(3)] == [m, m + 1, m + 2]
    assert run("t_nat_iterate", of_nat(m)) == 2**m


def test_a_fold_from_the_left_is_a_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relay_explorer.execute.interpreter.MAX_STACK_DEPTH", 3)
    assert run("sum", of_list(list(range(2_000)))) == 1_999_000


@pytest.mark.parametrize("function", ["hd", "tl", "t_foldr1"])
def test_an_empty_list_has_no_elements(function: str) -> None:
    with pytest.raises(ExecutionError, match=r"prelude\.rly:\d+:\d+: error: no clause matches Nil"):
        run(function, made("Nil"))


def test_a_library_round_trips() -> None:
    for name in ("prelude.rly", "nat.rly"):
        again = InferType()(parse(library(name).astext()))
        assert_structural_equal(again, library(name))


class TestPreludeObject:
    def test_it_fills_the_module_it_is_given(self) -> None:
        module = IRModule()
        prelude = Prelude(module)
        assert prelude.mod is module
        assert prelude.map is module.get_global_var("map")  # set when made
        assert prelude.get_global_var("foldl") is module.get_global_var("foldl")
        assert prelude.get_type("List") == module.get_global_type_var("List")
        assert prelude.get_ctor("Option", "Some") is module.get_type("Option")[1]

    def test_importing_twice_adds_nothing(self) -> None:
        module = Prelude().mod
        before = str(module)
        Prelude(module)
        assert str(module) == before
        typed = InferType()(module)
        Prelude(typed)
        assert typed.get_global_vars() == module.get_global_vars()

    def test_a_module_of_ones_own_is_not_changed_by_another(self) -> None:
        first = Prelude().mod
        del first["map"]
        assert "map" in Prelude().mod

    def test_a_name_that_is_taken(self) -> None:
        module = parse("def @sum(%x: int32) { %x }")
        with pytest.raises(
            ModuleError, match=r"both the module and `prelude\.rly` define the function `@sum`"
        ):
            Prelude(module)
        assert not module.type_definitions
        with pytest.raises(ModuleError, match=r"both the module and `prelude\.rly` define the type `List`"):
            Prelude(parse("type List[A] { Nil }"))

    def test_what_there_is_not(self) -> None:
        with pytest.raises(ModuleError, match=r"there is no library `stdlib\.rly`\nhelp: there are"):
            IRModule().import_from_std("stdlib.rly")
        with pytest.raises(ModuleError, match="no constructor `Snoc`\nhelp: it has `Cons`, `Nil`"):
            Prelude().get_ctor("List", "Snoc")
        with pytest.raises(ModuleError, match="no function `@read_int8`"):
            Prelude().get_global_var("read", "int8")
