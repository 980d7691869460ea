"""The exercise `schedule_matmul`: a matrix multiplication as TVM's loops, which an answer schedules; the
properties of the resulting loops; and their machine code.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any

from ...lower.compose import Composed, compose
from ...lower.require import tvm
from ...lower.schedules import Scheduled
from ...lower.targets.target import Target
from ..machine_code import machine_code

Shape = tuple[int, int, int]  # rows of A, columns of B, and the reduction axis


def registers(lanes: int) -> int:
    """Return the number of vector registers of a processor with that many float32 lanes: 32 with AVX-512
    and on ARM, 16 with AVX.
    """
    return 16 if lanes == 8 else 32


def host() -> Target:
    return Target.of("cpu")


@lru_cache(64)
def product(shape: Shape) -> Composed:
    """Build `nn.matmul` of two float32 matrices, as the compiler passes it to a schedule."""
    from ...ir.expr import Function
    from ...text import parse

    m, n, k = shape
    text = (
        f"def @main(%A: Tensor[({m}, {k}), float32], %B: Tensor[({k}, {n}), float32]) {{ nn.matmul(%A, %B) }}"
    )
    main = parse(f'#[version = "0.0.5"]\n{text}')["main"]
    assert isinstance(main, Function)
    return compose(main, host(), "matmul")


def start_schedule(shape: Shape) -> tuple[Any, Any]:
    """Start a schedule of the product; return it with the product's block."""
    composed = product(shape)
    sch = tvm().s_tir.Schedule(composed.mod, error_render_level="fast")
    sch.work_on(composed.name)
    assert composed.anchor is not None
    return sch, sch.get_sblock(composed.anchor.blocks[-1])


def scheduled(shape: Shape, schedule: Callable[..., Any], lanes: int) -> Scheduled:
    """Schedule the product by an answer, which changes `sch` or returns a schedule. Its error is raised as
    a StepError, with the steps before it.
    """
    sch, block = start_schedule(shape)
    try:
        inputs = schedule(sch, block, lanes, registers(lanes))
    except Exception as error:
        raise StepError(Scheduled(product(shape), sch.mod, sch.trace, "yours")) from error
    sch = sch if inputs is None else inputs
    if not isinstance(sch, tvm().s_tir.Schedule):
        raise NotAScheduleError(type(inputs).__name__)
    return Scheduled(product(shape), sch.mod, sch.trace, "yours")


class StepError(Exception):
    """The answer raised an error, its cause; `scheduled` is the schedule up to that point."""

    def __init__(self, scheduled_product: Scheduled) -> None:
        super().__init__("the schedule was not finished")
        self.scheduled = scheduled_product


class NotAScheduleError(TypeError):
    """The answer returned something other than a schedule."""


# -- machine code


def serial(scheduled_product: Scheduled) -> Scheduled:
    """Restrict a schedule to one core: repeat all of its steps except those that parallelize loops."""
    trace = scheduled_product.trace
    remaining = [step for step in trace.insts if str(step.kind.name) != "Parallel"]
    sch = tvm().s_tir.Schedule(scheduled_product.composed.mod)
    sch.work_on(scheduled_product.composed.name)
    tvm().s_tir.schedule.Trace(remaining, trace.decisions).apply_to_schedule(sch, remove_postproc=False)
    return replace(scheduled_product, mod=sch.mod, trace=sch.trace)


def runs(scheduled_product: Scheduled) -> Callable[..., Any]:
    """Compile to machine code, a function of three TVM tensors: A, B and C."""
    code: Callable[..., Any] = machine_code(scheduled_product)[scheduled_product.composed.name]
    return code


def explorer(scheduled_product: Scheduled, title: str) -> Any:
    """Open the lowering explorer of an answer's schedule, step by step."""
    from ...explorer import explore
    from ...lower.runtime.kernel import Kernel

    entry = {"function": scheduled_product.composed.function, "rule": scheduled_product.rule}
    kernel = Kernel("matmul", scheduled_product.composed.name, "", scheduled_product.composed.target, entry)
    kernel.scheduled = scheduled_product
    return explore(kernel, view="lowering", title=title)


@cache
def matrices(shape: Shape) -> tuple[Any, Any, Any]:
    """Return A, B, and their product by NumPy: small integers, so that the order of summation does not
    matter.
    """
    import numpy as np

    m, n, k = shape
    rng = np.random.default_rng(m * 10_007 + n * 101 + k)
    a = rng.integers(-4, 5, (m, k)).astype("float32")
    b = rng.integers(-4, 5, (k, n)).astype("float32")
    return a, b, a @ b
