"""The explorers draw what the reader's own compiler does."""

from __future__ import annotations

import pytest
from pocket import events

from relay_explorer import explore, models, relay
from relay_explorer.typing import record
from relay_explorer.typing.events import Ended, InferenceEvent, Moved, Queued, Refused, Started
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
