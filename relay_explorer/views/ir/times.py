"""Measured times of expressions: those of the kernels into which the compiler fused them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import prod
from typing import NamedTuple

from ...analysis.cost import weights
from ...ir.expr import Call, Expr, Function, GlobalVar, Var
from ...ir.module import IRModule
from ...ir.ndarray import NDArray, itemsize
from ...ir.types import TensorType
from ...ir.walk import post_order
from ...lower.profiling.measurement import Measurement
from ...lower.profiling.profile import Profile
from .format import Time

Measured = Measurement | Profile
OPT_LEVEL = 3  # of `build`, by default
MOST_UNPLACED = 0.25  # of the time: more means that the program was compiled in another way


class Times(NamedTuple):
    """Times of expressions; `ns`, the sum over all kernels; and `unplaced`, the part of it in kernels that no
    expression of the program became, such as transforms of layouts.
    """

    times: tuple[Time, ...]
    ns: int
    unplaced: int


def measure(module: IRModule, args: Sequence[object]) -> Measured:
    """Compile a module for this machine, run it on `args`, or else on random values, and time its kernels."""
    from ...lower.build import build

    exe = build(module, quiet=True)
    return exe.measure(*args)


def kernel_times(module: IRModule, number: Mapping[Expr, int], flops: Sequence[int], run: Measured) -> Times:
    """Place the time of each kernel at one expression: of those that were fused into it, the one with the
    most operations.

    A measurement knows its kernels as text. The module is therefore prepared for the same target again, which
    gives functions of the same text, whose expressions know those that they came from. The program may have
    been compiled with values for its weights, which gives other kernels, so this is tried, too.
    """
    times = _placed(module, number, flops, run)
    if times.unplaced <= MOST_UNPLACED * times.ns:
        return times
    return min(times, _placed(_with_weights(module), number, flops, run), key=lambda t: t.unplaced)


def _with_weights(module: IRModule) -> IRModule:
    """Return the module with some values for the learned parameters of `@main`."""
    from ...ir.bind import bind_params_by_name
    from ...typing.infer import infer_types

    typed = infer_types(module)
    main = typed["main"]
    values = {}
    for weight in weights([main]):
        type_ = weight._checked_type
        if isinstance(weight, Var) and weight in main.params and isinstance(type_, TensorType):
            shape = type_.concrete_shape
            values[weight.name_hint] = NDArray(shape, type_.dtype, bytes(prod(shape) * itemsize(type_.dtype)))
    bound = typed.copy()
    bound["main"] = bind_params_by_name(main, values)
    return bound


def _placed(module: IRModule, number: Mapping[Expr, int], flops: Sequence[int], run: Measured) -> Times:
    launches = _launches(run)
    calls = _kernel_calls(module, run)
    times: dict[int, int] = defaultdict(int)
    total = unplaced = 0
    for text, durations in launches.items():
        total += sum(durations)
        places = [_place(kernel, number, flops) for kernel in calls.get(text, ())]
        if len(places) != len(durations):  # in a loop, or in a branch that was not taken
            durations = [sum(durations) // max(1, len(places))] * len(places)
        for place, ns in zip(places, durations, strict=True):
            if place is None:
                unplaced += ns
            else:
                times[place] += ns
        if not places:
            unplaced += sum(launches[text])
    return Times(tuple(Time(node, ns) for node, ns in sorted(times.items())), total, unplaced)


def _launches(run: Measured) -> dict[str, list[int]]:
    """Return the nanoseconds of each call of a kernel, by the kernel's text."""
    launches: dict[str, list[int]] = defaultdict(list)
    if isinstance(run, Measurement):
        for launch in run.launches:
            launches[run.kernels[launch.kernel].text].append(launch.ns)
    else:
        for step in run.steps:
            launches[step.kernel.text].append(round(step.seconds * 1e9))
    return launches


def _kernel_calls(module: IRModule, run: Measured) -> dict[str, list[Function]]:
    """Return the kernel of each call in the prepared module, in order, by the kernels' texts."""
    from ...lower.kernels import kernel_text
    from ...lower.passes.invariant import with_constants_in
    from ...lower.passes.named_kernels import is_kernel
    from ...lower.prepare import prepared, with_params

    if isinstance(run, Measurement):
        target = run.compiled_for
    elif run.steps:
        target = run.steps[0].kernel.target
    else:
        return {}
    ready = prepared(with_constants_in(with_params(module, None)), target, OPT_LEVEL)
    texts: dict[Expr, str] = {}
    calls: dict[str, list[Function]] = defaultdict(list)
    for function in ready.functions.values():
        for node in post_order(function):
            kernel = node.op if isinstance(node, Call) else None
            if isinstance(kernel, GlobalVar):
                kernel = ready[kernel]
            if isinstance(kernel, Function) and is_kernel(kernel):
                text = texts.get(kernel) or kernel_text(kernel)
                texts[kernel] = text
                calls[text].append(kernel)
    return calls


def _place(kernel: Function, number: Mapping[Expr, int], flops: Sequence[int]) -> int | None:
    """Return the expression of the program that costs most among those from which a kernel was formed."""
    pending: list[Expr] = [node for node in post_order(kernel.body) if isinstance(node, Call)]
    seen = {id(node) for node in pending}
    places = []
    for node in pending:  # which grows while it is walked
        if isinstance(node, Call) and node in number:
            places.append(number[node])
            continue
        for origin in node.origin:
            if id(origin) not in seen:
                seen.add(id(origin))
                pending.append(origin)
    return max(places, key=lambda place: (flops[place], place), default=None)
