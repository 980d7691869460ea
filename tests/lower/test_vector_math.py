"""Functions that are computed in vectors are as exact as those of the C library, but for the last digits, for
all numbers, and for what is none.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from relay_explorer import relay
from relay_explorer.ir import Function, IRModule
from relay_explorer.lower.compiling import generated, scheduled
from relay_explorer.lower.require import tvm
from relay_explorer.lower.target import Target
from relay_explorer.typing import infer_types

SPECIAL = [
    math.nan,
    math.inf,
    -math.inf,
    0.0,
    -0.0,
    1e-8,
    -1e-8,
    1e-40,
    88.5,
    88.72,
    -87.4,
    -103.0,
    0.625,
    -4.0,
    1.0,
    0.7071067,
    0.7071068,
    1.1754944e-38,
    3.4028235e38,
]
COUNT = 4096
erf = np.vectorize(math.erf)
CASES: dict[str, tuple[Callable[[Any], Any], float, float]] = {
    # reference, error relative to the value, error beside it
    "exp": (np.exp, 3e-7, 1e-44),
    "log": (np.log, 3e-7, 1e-7),
    "tanh": (np.tanh, 3e-7, 1e-44),
    "erf": (erf, 5e-7, 1e-43),
    "sigmoid": (lambda x: 1 / (1 + np.exp(-x)), 3e-7, 1e-37),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("size", [COUNT, COUNT - 3], ids=["vectors", "odd"])
def test_it_is_exact_in_all_digits_but_the_last(name: str, size: int) -> None:
    reference, relative, absolute = CASES[name]
    x = relay.var("x", shape=(size,))
    function = infer_types(IRModule.from_expr(Function([x], getattr(relay, name)(x))))["main"]
    assert isinstance(function, Function)
    executable = generated(scheduled(function, "kernel", Target.of("cpu")))
    assert f"{name}f" not in executable.mod.inspect_source("s")  # the C library is not called
    dense = np.linspace(-6, 6, size // 2)
    wide = np.linspace(-110, 95, size - size // 2 - len(SPECIAL))
    given = np.concatenate([SPECIAL, dense, wide]).astype("float32")
    out = tvm().runtime.tensor(np.zeros(size, "float32"))
    executable["kernel"](tvm().runtime.tensor(given), out)
    with np.errstate(all="ignore"):
        wanted = reference(given.astype("float64")).astype("float32").astype("float64")
    found = out.numpy().astype("float64")
    assert np.array_equal(np.isnan(found), np.isnan(wanted))
    assert np.array_equal(found[np.isinf(wanted)], wanted[np.isinf(wanted)])
    found, wanted = found[np.isfinite(wanted)], wanted[np.isfinite(wanted)]
    assert (np.abs(found - wanted) <= relative * np.abs(wanted) + absolute).all()


def test_other_element_types_are_left_to_the_c_library() -> None:
    x = relay.var("x", shape=(8,), dtype="float64")
    function = infer_types(IRModule.from_expr(Function([x], relay.exp(x))))["main"]
    assert isinstance(function, Function)
    executable = generated(scheduled(function, "kernel", Target.of("cpu")))
    given, out = np.linspace(-700, 700, 8), tvm().runtime.tensor(np.zeros(8))
    executable["kernel"](tvm().runtime.tensor(given), out)
    assert np.allclose(out.numpy(), np.exp(given), rtol=1e-14)
