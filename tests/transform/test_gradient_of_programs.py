"""Gradients of random programs, in all of the language, against difference quotients."""

from __future__ import annotations

import re
from typing import Any as Anything

import numpy as np
import pytest

from relay_explorer.ir import (
    Constant,
    Expr,
    Function,
    IRModule,
    TensorType,
    TupleType,
    Type,
    Var,
    rewrite,
)
from relay_explorer.lower.executor import create_executor
from relay_explorer.testing import generate
from relay_explorer.text import parse
from relay_explorer.transform import (
    gradient,
)
from relay_explorer.typing import infer_types


def open_program(seed: int) -> tuple[IRModule, list[np.ndarray[Anything, Anything]]] | None:
    """Generate a random program in float64 whose constants are parameters of `@main`, and their values; None
    where it has none, or its first result is not a floating-point tensor.
    """
    text = generate(70_000 + seed, size=10 + seed % 40, closed=True).module.astext()
    module = infer_types(parse(re.sub(r"(?<=[\d.])f\b", "f64", text.replace("float32", "float64"))))
    main = module["main"]
    assert isinstance(main, Function)
    params: list[Var] = []
    values: list[np.ndarray[Anything, Anything]] = []

    def as_parameter(node: Expr) -> Expr | None:
        if not (isinstance(node, Constant) and node.data.dtype == "float64"):
            return None
        params.append(Var(f"p{len(params)}", TensorType(node.data.shape, "float64")))
        values.append(np.array(node.data.numpy()))
        return params[-1]

    body = rewrite(main.body, as_parameter)
    type_ = main.checked_type.ret_type  # type: ignore[attr-defined]  # a function's
    if not params or not of_tensors(type_):
        return None
    while isinstance(type_, TupleType):
        type_ = type_.fields[0]
    if type_.dtype != "float64":
        return None
    opened = module.copy()
    opened["main"] = Function(params, body)
    return infer_types(opened), values


def of_tensors(type_: Type) -> bool:
    """Whether it is a tensor, or a tuple of such that begins with one."""
    if isinstance(type_, TupleType):
        return bool(type_.fields) and all(map(of_tensors, type_.fields))
    return isinstance(type_, TensorType)


def first_sum(value: Anything) -> float:
    while not hasattr(value, "numpy"):
        value = value[0]
    return float(value.numpy().sum())


def test_random_programs_against_difference_quotients() -> None:
    compared = 0
    for seed in range(240):
        output = open_program(seed)
        if output is None:
            continue
        module, values = output
        random = np.random.default_rng(seed)
        values = [v + 0.05 * random.normal(size=v.shape) for v in values]  # away from corners
        directions = [random.normal(size=v.shape) for v in values]
        run = create_executor(mod=module).evaluate()
        ends = [
            first_sum(run(*[v + step * d for v, d in zip(values, directions, strict=True)]))
            for step in (1e-5, 0, -1e-5)
        ]
        both, ahead = (ends[0] - ends[2]) / 2e-5, (ends[0] - ends[1]) / 1e-5
        back = module.copy()
        back["main"] = gradient(back["main"], back)
        _, result = create_executor(mod=infer_types(back)).evaluate()(*values)
        if not np.isfinite(both) or not np.isclose(both, ahead, rtol=1e-3, atol=1e-4):
            continue  # a corner, or a jump
        slope = sum((f.numpy() * d).sum() for f, d in zip(result, directions, strict=True))
        assert slope == pytest.approx(both, rel=1e-3, abs=1e-5), seed
        compared += abs(both) > 1e-9
    assert compared > 15
