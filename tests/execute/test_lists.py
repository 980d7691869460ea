"""Python sequences go in as lists, and come back."""

from __future__ import annotations

import numpy as np
import pytest
from inline_snapshot import snapshot

from relay_explorer import relay
from relay_explorer.execute import list_items, make_list
from relay_explorer.ir import ModuleError, RelayError
from relay_explorer.ir.narrow import as_constructor

MODULE = relay.prelude.Prelude().mod
run = relay.create_executor(mod=MODULE)


def test_there_and_back() -> None:
    value = make_list(MODULE, (k * k for k in range(4)))
    assert repr(value) == snapshot("Cons(0, Cons(1, Cons(4, Cons(9, Nil))))")
    reversed_ = run.evaluate(MODULE.get_global_var("rev"))(value)
    assert [int(item.numpy()) for item in list_items(reversed_)] == [9, 4, 1, 0]
    assert list_items(make_list(MODULE, [])) == []


def test_elements_of_any_kind() -> None:
    inner = make_list(MODULE, [np.ones(2, "float32")])
    ((first, second),) = list_items(make_list(MODULE, [(1, inner)]))
    assert (first.numpy(), list_items(second)[0].shape) == (1, (2,))


def test_a_hundred_thousand_elements() -> None:
    value = make_list(MODULE, range(100_000))
    assert int(run.evaluate(MODULE.get_global_var("length"))(value).numpy()) == 100_000
    assert int(list_items(value)[-1].numpy()) == 99_999


def test_what_is_no_list() -> None:
    _, rose = MODULE.get_type("Tree")
    tree = relay.backend.interpreter.ConstructorValue(
        as_constructor(rose).tag, [1, make_list(MODULE, [])], as_constructor(rose)
    )
    with pytest.raises(RelayError, match=r"Rose\(1, Nil\) is not a list\nhelp: a list is"):
        list_items(tree)
    with pytest.raises(ModuleError, match="List"):
        make_list(relay.IRModule(), [1])
