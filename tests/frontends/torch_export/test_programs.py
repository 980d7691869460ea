"""Exported programs become modules: inputs, weights, outputs, sizes, control flow, places, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.export import Dim

from relay_explorer import relay
from relay_explorer.frontends.base.errors import UnsupportedOperatorsError
from relay_explorer.frontends.base.source import Node, node_of
from relay_explorer.frontends.torch_export import from_exported_program
from relay_explorer.ir.errors import RelayError
from relay_explorer.ir.expr import Expr
from tests.frontends.torch_export.exporting import check, computed, exported, leaves


class Block(nn.Module):
    """A layer with a residual connection."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(self.linear(x)) + x


class Stack(nn.Module):
    """Two blocks, whose weights are tied, and a counter."""

    def __init__(self) -> None:
        super().__init__()
        first, second = blocks = [Block(), Block()]
        second.linear.weight = first.linear.weight
        self.blocks = nn.ModuleList(blocks)
        self.calls: Tensor
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, x: Tensor, options: dict[str, Any]) -> Any:
        self.calls += 1
        for block in self.blocks:
            x = block(x)
        return {"sum": x + options["shift"], "parts": (x, None, x.sum())}


def test_names_inputs_and_weights_as_pytorch_does() -> None:
    program = exported(Stack(), (torch.randn(2, 4), {"shift": torch.ones(4)}))
    mod, params = from_exported_program(program)
    names = [param.name_hint for param in mod["main"].params]
    assert names[:2] == ["x", "options_shift"]
    assert set(names[2:]) == set(params) == {
        "blocks.1.linear.weight", "blocks.0.linear.bias", "blocks.1.linear.bias", "calls"
    }  # fmt: skip


def test_returns_changed_buffers_after_the_outputs() -> None:
    model, args = Stack(), (torch.randn(2, 4), {"shift": torch.ones(4)})
    mod, params = from_exported_program(exported(model, args))
    results = computed(mod, params, args)
    expected = leaves(model(*args))
    assert len(results) == len(expected) + 1
    for result, tensor in zip(results, expected):
        np.testing.assert_allclose(result, tensor.detach().numpy(), rtol=1e-5, atol=1e-6)
    assert results[-1].tolist() == [1.0]


