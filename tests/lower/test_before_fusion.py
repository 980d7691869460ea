"""What is done to a program before its operators become kernels: it means the same, and has fewer kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import relay_explorer
from relay_explorer import relay, transform
from relay_explorer.execute import Interpreter
from relay_explorer.ir import Function, IRModule, structural_hash
from relay_explorer.ir.expr import Let
from relay_explorer.ir.narrow import as_tensor_type
from relay_explorer.ir.walk import post_order
from relay_explorer.lower.executor import create_executor
from relay_explorer.lower.passes.flat_lets import FlatLets
from relay_explorer.lower.passes.padded_units import PadDense, padded_units
from relay_explorer.lower.passes.rows_apart import RowsApart
from relay_explorer.lower.passes.split_slices import SplitSlices
from relay_explorer.lower.prepare import prepared, with_params
from relay_explorer.lower.targets.target import Target
from relay_explorer.testing import generate
from relay_explorer.transform.fold_constant import FoldConstant
from relay_explorer.typing import infer_types
from tests.execute.programs import assert_same

TARGET = Target.of({"kind": "llvm", "mtriple": "x86_64-linux-gnu", "mcpu": "skylake-avx512", "num-cores": 2})
random = np.random.default_rng(0)


def value_of(module: IRModule, *args: Any) -> Any:
    return create_executor(mod=module).evaluate()(*args)


@pytest.mark.parametrize(
    ("units", "lanes", "padded"),
    [
        (750, 16, 768), (300, 16, 320), (10, 16, 16), (5, 16, 8), (3, 16, 4), (1, 4, 4), (18, 16, 32),
        (512, 16, 512), (1000, 16, 1000), (750, 4, 752), (300, 4, 300),
    ],
)  # fmt: skip
def test_how_many_units_a_product_gets(units: int, lanes: int, padded: int) -> None:
    assert padded_units(units, lanes) == padded


@settings(deadline=None, max_examples=25)
@given(
    rows=st.integers(1, 3), features=st.integers(1, 5), units=st.integers(1, 40),
    tail=st.sampled_from(["%y", "nn.relu(%y)", "tanh(%y + %b)", "sigmoid(%r + %y)", "(%y + %y, %y)",
                          "strided_slice(tanh(%b + %y), begin=[0], end=[1], strides=[1], axes=[1])"]),
)  # fmt: skip
def test_padding_changes_nothing(rows: int, features: int, units: int, tail: str) -> None:
    module = relay.parse(
        f"def @main(%x: Tensor[({rows}, {features}), float32], %w: Tensor[({units}, {features}), float32],"
        f" %b: Tensor[({units}), float32], %r: Tensor[({rows}, {units}), float32])"
        f" {{ let %y = nn.dense(%x, %w); {tail} }}"
    )
    args = {
        p.name_hint: np.float32(random.normal(size=as_tensor_type(p.type_annotation).concrete_shape))
        for p in module["main"].params
    }
    weights = {name: relay.const(args.pop(name)) for name in "wb"}
    module["main"] = relay.build_module.bind_params_by_name(module["main"], weights)
    output = FoldConstant()(PadDense(TARGET)(FlatLets()(module)))
    assert ("strided_slice" in str(output)) >= (padded_units(units, 16) != units)
    for result, expected in zip(
        flat(value_of(output, *args.values())), flat(value_of(module, *args.values()))
    ):
        np.testing.assert_allclose(result, expected, 1e-5, 1e-5)


def flat(value: Any) -> list[Any]:
    return [part.numpy() for part in (value if isinstance(value, tuple) else (value,))]


def test_parts_of_a_split_are_slices() -> None:
    module = relay.parse(
        "def @main(%x: Tensor[(2, 7, 3), float32]) {"
        " let %a = split(%x, indices_or_sections=[1, 5], axis=-2);"
        " let %b = split(%x, indices_or_sections=3, axis=2);"
        " (%a.0, %a.1, %a.2, %b.0, %b.2) }"
    )
    output = SplitSlices()(FlatLets()(module))
    assert "split(" not in str(output)
    x = random.normal(size=(2, 7, 3)).astype("float32")
    for result, expected in zip(flat(value_of(output, x)), flat(value_of(module, x)), strict=True):
        np.testing.assert_array_equal(result, expected)


def lets(text: str) -> tuple[IRModule, list[str]]:
    """Return a program without unused names, and the names that remain."""
    module = infer_types(relay.parse(text))
    result = infer_types(FlatLets()(module))
    return result, [node.var.name_hint for node in post_order(result["main"]) if isinstance(node, Let)]


def test_names_of_operators_go_and_others_stay() -> None:
    result, left = lets(
        "def @f(%x: float32) -> float32 { if (%x > 1f) { @f(%x - 1f) } else { %x } }\n"
        "def @main(%x: float32) {\n"
        "  let %a = %x + 1f; let %b = %a; let %c = (%b, %a * 2f);\n"
        "  let %cell = ref(%c.0); let %d = @f(%c.1); let %e = ref_read(%cell);\n"
        "  let %f = fn (%y: float32) { %y + %a }; %f(%d) + %e * %a\n"
        "}"
    )
    assert left == [
        "f",
        "e",
        "d",
        "cell",
        "a",
    ]  # a is needed in a function, and is not to be computed in each call
    assert value_of(result, 2.0).numpy() == value_of(relay.parse(str(result)), 2.0).numpy() == 13.0


@pytest.mark.parametrize("seed", range(12))
def test_random_programs(seed: int) -> None:
    module = infer_types(generate(seed, size=80, closed=True).module)
    result = PadDense(TARGET)(SplitSlices()(infer_types(FlatLets()(module))))
    assert_same(Interpreter(result).call("main", []), Interpreter(module).call("main", []), 1e-4, 1e-5)


def test_a_cell_of_an_lstm_is_three_kernels() -> None:
    """Product and bias; what is remembered; what is shown: whatever names the program gives."""
    text = (
        "def @main(%x: Tensor[(1, 20), float32], %c: Tensor[(1, 15), float32], %w: Tensor[(60, 20), float32],"
        " %b: Tensor[(60), float32]) {\n"
        "  let %y = nn.dense(%x, %w); let %z = nn.bias_add(%y, %b);\n"
        "  let %g = split(%z, indices_or_sections=4, axis=1);\n"
        "  let %i = sigmoid(%g.0); let %f = sigmoid(%g.1); let %n = tanh(%g.2); let %o = sigmoid(%g.3);\n"
        "  let %cell = %f * %c + %i * %n; (%o * tanh(%cell), %cell)\n}"
    )
    module = relay.parse(text)
    args = [
        random.normal(size=as_tensor_type(p.type_annotation).concrete_shape).astype("float32")
        for p in module["main"].params
    ]
    exe = relay_explorer.build(module, params={"w": args[2], "b": args[3]}, quiet=True)
    assert len(exe.kernels) == 3
    for result, expected in zip(exe(*args[:2]), flat(value_of(module, *args)), strict=True):
        np.testing.assert_allclose(result, expected, 1e-5, 1e-5)


def gru(steps: int, order: range) -> IRModule:
    """Build an unrolled GRU with a state of 16 that reads the rows of a tensor in an order."""
    lines = "".join(
        f"  let %x = nn.bias_add(nn.dense(%rows.{t}, %v), %b); let %y = nn.dense(%h, %w);\n"
        "  let %a = split(%x, indices_or_sections=3, axis=1);\n"
        "  let %c = split(%y, indices_or_sections=3, axis=1);\n"
        "  let %k = sigmoid(%a.0 + %c.0);\n"
        "  let %h = %k * %h + (1f - %k) * tanh(%a.2 + sigmoid(%a.1 + %c.1) * %c.2);\n"
        for t in order
    )
    return relay.parse(
        f"def @main(%x: Tensor[({steps}, 8), float32], %v: Tensor[(48, 8), float32],"
        " %w: Tensor[(48, 16), float32], %b: Tensor[(48), float32]) {\n"
        f"  let %rows = split(%x, indices_or_sections={steps}, axis=0);\n"
        f'  let %h = zeros(shape=[1, 16], dtype="float32");\n{lines}  (%h, %rows.1)\n}}'
    )


@pytest.mark.parametrize("order", [range(6), range(5, -1, -1)])
def test_what_the_steps_of_a_network_compute_of_their_inputs_is_one_product(order: range) -> None:
    module = gru(6, order)
    args = [
        random.normal(size=as_tensor_type(p.type_annotation).concrete_shape).astype("float32")
        for p in module["main"].params
    ]
    exe = relay_explorer.build(module, params=dict(zip("vwb", args[1:])), quiet=True)
    products = [kernel for kernel in exe.kernels if "dense" in kernel.name]
    assert sorted(kernel.uses for kernel in products) == [1, 6]
    # Every step has the same kernels, whichever row it reads, and no row is copied but the one that is shown.
    assert sum(kernel.uses for kernel in exe.kernels) == 1 + 2 * 6 + 2
    assert len(exe.kernels) <= 6
    expected = flat(value_of(module, *args))
    for result, value in zip(exe(args[0]), expected, strict=True):
        np.testing.assert_allclose(result, value, 1e-5, 1e-5)
    machine = relay_explorer.build(module, params=dict(zip("vwb", args[1:])), executor="vm", quiet=True)
    for result, value in zip(machine(args[0]), expected, strict=True):
        np.testing.assert_allclose(result, value, 1e-5, 1e-5)


def test_a_gpu_has_one_kernel_for_all_steps_too() -> None:
    module = gru(6, range(6))
    weights = {
        p.name_hint: np.zeros(as_tensor_type(p.type_annotation).concrete_shape, "float32")
        for p in module["main"].params[1:]
    }
    result = prepared(with_params(module, weights), Target.of({"kind": "cuda", "arch": "sm_80"}), 3)
    kernels = [f for f in post_order(result["main"].body) if isinstance(f, Function)]
    steps = [f for f in kernels if "tanh" in str(f.body)]
    assert len({structural_hash(step) for step in steps}) == 2  # the first has zeros for a state
    assert len(steps) == 6


def test_rows_of_what_is_given_stay_in_the_kernels_that_use_them() -> None:
    module = infer_types(
        relay.parse(
            "def @main(%x: Tensor[(4, 3), float32], %w: Tensor[(3, 3), float32]) {"
            + " let %y = tanh(nn.dense(%x, %w)); let %z = tanh(%x);"
            + "".join(
                f" let %{x}{k} = strided_slice(%{x}, begin=[{k}], end=[{k + 1}], strides=[1], axes=[0]);"
                for x in "xyz"
                for k in range(4)
            )
            + " (%x0 * %x1 * %x2 * %x3, %y0 * %y1 * %y2 * %y3, %z0 * %z1 * %z2 * %z3) }"
        )
    )
    output = RowsApart()(infer_types(FlatLets()(module)))
    assert str(output).count("annotation.stop_fusion") == 4
    x, w = (random.normal(size=shape).astype("float32") for shape in ((4, 3), (3, 3)))
    for result, expected in zip(flat(value_of(output, x, w)), flat(value_of(module, x, w)), strict=True):
        np.testing.assert_array_equal(result, expected)


def test_sums_lie_on_the_stack() -> None:
    """No kernel asks for memory for what fits its registers."""
    module = relay.parse(
        "def @main(%x: Tensor[(1, 20), float32], %w: Tensor[(64, 20), float32]) { nn.dense(%x, %w) }"
    )
    exe = relay_explorer.build(module, params={"w": np.ones((64, 20), "float32")}, quiet=True)
    assert "dense" in exe.kernels[0].name
    assert "AllocWorkspace" not in exe.kernels[0].source("asm")
    np.testing.assert_array_equal(exe(np.ones((1, 20), "float32")), np.full((1, 64), 20))


def test_a_long_chain_is_one_kernel_called_often() -> None:
    """One kernel of a thousand operators would take TVM many minutes."""
    x = relay.var("x", shape=(4, 8))
    y: relay.Expr = x
    for _ in range(1000):
        y = relay.sin(y)
    result = relay_explorer.build(Function([x], y), quiet=True)
    assert len(result.kernels) == 2
    data = random.normal(size=(4, 8)).astype("float32")
    expected = data
    for _ in range(1000):
        expected = np.sin(expected)
    np.testing.assert_allclose(result(data), expected, rtol=1e-4)


@pytest.mark.parametrize("passes", [["FuseOps"], ["FuseOps", "ToANormalForm"], ["ToANormalForm", "FuseOps"]])
def test_what_was_fused_before_is_fused_anew(passes: list[str]) -> None:
    """As old code did with passes of its own, which knew no target."""
    x, w = relay.var("x", shape=(2, 3)), relay.var("w", shape=(4, 3))
    body = relay.nn.softmax(relay.nn.relu(relay.nn.dense(x, w)) + relay.const(1.0))
    plain = IRModule.from_expr(Function([x, w], body))
    with transform.PassContext(opt_level=3):
        fused = transform.Sequential([getattr(transform, name)() for name in ["InferType", *passes]])(plain)
    assert "Primitive" in str(fused)
    result, expected = (prepared(infer_types(module), TARGET, 3) for module in (fused, plain))
    assert structural_hash(result) == structural_hash(expected)
