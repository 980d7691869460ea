"""Which global functions name which."""

from __future__ import annotations

import pytest
from inline_snapshot import snapshot

from relay_explorer import relay
from relay_explorer.analysis import CallGraph
from relay_explorer.ir import ModuleError

PROGRAM = """
def @main(%n: int32) { (@even(%n), @even(1), @sum(%n), fn () { @leaf() }) }
def @even(%n: int32) -> bool { if (equal(%n, 0)) { True } else { @odd(subtract(%n, 1)) } }
def @odd(%n: int32) -> bool { if (equal(%n, 0)) { False } else { @even(subtract(%n, 1)) } }
def @sum(%n: int32) -> int32 { if (equal(%n, 0)) { 0 } else { add(%n, @sum(subtract(%n, 1))) } }
def @leaf() { 1 }
"""
GRAPH = CallGraph(relay.parse(PROGRAM))


def names(result: list[relay.GlobalVar]) -> list[str]:
    return [var.name_hint for var in result]


def test_edges() -> None:
    assert names(GRAPH.callees("main")) == ["even", "sum", "leaf"]
    assert names(GRAPH.callers("even")) == ["main", "odd"]
    assert names(list(GRAPH)) == ["main", "even", "odd", "sum", "leaf"]


def test_counts() -> None:
    counts = {v.name_hint: (GRAPH.ref_count(v), GRAPH.global_call_count(v.name_hint)) for v in GRAPH}
    assert counts == {"main": (0, 3), "even": (2, 1), "odd": (1, 1), "sum": (2, 1), "leaf": (1, 0)}


def test_recursion_is_of_a_function_with_itself() -> None:
    assert [v.name_hint for v in GRAPH if GRAPH.is_recursive(v)] == ["sum"]


def test_text() -> None:
    assert GRAPH.print_var("sum") == snapshot(
        "Call graph node for function: 'sum' #refs = 2\n  names 'sum' (#refs = 2)"
    )
    assert str(GRAPH).count("Call graph node") == 5


def test_what_there_is_not() -> None:
    with pytest.raises(ModuleError, match="no function `@mean`"):
        GRAPH.ref_count("mean")
    with pytest.raises(TypeError, match="needs a module, not a Function"):
        CallGraph(relay.Function([], relay.const(1)))  # type: ignore[arg-type]  # refused
    with pytest.raises(ModuleError, match="no function `@gone`"):
        CallGraph(relay.IRModule.from_expr(relay.Function([], relay.GlobalVar("gone")())))