def test_distinguishes_a_weight_from_an_input_of_its_name() -> None:
    class Shift(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.x = nn.Parameter(torch.ones(3))

        def forward(self, x: Tensor) -> Tensor:
            return x + self.x

    mod = check(Shift(), torch.randn(3))
    assert [param.name_hint for param in mod["main"].params] == ["x", "x_"]


def test_changes_in_place_keep_the_element_type() -> None:
    def compared(x: Tensor, y: Tensor) -> Tensor:
        z = x * 2
        z.add_(y.double())
        z.gt_(1.0)
        return z

    check(compared, torch.randn(5), torch.randn(5))


def test_freezes_weights_on_request() -> None:
    mod, params = from_exported_program(exported(Block(), (torch.randn(2, 4),)), freeze_params=True)
    assert not params
    assert len(mod["main"].params) == 1


def test_shares_the_memory_of_weights() -> None:
    model = Block()
    _, params = from_exported_program(exported(model, (torch.randn(2, 4),)))
    with torch.no_grad():
        model.linear.bias.fill_(7.0)
    assert params["linear.bias"].numpy().tolist() == [7.0] * 4


def test_imports_bfloat16() -> None:
    model = Block().to(torch.bfloat16)
    mod, params = from_exported_program(exported(model, (torch.randn(2, 4).to(torch.bfloat16),)))
    assert params["linear.weight"].dtype == "bfloat16"
    expected = model.linear.weight.detach().float().numpy()
    np.testing.assert_array_equal(params["linear.weight"].numpy(), expected)
    assert "nn.dense" in str(mod)
    assert "float32" not in str(mod)


def test_keeps_dynamic_axes_as_named_sizes() -> None:
    def mixed(x: Tensor, y: Tensor) -> Tensor:
        return torch.cat([x, y]).view(x.shape[0] * 2, 2, 3).flatten(1) * (x.shape[0] + 1)

    batch = Dim("batch", min=2, max=64)
    mod = check(
        mixed,
        torch.randn(4, 6),
        torch.randn(4, 6),
        dynamic=({0: batch}, {0: batch}),
        others=[(torch.randn(7, 6), torch.randn(7, 6))],
    )
    function: Any = relay.transform.InferType()(mod)["main"]
    first, second = (param.checked_type.shape[0] for param in function.params)
    assert first == second
    assert str(function.checked_type.ret_type.shape[0]) == str(2 * first)


def test_computes_with_sizes() -> None:
    def halves(x: Tensor) -> tuple[Tensor, int]:
        n = x.shape[0]
        return x * (n % 3) + torch.zeros(n // 2, 3).sum() + max(n, 6) // 2, n // 2 * 3 - 1

    check(
        halves,
        torch.randn(8, 3),
        dynamic=({0: Dim("n", min=4, max=40)},),
        others=[(torch.randn(13, 3),), (torch.randn(24, 3),)],
    )


def test_reshapes_to_two_dynamic_axes() -> None:
    def swapped(x: Tensor) -> Tensor:
        b, s, w = x.shape
        return x.reshape(b * s, w).relu().reshape(b, s, 2, w // 2).transpose(1, 2) + x.mean()

    mod = check(
        swapped,
        torch.randn(2, 3, 4),
        dynamic=({0: Dim("b", min=2, max=9), 1: Dim("s", min=2, max=9)},),
        others=[(torch.randn(5, 4, 4),)],
    )
    function: Any = relay.transform.InferType()(mod)["main"]
    assert "?" not in str(function.checked_type.ret_type)


def test_handles_sizes_that_data_decide() -> None:
    def positive(x: Tensor) -> Tensor:
        found = x[x > 0]
        return found.sum() + torch.zeros(found.shape[0]).sum()

    check(positive, torch.randn(20), others=[(torch.randn(20),)])


def test_translates_cond() -> None:
    def branches(x: Tensor) -> Any:
        return torch.cond(x.sum() > 0, lambda v: (v + 1, v.sum()), lambda v: (v * 2, v.mean()), (x,))

    mod = check(branches, torch.ones(3), others=[(-torch.ones(3),)])
    assert "if (" in str(mod)


def test_translates_while_loop() -> None:
    from torch._higher_order_ops.while_loop import while_loop

    def doubled(x: Tensor, limit: Tensor) -> Any:
        return while_loop(
            lambda i, v, limit: v.sum() < limit,
            lambda i, v, limit: (i + 1, v * 2, limit.clone()),
            (torch.tensor(0), x, limit),
        )

    check(doubled, torch.ones(3), torch.tensor(50.0), others=[(torch.ones(3), torch.tensor(1.0))])


def test_translates_scan_and_map() -> None:
    from torch._higher_order_ops.map import map as torch_map
    from torch._higher_order_ops.scan import scan

    def running(x: Tensor) -> Any:
        return scan(lambda carry, row: (carry + row, carry * row), torch.zeros(3), x, dim=0)

    check(running, torch.randn(5, 3))
    mod = check(running, torch.randn(20, 3))
    assert "if (" in str(mod)
    check(
        lambda x, y: torch_map(lambda row, shift: row.relu() + shift, x, y), torch.randn(4, 3), torch.randn(3)
    )


def test_knows_the_module_and_the_line_of_each_expression() -> None:
    program = exported(Stack(), (torch.randn(2, 4), {"shift": torch.ones(4)}))
    mod, _ = from_exported_program(program)
    nodes: list[Node] = mod.source.nodes  # type: ignore[union-attr]  # a ModelSource
    linears = [node for node in nodes if node.op == "aten::linear"]
    assert [node.path for node in linears] == ["blocks.0.linear", "blocks.1.linear"]
    assert {node.location.partition(":")[0] for node in linears} == {"test_programs.py"}
    calls: list[Expr] = []
    relay.analysis.post_order_visit(mod["main"], calls.append)
    dense = [call for call in calls if getattr(getattr(call, "op", None), "name", "") == "nn.dense"]
    found = [node_of(call.span) for call in dense]
    assert [node.path for node in found if node is not None] == ["blocks.0.linear", "blocks.1.linear"]


@torch.library.custom_op("relay_tests::triple", mutates_args=())
def triple(x: Tensor) -> Tensor:
    """Multiply by three."""
    return x * 3


@triple.register_fake
def _(x: Tensor) -> Tensor:
    return torch.empty_like(x)


def test_names_all_unsupported_operators() -> None:
    program = exported(lambda x: triple(triple(x)) + torch.linalg.svdvals(x[None]), (torch.randn(3, 3),))
    with pytest.raises(UnsupportedOperatorsError) as caught:
        from_exported_program(program)
    message = str(caught.value)
    assert "relay_tests::triple (2 nodes, first `triple`" in message
    assert "svd" in message
    assert "convert_map" in message


@pytest.mark.parametrize("key", ["relay_tests::triple", "relay_tests.triple.default", "relay_tests.triple"])
def test_prefers_the_converters_of_the_user(key: str) -> None:
    def convert(node: Node, inputs: list[Expr]) -> Expr:
        return relay.multiply(inputs[0], relay.const(3.0))

    x = torch.randn(3)
    mod, params = from_exported_program(exported(triple, (x,)), convert_map={key: convert})
    np.testing.assert_allclose(computed(mod, params, (x,))[0], 3 * x.numpy(), rtol=1e-6)


def test_replaces_a_converter_for_several_results() -> None:
    def convert(node: Node, inputs: list[Expr]) -> list[Expr]:
        x = inputs[0]
        return [relay.max(x, axis=[1]), relay.argmax(x, axis=[1])]

    x = torch.randn(3, 4)
    program = exported(lambda x: torch.max(x, 1), (x,))
    mod, params = from_exported_program(program, convert_map={"aten::max.dim": convert_as_int64(convert)})
    np.testing.assert_allclose(computed(mod, params, (x,))[0], x.max(1)[0].numpy())
    with pytest.raises(RelayError, match=r"int32.*PyTorch computes"):
        from_exported_program(program, convert_map={"aten::max.dim": convert})


def convert_as_int64(convert: Any) -> Any:
    """Cast the second result."""

    def wrapped(node: Node, inputs: list[Expr]) -> list[Expr]:
        first, second = convert(node, inputs)
        return [first, relay.cast(second, "int64")]

    return wrapped


def test_decomposes_operators_without_a_converter() -> None:
    check(lambda x: torch.special.entr(x) + torch.logaddexp2(x, x), torch.rand(4) + 0.1)


def test_refuses_training_mode() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5))
    program = torch.export.export(model.train(), (torch.randn(2, 4),))
    with pytest.raises(RelayError, match="dropout is active") as caught:
        from_exported_program(program)
    assert "model.eval()" in str(caught.value)


def test_refuses_complex_numbers() -> None:
    program = exported(lambda x: torch.fft.fft(x).abs(), (torch.randn(8),))
    with pytest.raises(RelayError, match="complex"):
        from_exported_program(program)


def test_asks_for_an_export_of_a_module() -> None:
    with pytest.raises(RelayError, match=r"torch\.export\.export"):
        from_exported_program(nn.Linear(2, 2))
    with pytest.raises(RelayError, match="not a int"):
        from_exported_program(3)
