"""Kernels of tensors with named sizes: they know the extents of their arguments, and compute the others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import relay_explorer
from relay_explorer import relay
from relay_explorer.execute.aot.shape_constraints import shape_constraints
from relay_explorer.execute.interpreter import Interpreter
from relay_explorer.ir import Function
from relay_explorer.lower.codegen.compile_kernel import output_sizes
from relay_explorer.lower.codegen.symbolic_sizes import evaluated
from relay_explorer.lower.compose import compose
from relay_explorer.lower.targets.target import Target
from relay_explorer.typing import infer_types


def function(text: str) -> Function:
    main = infer_types(relay.parse(f"def @main{text}"))["main"]
    assert isinstance(main, Function)
    return main


# Each argument's type, and a shape of it
@pytest.mark.parametrize(
    ("text", "shapes", "expected"),
    [
        ("(%x: Tensor[(n * m, 8), float32]) { nn.relu(%x) }", [(6, 8)], (6, 8)),
        ("(%x: Tensor[(3 * n, 8), float32]) { reshape(%x, newshape=[-1, 24]) }", [(6, 8)], (2, 24)),
        ("(%x: Tensor[(5 * n - 1), float32]) { concatenate((%x, %x)) }", [(9,)], (18,)),
        ("(%x: Tensor[(floordiv(n - 1, 2) + 1, 3), float32]) { sum(%x, axis=[1]) }", [(4, 3)], (4,)),
        (
            "(%x: Tensor[(n * m), float32], %y: Tensor[(n, 2), float32]) { reshape_like(%x, %x) }",
            [(6,), (3, 2)],
            (6,),
        ),
        (
            "(%x: Tensor[(n * m, 2), float32], %y: Tensor[(n * k, 3), float32]) "
            "{ concatenate((reshape(%x, newshape=[-1]), reshape(%y, newshape=[-1]))) }",
            [(6, 2), (4, 3)],
            (24,),
        ),
        (
            "(%x: Tensor[(n, m), float32], %y: Tensor[(n * m, 2), float32]) "
            "{ reshape_like(%y, %x, lhs_end=1) }",
            [(3, 2), (6, 2)],
            (3, 2, 2),
        ),
        ("(%x: Tensor[(n + m), float32], %y: Tensor[(m), float32]) { exp(%x) }", [(5,), (2,)], (5,)),
    ],
)
def test_extents_of_results_follow_from_those_of_arguments(
    text: str, shapes: list[tuple[int, ...]], expected: tuple[int, ...]
) -> None:
    target = Target.of("cpu")
    with target.tvm:
        programs = output_sizes(compose(function(text), target))
    assert programs is not None
    assert tuple(evaluated(program, shapes) for program in programs[0]) == expected


def test_an_extent_that_is_a_sum_binds_the_name_in_it() -> None:
    """The kernel takes `3 * n` rows, and gives `n`."""
    kernel = function("(%x: Tensor[(3 * n, 2), float32]) { reshape(%x, newshape=[-4, -1, 3, 0]) }")
    target = Target.of("cpu")
    with target.tvm:
        composed = compose(kernel, target)
    assert not composed.sizes.vars
    assert str(composed.inputs[0].shape[0]) == "extent1"


PROGRAM = """
def @main(%x: Tensor[(n, 1, h, w), float32], %k: Tensor[(2, 1, 3, 3), float32]) {
  let %c = nn.conv2d(%x, %k, strides=[2, 2], padding=[1, 1, 1, 1], channels=2, kernel_size=[3, 3]);
  let %p = mean(%c, axis=[2, 3]);
  let %r = reshape(nn.relu(%c), newshape=[-1, 0]);
  (%p, nn.softmax(%r))
}
"""


@pytest.mark.parametrize(("executor", "ending"), [("vm", ".rx"), ("aot", ".so")])
def test_programs_with_named_sizes_are_built_saved_and_loaded(
    executor: str, ending: str, tmp_path: Path
) -> None:
    module = relay.parse('#[version = "0.0.5"]' + PROGRAM)
    exe = relay_explorer.build(module, executor=executor, opt_level=2, quiet=True)
    exe.save(tmp_path / f"program{ending}")
    loaded = relay_explorer.load(tmp_path / f"program{ending}")
    reference = Interpreter(infer_types(module))
    weight = np.linspace(-1, 1, 18, dtype="float32").reshape(2, 1, 3, 3)
    for shape in ((1, 1, 4, 7), (3, 1, 5, 2)):
        x = np.linspace(-1, 2, int(np.prod(shape)), dtype="float32").reshape(shape)
        expected: Any = reference.call("main", [x, weight])
        for program in (exe, loaded):
            for actual, value in zip(program(x, weight), expected, strict=True):
                np.testing.assert_allclose(actual, value, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # One name is one size, and others follow from it.
        (
            "(%x: Tensor[(17 * n, 2), float32], %y: Tensor[(n, 17, 2), float32]) "
            "{ add(reshape(%x, newshape=[-1, 17, 2]), %y) }",
            "",
        ),
        ("(%x: Tensor[(n, 2), float32], %y: Tensor[(n, 2), float32]) { add(%x, %y) }", "x0 y0"),
        ("(%x: Tensor[(n, 2), float32], %y: Tensor[(?, 2), float32]) { add(%x, %y) }", "x0 y0"),
        ("(%x: Tensor[(floordiv(8, n - 6)), float32]) { exp(%x) }", ""),
        # A reshape fixes a product, and none of its factors.
        ("(%x: Tensor[(?, ?, ?), float32]) { reshape(%x, newshape=[0, 1, 16]) }", ""),
    ],
)
def test_which_sizes_must_agree(text: str, expected: str) -> None:
    shown = [
        " ".join("xy"[number] + str(axis) for number, axis in constraint.places)
        + ("" if constraint.number is None else f"={constraint.number}")
        for constraint in shape_constraints(function(text))
    ]
    assert ", ".join(shown) == expected


def test_a_name_stands_for_one_extent_even_where_a_broadcast_would_be_possible() -> None:
    (constraint,) = shape_constraints(
        function("(%x: Tensor[(n), float32], %y: Tensor[(n), float32]) { add(%x, %y) }")
    )
    assert constraint.ones == frozenset()
