"""The explorers draw what the reader's own compiler does."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import MutableMapping
from typing import Any

import pytest
from pocket import events, fusion, ir
from pocket.scopes import map_children, post_order
from pocket.solver import relation
from pocket.types import TypeVariable

from relay_explorer import explore, models, relay
from relay_explorer.typing import record
from relay_explorer.typing.events import Bound, Ended, InferenceEvent, Merged, Moved, Queued, Refused, Started
from relay_explorer.typing.history import History
from relay_explorer.views.fusion.view import fusion_view
from relay_explorer.views.types.view import types_view

NAMED = """
def @main(%x: Tensor[(3, 4), float32]) {
  let %f = fn (%a) { add(tanh(%a), %a) };
  %f(exp(%x))
}
"""


def relations(events: list[InferenceEvent]) -> list[str]:
    """Return what happens to relations, by their operators."""
    kinds = (Queued, Started, Ended, Moved)
    return [f"{type(e).__name__} {e.relation.relation.name}" for e in events if isinstance(e, kinds)]


def test_the_readers_solver_is_drawn() -> None:
    module = relay.parse(NAMED)
    inference = events.record_types(module)
    assert inference.succeeded
    view = types_view(inference)
    said = [" ".join(step.say) for step in view.steps]
    assert "well typed" in said[-1]
    assert any("cannot be solved yet" in text for text in said)
    assert "3 relations" in repr(explore(inference, view="types", name="mine"))
    chain = History(inference.events).chain(module["main"].body, 6)
    assert [link.expr for link in chain if link.expr][-1] is module["main"].params[0]


class Forest:
    """A solver that shares nothing with the book's but the names of its methods: a union-find forest with
    other dictionaries, and a queue.
    """

    def __init__(self, module: Any) -> None:
        self.module, self.current = module, None
        self.types: MutableMapping[Any, Any] = {}
        self.constraints: list[Any] = []
        self.parent: dict[Any, Any] = {}

    @property
    def relations(self) -> list[Any]:
        return self.constraints

    def fresh(self) -> Any:
        var = TypeVariable(f"t{len(self.types)}")
        self.parent[var] = None
        return var

    def resolve(self, type_: Any) -> Any:
        while self.parent.get(type_) is not None:
            type_ = self.parent[type_]
        return map_children(type_, self.resolve)

    def unify(self, a: Any, b: Any) -> None:
        pending = [(a, b)]
        while pending:
            a, b = map(self.resolve, pending.pop())
            if a is not b and a in self.parent:
                self.parent[a] = b
            elif a is not b and b in self.parent:
                self.parent[b] = a
            elif ir.children(a) and type(a) is type(b):
                pending += zip(ir.children(a), ir.children(b))
            elif a != b:
                raise TypeError(f"{a} and {b} differ")

    def equate(self, rule: str, expr: Any, a: Any, b: Any) -> None:
        self.current = expr
        self.unify(a, b)

    def relate(self, expr: Any, *operands: Any) -> Any:
        self.constraints.append((expr, operands))
        return self.fresh()

    def run(self, expr: Any, operands: Any) -> bool:
        self.current = expr
        result = relation(expr, [self.resolve(type_) for type_ in operands])
        if result is not None:
            self.unify(self.types[expr], result)
        return result is not None

    def solve(self) -> None:
        waited = 0
        while self.constraints and waited <= len(self.constraints):
            constraint = self.constraints.pop(0)
            waited = 0 if self.run(*constraint) else waited + 1
            self.constraints += [constraint] * bool(waited)


class Hidden(Forest):
    """Like it, but it calls none of its own methods, and keeps the types elsewhere."""

    def __init__(self, module: Any) -> None:
        super().__init__(module)
        self.types = ChainMap()

    def solve(self) -> None:
        sweeps = range(len(self.constraints))
        for _ in sweeps:
            self.constraints = [c for c in self.constraints if not Forest.run(self, *c)]


def bindings(inference: Any) -> dict[int, str]:
    """Return what each variable is equal to in the end, which its events have to say."""
    merged = {e.loser: e.winner for e in inference.events if isinstance(e, Merged)}
    bound = {e.root: str(e.type) for e in inference.events if isinstance(e, Bound)}
    known = dict(bound)
    for variable in merged:
        root = variable
        while root in merged:
            root = merged[root]
        known[variable] = bound[root]
    return known


@pytest.mark.parametrize("solver", [Forest, Hidden])
def test_another_solver_is_drawn(solver: type, monkeypatch: pytest.MonkeyPatch) -> None:
    module = relay.parse(NAMED)
    expected = bindings(events.record_types(module))
    monkeypatch.setattr("pocket.solver.Solver", solver)
    inference = events.record_types(module)
    assert inference.succeeded
    found = bindings(inference)
    assert found.keys() == expected.keys()
    assert set(found.values()) >= {"Tensor[(3, 4), float32]"}
    ended = [e.done for e in inference.events if isinstance(e, Ended)]
    assert sum(ended) == sum(isinstance(e, Queued) for e in inference.events) == 3
    said = [" ".join(step.say) for step in types_view(inference).steps]
    assert "well typed" in said[-1]
    assert any("is called, so it must be a function" in text for text in said)


def test_a_solver_with_other_names_of_rules_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pocket.events.TYPING_RULES", set())  # so none of the solver's is among them
    said = [" ".join(s.say) for s in types_view(events.record_types(relay.parse(NAMED))).steps]
    assert any("is called, so it must be a function" in text for text in said)


def test_an_error_outside_of_relations_is_drawn() -> None:
    inference = events.record_types(relay.parse("def @main(%x) { exp(%x) }"))
    assert isinstance(inference.events[-1], Refused)
    conflict = types_view(inference).conflict
    assert conflict is not None
    assert "too little is known" in str(conflict)


@pytest.mark.parametrize("name", ["lenet", "lstm", "tree_lstm", "resnet50"])
def test_asks_the_same_relations_as_the_package(name: str) -> None:
    module = models.load(name)
    mine = relations(events.record_types(module).events)
    theirs = relations(record(module).events)
    assert sum(e.startswith("Started") for e in mine) >= sum(e.startswith("Queued") for e in mine)
    assert {e for e in theirs if e.startswith("Queued")} <= {e for e in mine if e.startswith("Queued")}
    assert types_view(events.record_types(module)).conflict is None


@pytest.mark.parametrize(
    "text",
    [
        "def @main(%x: Tensor[(1, 784), float32], %w: Tensor[(784, 256), float32]) { nn.dense(%x, %w) }",
        "def @main(%x: bool) { if (%x) { 1 } else { 2f } }",
    ],
)
def test_a_refusal_is_drawn(text: str) -> None:
    inference = events.record_types(relay.parse(text))
    assert not inference.succeeded
    assert isinstance(inference.events[-1], Refused)
    assert types_view(inference).conflict is not None


DIAMOND = """
def @main(%x: Tensor[(1, 16, 32, 32), float32], %w: Tensor[(32, 16, 3, 3), float32]) {
  %0 = nn.conv2d(%x, %w, padding=[1, 1, 1, 1]);
  %1 = nn.relu(%0);
  %2 = tanh(%0);
  %3 = exp(%1);
  %4 = add(%3, %2);
  %5 = mean(%4, axis=[1]);
  sqrt(%5)
}
"""


def test_the_readers_fuser_is_drawn() -> None:
    module = relay.parse(DIAMOND)
    (mine,) = fusion_view(module, own=events.record_fusion(module).partition).functions
    (theirs,) = fusion_view(module).functions
    assert "3 kernels" in repr(explore(events.record_fusion(module), name="mine"))
    assert [variant.name for variant in mine.variants] == ["your fuser", "no fusion"]
    assert mine.variants[0].kernels == theirs.variants[0].kernels
    assert mine.variants[0].dominators == theirs.variants[0].dominators
    assert [step.say for step in mine.variants[0].steps] == [step.say for step in theirs.variants[0].steps]


@pytest.mark.parametrize("name", ["lenet", "lstm", "tree_lstm"])
def test_the_readers_fuser_is_drawn_for_models(name: str) -> None:
    fusion = events.record_fusion(models.load(name))
    functions = fusion_view(fusion.module, own=fusion.partition).functions
    assert all(function.variants[0].steps[-1].say for function in functions)


def test_another_rule_is_drawn() -> None:
    module = relay.parse(DIAMOND)
    fusion = events.record_fusion(module, lambda node, phase, flow: False)
    view = fusion_view(module, own=fusion.partition)
    assert len(view.functions[0].variants[0].kernels) == 7


class Numbered(fusion.Flow):  # type: ignore[misc]  # `pocket` has no types
    """The data flow without the dictionary of numbers."""

    def __init__(self, function: Any, types: Any) -> None:
        super().__init__(function, types)
        assert self.exprs == list(post_order(function))
        del self.number


def silent_group(flow: Any, rule: Any = fusion.may_fuse) -> None:
    """Group without emitting any event."""
    for phase in (1, 2, 3):
        for node in range(len(flow.exprs) - 1):
            end = flow.post_dominator(node)
            if end is None or flow.roots[node] == flow.roots[end] or flow.pattern(node) == fusion.OPAQUE:
                continue
            if rule(node, phase, flow):
                flow.merge({node} | fusion.paths(node, flow)[0], end)


def test_another_fuser_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    module = relay.parse(DIAMOND)
    (theirs,) = fusion_view(module).functions
    monkeypatch.setattr(fusion, "Flow", Numbered)
    monkeypatch.setattr(fusion, "group", silent_group)
    (mine,) = fusion_view(module, own=events.record_fusion(module).partition).functions
    assert mine.variants[0].kernels == theirs.variants[0].kernels
    assert [step.say for step in mine.variants[0].steps] == [step.say for step in theirs.variants[0].steps]
