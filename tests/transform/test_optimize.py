"""The passes as a pipeline of levels, and what a pipeline runs before a pass."""

from __future__ import annotations

import numpy as np
import pytest

from relay_explorer import relay
from relay_explorer.execute import Interpreter
from relay_explorer.ir.errors import RelayError
from relay_explorer.ir.expr import Call, Constant, Function
from relay_explorer.ir.module import IRModule
from relay_explorer.ir.op import Op
from relay_explorer.ir.walk import post_order
from relay_explorer.testing import generate
from relay_explorer.text import parse
from relay_explorer.transform import PassContext, PassInfo, Sequential, function_pass, optimize
from relay_explorer.typing import infer_types
from tests.property.programs import first_failure
from tests.property.test_evaluation import value_of
from tests.transform.test_contracts import close

NET = """
def @unused(%x: float32) { exp(%x) }
def @main(%x: Tensor[(1, 2, 4, 4), float32], %w: Tensor[(2, 2, 1, 1), float32], %s: Tensor[(2), float32]) {
  %0 = nn.conv2d(%x, %w, kernel_size=[1, 1], channels=2);
  %1 = nn.batch_norm(%0, %s, %s, %s, %s);
  %2 = add(nn.relu(%1.0), nn.relu(%1.0));
  add(%2, multiply(2f, 3f))
}"""


def operators(module: IRModule) -> list[list[str]]:
    """Return the kernels of `@main`, each as its operators."""
    return [
        [n.op.name for n in post_order(f) if isinstance(n, Call) and isinstance(n.op, Op)]
        for node in post_order(module["main"])
        if isinstance(node, Call) and isinstance(f := node.op, Function)
    ]


def at(level: int, **params: object) -> IRModule:
    return optimize(parse(NET), level=level, params=params)[0]


def test_every_level_does_more() -> None:
    assert "unused" in at(0)
    assert [len(kernel) for kernel in operators(at(0))] == [1] * len(operators(at(0)))
    assert "unused" not in at(1)
    assert len(operators(at(1))) < len(operators(at(0)))
    multiplications = [sum(kernel.count("multiply") for kernel in operators(at(level))) for level in (1, 2)]
    assert multiplications[1] == multiplications[0] - 1  # of 2 and 3
    assert sum(kernel.count("nn.relu") for kernel in operators(at(2))) == 2
    assert sum(kernel.count("nn.relu") for kernel in operators(at(3))) == 1


def test_parameters_become_constants_that_are_folded() -> None:
    result = at(3, w=np.ones((2, 2, 1, 1), "float32"), s=np.ones(2, "float32"))
    assert [param.name_hint for param in result["main"].params] == ["x"]
    assert [kernel for kernel in operators(result) if "sqrt" in kernel] == []
    assert any(
        isinstance(node, Constant) and node.data.shape == (2, 2, 1, 1) for node in post_order(result["main"])
    )


@pytest.mark.parametrize("level", range(4))
def test_the_value_stays(level: int) -> None:
    rng = np.random.default_rng(level)
    args = [rng.random(shape, "float32") for shape in ((1, 2, 4, 4), (2, 2, 1, 1), (2,))]
    before, after = [
        Interpreter(infer_types(module)).evaluate(Call(module["main"], [relay.const(a) for a in args]))
        for module in (parse(NET), at(level))
    ]
    np.testing.assert_allclose(before, after, rtol=1e-5)


@pytest.mark.parametrize("level", [1, 3])
def test_random_programs_keep_their_values(level: int) -> None:
    def broken(module: IRModule) -> str | None:
        result = optimize(module, level=level)[0]
        first, second = value_of(module), value_of(result)
        return None if close(first, second, 1e-5) else f"the value {first} became {second}\n{result}"

    programs = [generate(86_000 + seed, size=10 + seed % 40, closed=True).module for seed in range(60)]
    assert first_failure(programs, broken) is None


class Names:
    """An instrument that notes which passes run."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def run_before_pass(self, mod: IRModule, info: PassInfo) -> None:
        self.names.append(info.name)


def test_the_context_says_which_level() -> None:
    observed = Names()
    with PassContext(
        opt_level=3, required_pass=["FastMath"], disabled_pass=["FuseOps"], instruments=[observed]
    ):
        result = optimize(parse("def @main(%x: float32) { exp(%x) }"))[0]
    assert "fast_exp" in str(result)
    assert operators(result) == []
    assert "FoldScaleAxis" in observed.names
    assert "CombineParallelConv2D" not in observed.names


def test_a_pipeline_runs_what_a_pass_requires() -> None:
    types: list[bool] = []

    @function_pass(opt_level=0, required=["InferType"])
    def look(function: Function, mod: IRModule, ctx: PassContext) -> Function:
        types.append(function.body._checked_type is not None)
        return function

    module = parse("def @main(%x: float32) { exp(%x) }")
    look(module)
    Sequential([look])(module)
    assert types == [False, True]


def test_a_requirement_that_is_no_pass_is_refused() -> None:
    @function_pass(opt_level=0, required=["InferTypes"])
    def look(function: Function, mod: IRModule, ctx: PassContext) -> Function:
        return function

    with pytest.raises(RelayError) as caught:
        Sequential([look])(parse("def @main(%x: float32) { exp(%x) }"))
    assert str(caught.value) == (
        "error: the pass look requires `InferTypes`, which is not a pass\n"
        "help: `required` names passes of relay.transform, such as InferType"
    )
