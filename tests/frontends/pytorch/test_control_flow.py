"""Conditionals, loops and lists of TorchScript, for known and for dynamic shapes."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from relay_explorer import relay
from relay_explorer.frontends import from_pytorch
from relay_explorer.ir.errors import RelayError
from relay_explorer.ir.expr import If, Let
from relay_explorer.ir.walk import post_order
from tests.frontends.pytorch import programs
from tests.frontends.pytorch.helpers import infos, same, scripted

INPUTS = [
    torch.tensor([[0.5, -1.0, 2.0, 1.0], [1.5, 0.25, 0.5, 0.75], [0.1, 0.2, 0.3, 0.4]]),
    torch.tensor([[-0.5, -1.0, -2.0, 1.0], [-1.5, 0.25, 0.5, 0.75], [0.1, -0.2, 0.3, -0.4]]),
]


@pytest.mark.parametrize("program", programs.ALL, ids=lambda program: program.__name__)
def test_programs_with_control_flow(program: type[nn.Module]) -> None:
    module = scripted(program())
    for x in INPUTS:
        same(module, [x])


@pytest.mark.parametrize("program", programs.ALL, ids=lambda program: program.__name__)
def test_programs_with_control_flow_and_a_dynamic_axis(program: type[nn.Module]) -> None:
    module = scripted(program())
    same(module, [INPUTS[1]], [("x", ((relay.Any(), 4), "float32"))])


def _kinds(mod: Any) -> set[type]:
    return {type(node) for node in post_order(mod["main"])}


def test_a_known_condition_decides_what_is_imported() -> None:
    mod = same(scripted(programs.KnownCondition()), [INPUTS[0]])
    assert If not in _kinds(mod)


def test_a_loop_becomes_a_function_that_calls_itself() -> None:
    mod = same(scripted(programs.SumOfRows()), [INPUTS[0]])
    assert {Let, If} <= _kinds(mod)


def test_a_loop_with_known_numbers_only_is_computed_while_importing() -> None:
    mod = same(scripted(programs.NumbersOnly()), [INPUTS[0]])
    assert Let not in _kinds(mod)


def test_a_loop_may_change_a_tensor_that_is_used_after_it() -> None:
    same(scripted(programs.ChangedInALoop()), [INPUTS[0]])


def test_a_list_that_a_loop_fills_is_one_of_the_prelude() -> None:
    mod, _ = from_pytorch(scripted(programs.ReturnsList()), [("x", ((relay.Any(), 4), "float32"))])
    main = relay.transform.InferType()(mod)["main"]
    assert str(main.checked_type).endswith("-> List[Tensor[(4), float32]]")
    same(scripted(programs.ReturnsList()), [INPUTS[0]])


def test_an_input_may_be_a_tuple_or_a_list() -> None:
    class Nested(nn.Module):
        def forward(self, x: Tensor, states: tuple[Tensor, list[Tensor]]) -> Tensor:
            first, rest = states
            return x + first * rest[1] - rest[0]

    module = scripted(Nested())
    shape = (3, 4)
    mod, _ = from_pytorch(module, [("x", shape), ("states", (shape, [shape, shape]))])
    assert "List[Tensor[(3, 4), float32]]" in str(mod["main"].params[1].type_annotation)


def test_none_in_one_branch_is_refused_with_a_reason() -> None:
    with pytest.raises(RelayError, match=r"None in one case|a tensor in one case"):
        from_pytorch(scripted(programs.SometimesNone()), infos([INPUTS[0]]))


def test_an_alias_of_a_tensor_changed_in_a_branch_is_not_read_silently() -> None:
    with pytest.raises(RelayError, match="share its storage"):
        from_pytorch(scripted(programs.UnclearAlias()), infos([INPUTS[0]]))
