"""What every pass promises (`Pass.contract`), held against random programs: types stay, values stay, the
input is not changed. In any order, too.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from typing import Any as Anything

import numpy as np
import pytest

from relay_explorer import transform
from relay_explorer.analysis import check_basic_block_normal_form
from relay_explorer.execute.values import ConstructorValue, RefValue
from relay_explorer.grading.fragments import snapshot
from relay_explorer.ir import IRModule, structural_equal
from relay_explorer.ir.adt import Constructor
from relay_explorer.ir.errors import RelayError
from relay_explorer.ir.expr import (
    Call,
    Function,
    GlobalVar,
    If,
    RefRead,
    RefWrite,
    Tuple,
    TupleGetItem,
    Var,
)
from relay_explorer.ir.op import Op
from relay_explorer.ir.walk import children, post_order
from relay_explorer.testing import generate
from relay_explorer.transform import (
    AlterOpLayout,
    BackwardFoldScaleAxis,
    CanonicalizeCast,
    CanonicalizeOps,
    CombineParallelBatchMatmul,
    CombineParallelConv2D,
    CombineParallelDense,
    CombineSharedDense,
    ConvertLayout,
    DeadCodeElimination,
    DefuseOps,
    DynamicToStatic,
    EliminateCommonSubexpr,
    EtaExpand,
    FakeQuantizationToInteger,
    FastMath,
    FlattenAtrousConv,
    FoldConstant,
    FoldExplicitPadding,
    FoldScaleAxis,
    ForwardFoldScaleAxis,
    FuseOps,
    InferType,
    Inline,
    LambdaLift,
    LazyGradientInit,
    PartialEvaluate,
    Pass,
    PassContext,
    QnnCanonicalizeOps,
    QnnLegalize,
    RemoveUnusedFunctions,
    SimplifyExpr,
    SimplifyExprPostAlterOp,
    SimplifyInference,
    SplitArgs,
    ToANormalForm,
    ToBasicBlockNormalForm,
    ToGraphNormalForm,
)
from relay_explorer.typing import infer_types
from tests.property.programs import first_failure
from tests.property.test_evaluation import value_of

PASSES: list[Pass] = [
    AlterOpLayout(), ConvertLayout({"nn.conv2d": ["NHWC", "default"]}),
    DynamicToStatic(), SplitArgs(4), CanonicalizeCast(), FoldExplicitPadding(), SimplifyExpr(),
    SimplifyExprPostAlterOp(), BackwardFoldScaleAxis(), FoldScaleAxis(), ForwardFoldScaleAxis(),
    CanonicalizeOps(), CombineParallelBatchMatmul(2), CombineParallelConv2D(2), CombineParallelDense(2),
    CombineParallelDense(2, to_batch=False), CombineSharedDense(2), DeadCodeElimination(),
    DeadCodeElimination(inline_once=True),
    DefuseOps(), EliminateCommonSubexpr(), EtaExpand(True, True), FastMath(), FoldConstant(), FuseOps(2),
    FuseOps(0), InferType(), LazyGradientInit(), Inline(), LambdaLift(), PartialEvaluate(),
    RemoveUnusedFunctions(), SimplifyInference(), ToANormalForm(), ToBasicBlockNormalForm(),
    ToGraphNormalForm(), FakeQuantizationToInteger(use_qat=True), FlattenAtrousConv(), QnnCanonicalizeOps(),
    QnnLegalize(),
]  # fmt: skip
COUNT = 80


@pytest.fixture(scope="module")
def programs() -> list[IRModule]:
    return [generate(70_000 + seed, size=10 + seed % 40, closed=True).module for seed in range(COUNT)]


def close(a: Anything, b: Anything, error: float) -> bool:
    """Whether two values are the same but for `error`; functions are taken to be."""
    if isinstance(a, (np.ndarray, np.generic)):
        a, b = np.asarray(a), np.asarray(b)
        if a.dtype != b.dtype or a.shape != b.shape:
            return False
        if error and a.dtype.kind == "f":
            return np.allclose(a, b, rtol=error, atol=error, equal_nan=True)
        return np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    if isinstance(a, tuple):
        return len(a) == len(b) and all(close(x, y, error) for x, y in zip(a, b, strict=True))
    if isinstance(a, ConstructorValue):
        same = a.constructor.name_hint == b.constructor.name_hint
        return same and all(close(x, y, error) for x, y in zip(a.fields, b.fields, strict=True))
    if isinstance(a, RefValue):
        return close(a.value, b.value, error)
    return True


def broken(module: IRModule, passes: list[Pass]) -> str | None:
    """How the passes break their contracts on a program; None where they keep them."""
    before = {var: snapshot(f) for var, f in module.functions.items()}
    with PassContext(opt_level=4):
        output = module
        for step in passes:
            output = step(output)
    if before != {var: snapshot(f) for var, f in module.functions.items()}:
        return "the input is changed"
    old = infer_types(module)
    try:
        new = infer_types(output)
    except RelayError as refused:
        return f"what comes out is ill-typed: {refused}\n{output}"
    if all(step.contract.types for step in passes):
        expected, result = old["main"].checked_type, new["main"].checked_type
        if not structural_equal(expected, result):
            return f"the type {expected} became {result}\n{output}"
    error = sum(step.contract.error for step in passes)
    first, second = value_of(module), value_of(output)
    return None if close(first, second, error) else f"the value {first} became {second}\n{output}"


@pytest.mark.parametrize("step", PASSES, ids=lambda step: f"{step.info.name}-{PASSES.index(step)}")
def test_a_pass_keeps_its_contract(step: Pass, programs: list[IRModule]) -> None:
    assert first_failure(programs, lambda module: broken(module, [step])) is None


@pytest.mark.parametrize("seed", range(4))
def test_passes_keep_their_contracts_in_any_order(seed: int, programs: list[IRModule]) -> None:
    rng = random.Random(seed)
    exact = [step for step in PASSES if not step.contract.error]
    for number in range(10):
        chosen = rng.sample(exact, 4)
        some = programs[number::10]
        names = [step.info.name for step in chosen]
        assert first_failure(some, partial(broken, passes=chosen)) is None, names


# -- the normal forms of `Contract.gives` and `Contract.needs`

ATOMS = (Var, GlobalVar, Op, Constructor)


def in_a_normal_form(function: Function) -> bool:
    """Whether all operands of calls, tuples and conditions are names; a kernel is a value as it is."""
    for node in post_order(function):
        operands = children(node) if isinstance(node, (Call, Tuple, TupleGetItem, RefWrite, RefRead)) else ()
        condition = (node.cond,) if isinstance(node, If) else ()
        if not all(isinstance(part, ATOMS) for part in (*operands, *condition)):
            return False
    return True


def each(check: Callable[[Function], bool]) -> Callable[[IRModule], bool]:
    """Check all functions of a module."""
    return lambda mod: all(check(f) for f in mod.functions.values() if isinstance(f, Function))


def in_graph_form(module: IRModule) -> bool:
    """Whether ToGraphNormalForm has nothing left to do."""
    return structural_equal(infer_types(module), infer_types(ToGraphNormalForm()(module)))


FORMS: dict[str, Callable[[IRModule], bool]] = {
    "A-normal": each(in_a_normal_form), "basic-block": each(check_basic_block_normal_form),
    "graph": in_graph_form,
}  # fmt: skip


@pytest.mark.parametrize(
    "step",
    [ToANormalForm(), ToBasicBlockNormalForm(), ToGraphNormalForm(), PartialEvaluate()],
    ids=lambda step: step.info.name,
)
def test_a_pass_gives_the_form_that_it_promises(step: Pass, programs: list[IRModule]) -> None:
    holds = FORMS[step.contract.gives]
    assert first_failure(programs[:30], lambda module: None if holds(step(module)) else "not in form") is None


def test_every_form_that_is_needed_is_given() -> None:
    passes = [cls for cls in vars(transform).values() if isinstance(cls, type) and issubclass(cls, Pass)]
    given = {cls.contract.gives for cls in passes}
    assert {cls.contract.needs for cls in passes} <= given == {"", "CPS", "first-order", *FORMS}
