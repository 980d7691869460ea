"""Report what each call of an operator costs: operations, bytes, and operations per byte."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, ClassVar, NamedTuple

from ...ir.lazy_dataclass import dataclass
from ..format import View
from ..registry import declare
from ..schema import Amount, Index, RowIndex
from ..source import Source
from ..words import count, counted


class OperatorCost(NamedTuple):
    """An operator: how often it is called, and the floating-point operations and bytes of all its calls."""

    name: str
    calls: Amount
    flops: Amount
    bytes: Amount


class CallCost(NamedTuple):
    """A call: its row, its operator, and its floating-point operations and bytes, read and written."""

    row: RowIndex
    operator: Annotated[int, Index("operators")]
    flops: Amount
    bytes: Amount


@dataclass(frozen=True)
class CostsView(View):
    """The costs of a program, call by call and operator by operator, the most expensive operator first."""

    kind: ClassVar[str] = "costs"
    operators: tuple[OperatorCost, ...]
    calls: tuple[CallCost, ...]

    def beside(self) -> dict[int, str]:
        """Return, by row, the operations and bytes of its call."""
        return {
            call.row: f"{counted(call.flops, 'FLOP')}, {counted(call.bytes, 'byte')}" for call in self.calls
        }


@declare("costs", "operations and memory traffic of each call", accepts=("Inference", "Evaluation"))
def build(source: Source) -> CostsView:
    """Build the view of a program's costs."""
    from ..ir.view import ir_view

    program = ir_view(source.module, source.title)
    nodes = [node for node in program.nodes if node.row >= 0 and (node.flops or node.bytes)]
    flops, moved, times = Counter[str](), Counter[str](), Counter(node.label for node in nodes)
    for node in nodes:
        flops[node.label] += node.flops
        moved[node.label] += node.bytes
    names = sorted(times, key=lambda name: (-flops[name], -moved[name], name))
    operators = tuple(OperatorCost(name, times[name], flops[name], moved[name]) for name in names)
    position = {name: number for number, name in enumerate(names)}
    calls = tuple(CallCost(node.row, position[node.label], node.flops, node.bytes) for node in nodes)
    rows = tuple(
        row._replace(tokens=tuple(token._replace(ref=-1) for token in row.tokens), node=-1)
        for row in program.rows
    )
    return CostsView(program.title, _summary(operators), rows, operators, calls)


def _summary(operators: tuple[OperatorCost, ...]) -> str:
    if not operators:
        return "The program calls no operator, so it has no cost."
    total = sum(operator.flops for operator in operators)
    moved = sum(operator.bytes for operator in operators)
    first = operators[0]
    share = f"; {first.name} does {first.flops / total:.0%} of the operations" if total else ""
    calls = sum(operator.calls for operator in operators)
    return (
        f"{counted(calls, 'call')}: {count(total)} FLOPs, {counted(moved, 'byte')} read and written{share}."
    )
