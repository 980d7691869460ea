"""The data of a measured run: its kernels under the machine's limits (the roofline), its launches in time,
and some of its kernels at every level.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.errors import RelayError
from ...lower.codegen.compile_kernel import function_of
from ...lower.codegen.levels import operators
from ...lower.profiling.measurement import MeasuredKernel, Measurement
from ...lower.runtime.kernel import Kernel
from ..format import Row, RowKind, Token, TokenClass
from ..lowering.view import lowering_view
from . import sentences as say
from .format import Level, Machine, Rule, RunKernel, RunLaunch, RunView

OPENED = 3  # the number of kernels with the most time that a page shows at every level by default
LAUNCHES = 20_000  # the most that a page shows of a run
Choice = str | int | Sequence[str | int] | None

# How the marks of each rule are drawn, in the order of the legend.
RULES = (
    Rule("blocked", "circle", "blue"), Rule("winograd", "hex", "purple"),
    Rule("depthwise", "diamond", "teal"), Rule("dense", "rect", "orange"),
    Rule("reduction", "trapezium", "olive"), Rule("fallback", "round", "pink"),
    Rule("int8_blocked", "circle", "brown"), Rule("int8_dense", "rect", "brown"),
    Rule("int8_batch", "trapezium", "brown"), Rule("int8_depthwise", "diamond", "brown"),
    Rule("nbits", "rect", "olive"),
    Rule("gpu", "parallelogram", "sky"), Rule("host", "bar", "red"),
)  # fmt: skip
_OTHER = Rule("other", "bar", "grey")


def run_view(
    measured: Measurement, kernel: Choice = None, title: str = "", compiled: Sequence[Kernel] | None = None
) -> RunView:
    """Build the view of a measurement. `kernel` selects the kernels that the page shows at every level: a
    name or a number (in the order of the measurement), which is shown first; several of them, none of them
    (`[]`), or, without it, the OPENED that take most of the time. `compiled` are the kernels themselves, if
    they are available; otherwise they are compiled again.
    """
    if len(measured.launches) > LAUNCHES:
        raise RelayError(
            f"the run calls kernels {len(measured.launches):,} times, but a page shows at most {LAUNCHES:,}",
            help=["measure it with a shorter list or a smaller tree: explore(…, measure=True, args=[…])"],
        )
    times = [sum(launch.ns for launch in measured.calls(n)) for n in range(len(measured.kernels))]
    order = sorted([n for n, ns in enumerate(times) if ns], key=lambda n: -times[n])
    total = max(1, sum(times))
    rules = [r for r in RULES if any(measured.kernels[n].rule == r.name for n in order)]
    if any(measured.kernels[n].rule not in [r.name for r in rules] for n in order):
        rules.append(_OTHER)
    rows, kernels = [], []
    for rank, number in enumerate(order):
        measured_kernel = measured.kernels[number]
        names = operators(function_of(measured_kernel.text))
        rows.append(_row(rank, names, measured_kernel))
        at = next((n for n, r in enumerate(rules) if r.name == measured_kernel.rule), len(rules) - 1)
        kernels.append(_kernel(measured, rank, number, names, times[number], total, at))
    rank_of = {number: rank for rank, number in enumerate(order)}
    least = sum(k.least for k in kernels)
    opened = _opened(measured, kernel, order)
    available = compiled or ()
    levels = [
        Level(rank_of[n], lowering_view(available[n] if n < len(available) else measured.remade(n)))
        for n in opened
    ]
    most = measured.limits
    return RunView(
        title=title or measured.program,
        summary=say.summary(measured, least),
        rows=tuple(rows),
        machine=Machine(
            measured.machine, measured.target, most.threads, round(most.flops), round(most.bandwidth)
        ),
        ns=measured.ns,
        runs=measured.runs,
        say=say.run(measured, [times[n] for n in order]),
        why=say.run_why(measured, least, sum(times)),
        rules=tuple(rules),
        kernels=tuple(kernels),
        launches=tuple([RunLaunch(rank_of[n.kernel], n.start, n.ns) for n in measured.launches]),
        levels=tuple(levels),
        start=levels[0][0] if isinstance(kernel, (str, int)) else -1,
    )


def _kernel(
    measured: Measurement, rank: int, number: int, names: Sequence[str], ns: int, total: int, rule: int
) -> RunKernel:
    kernel, most = measured.kernels[number], measured.limits
    calls = len(measured.calls(number))
    least = max(1, round(calls * most.seconds(kernel.flops, kernel.traffic) * 1e9))
    by_arithmetic = kernel.flops >= most.ridge * kernel.traffic
    return RunKernel(
        rank, kernel.name, rule, kernel.flops, kernel.traffic, ns, calls, least, by_arithmetic,
        say.kernel(rank + 1, names, ns, calls, total), say.limited(kernel, ns, calls, least, by_arithmetic),
    )  # fmt: skip


def _row(rank: int, names: Sequence[str], kernel: MeasuredKernel) -> Row:
    tokens = []
    for name in names:
        tokens += [Token(TokenClass.PLAIN, " · "), Token(TokenClass.OPERATOR, name, rank)]
    result = [Token(TokenClass.PLAIN, " → " if names else ""), Token(TokenClass.TYPE, kernel.result)]
    return Row(RowKind.BINDING, 0, (*tokens[1:], *result))


def _opened(measured: Measurement, kernel: Choice, order: Sequence[int]) -> list[int]:
    """Return the numbers of the kernels that are shown at every level."""
    if kernel is None:
        return [n for n in order if _has_levels(measured, n)][:OPENED]
    selected = [kernel] if isinstance(kernel, (str, int)) else list(kernel)
    names = [k.name for k in measured.kernels]
    opened = []
    for one in selected:
        at = names.index(one) if one in names else one
        if not isinstance(at, int) or isinstance(at, bool) or at not in order:
            shown = ", ".join(f"`{name}`" for name in names[:8])
            more = f" and {len(names) - 8} more" if len(names) > 8 else ""
            raise RelayError(
                f"the measured run has no kernel {one!r:.60}",
                help=[f"its kernels are numbered 0 to {len(names) - 1}: {shown}{more}"],
            )
        opened.append(at)
    return list(dict.fromkeys(opened))


def _has_levels(measured: Measurement, number: int) -> bool:
    return measured.kernels[number].rule != "host"
