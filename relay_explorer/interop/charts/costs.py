"""Charts of the costs of programs: operator by operator, and after each pass of a pipeline."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from ...analysis.cost import Cost, call_cost, nbytes, total_cost
from ...ir.errors import RelayError
from ...ir.expr import Call, Expr, Function
from ...ir.module import IRModule
from ...ir.op import Op
from ...ir.walk import post_order
from ...transform import Pass, PassContext, Sequential
from ...typing import infer_types
from .style import BYTES, FLOPS, SECONDS, amount, describe, listed, prepared, ranking, share, unit

MEASURES = ("flops", "bytes")
OF_PASSES = ("time", "flops", "bytes", "kernels", "expressions")


def plot_costs(
    program: IRModule | Function, ax: Any = None, *, by: str = "flops", most: int = 12, theme: str = "light"
) -> Any:
    """Draw what each operator of a program costs, in all its calls together, the most expensive first.

    `by` is "flops" (floating-point operations) or "bytes" (read and written, as if nothing were fused). At
    most `most` operators have a bar of their own; one more stands for the others. Return the Axes.
    """
    if by not in MEASURES:
        raise RelayError(f"there is no cost {by!r:.60}", help=["there are 'flops' and 'bytes'"])
    module = program if isinstance(program, IRModule) else IRModule.from_expr(program)
    totals: dict[str, int] = {}
    for call in _calls(infer_types(module)):
        assert isinstance(call.op, Op)
        totals[call.op.name] = totals.get(call.op.name, 0) + int(getattr(call_cost(call), by))
    rows = sorted([(name, cost) for name, cost in totals.items() if cost], key=lambda row: -row[1])
    shown = rows[:most]
    if len(rows) > most:
        shown.append((f"{len(rows) - most} others", sum(cost for _, cost in rows[most:])))
    total = sum(cost for _, cost in rows) or 1
    units = FLOPS if by == "flops" else BYTES
    size, name = unit(max([cost for _, cost in shown], default=1), units)
    with prepared(ax, theme, 1.2 + 0.3 * len(shown)) as (axes, colors):
        ranking(
            axes, colors, [name for name, _ in shown], [cost / size for _, cost in shown],
            [f"{amount(cost, units)}, {share(cost / total)}" for _, cost in shown],
        )  # fmt: skip
        axes.set_xlabel(name, loc="right")
        what = "Floating-point operations" if by == "flops" else "Bytes read and written"
        axes.set_title(f"{what} of each operator", loc="left")
    return axes


def plot_passes(
    module: IRModule,
    passes: Sequence[Pass] | str,
    ax: Any = None,
    *,
    what: str = "bytes",
    theme: str = "light",
) -> Any:
    """Draw what each pass of a pipeline changes: one bar for the program before all passes,
    and one after each pass.

    `what` is "bytes" or "flops" (of the whole program; a kernel counts as one operator), "kernels" (kernels
    and calls of operators outside of them), "expressions", or "time", the seconds that each pass takes.
    `passes` may be text, as for `explore`. Return the Axes.
    """
    if what not in OF_PASSES:
        raise RelayError(f"there is no chart {what!r:.60}", help=[f"there are {', '.join(OF_PASSES)}"])
    pipeline = Sequential(passes)
    names, values = ([], []) if what == "time" else (["before"], [_measured(module, what)])
    with PassContext(opt_level=4):
        for step in pipeline.passes:
            start = time.perf_counter()
            module = Sequential([step])(module)
            seconds = time.perf_counter() - start
            names.append(str(step))
            values.append(seconds if what == "time" else _measured(module, what))
    units: Any = {"time": SECONDS, "flops": FLOPS, "bytes": BYTES}.get(what, ((1.0, what),))
    size, name = unit(max([*values, 0]), units)
    with prepared(ax, theme, 1.2 + 0.32 * len(names)) as (axes, colors):
        words = [f"{value / size:,.4g}" for value in values]
        ranking(axes, colors, names, [value / size for value in values], words, "hue-purple")
        describe(axes, f"Bars, in {name}. {listed(zip(names, words))}")
        axes.set_xlabel(name, loc="right")
        axes.set_title("Time of each pass" if what == "time" else "The program after each pass", loc="left")
    return axes


def _calls(module: IRModule) -> list[Call]:
    """Return the calls of operators in a typed module, each shared one once."""
    nodes = [node for function in module.functions.values() for node in post_order(function)]
    return list(dict.fromkeys(n for n in nodes if isinstance(n, Call) and isinstance(n.op, Op)))


def _measured(module: IRModule, what: str) -> float:
    """Measure a program."""
    typed = infer_types(module)
    if what == "expressions":
        return float(sum(len(post_order(function)) for function in module.functions.values()))
    if what == "flops":
        return float(total_cost(typed).flops)
    units = _kernels(typed)
    return float(len(units)) if what == "kernels" else float(sum(cost.bytes for cost in units))


def _kernels(module: IRModule) -> list[Cost]:
    """Return the traffic of each kernel, and of each operator that is called outside of one."""
    inside: set[Expr] = set()
    nodes = [node for function in module.functions.values() for node in post_order(function)]
    for node in nodes:
        if isinstance(node, Function) and "Primitive" in node.attrs:
            inside.update(post_order(node.body))
    costs = []
    for node in dict.fromkeys(nodes):
        if not isinstance(node, Call) or node in inside:
            continue
        if isinstance(node.op, Function) and "Primitive" in node.op.attrs:
            read = sum(nbytes(arg._checked_type) for arg in node.args)
            costs.append(Cost(0, read, nbytes(node._checked_type)))
        elif isinstance(node.op, Op):
            costs.append(call_cost(node))
    return costs
