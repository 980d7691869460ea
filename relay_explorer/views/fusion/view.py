"""The fusion explorer's data: which operators the pass fuses into one kernel, decision by decision; and what
it does under other limits, computed in advance by the same pass.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from ...analysis.cost import call_cost, nbytes
from ...analysis.dataflow_graph import DataflowGraph, FlowNode
from ...analysis.effects import effects
from ...ir.errors import RelayError
from ...ir.expr import Call, Constant, Expr, Function, Tuple, TupleGetItem, Var
from ...ir.module import IRModule
from ...ir.op import Op, OpPattern
from ...ir.recorder import Recorder
from ...ir.show import short_type
from ...ir.walk import post_order
from ...transform.fuse_ops.groups import Decision, Limits, Partition
from ...typing import infer_types
from ..rows import ProgramRows, program_rows
from ..words import count, counted
from . import sentences as say
from .format import (
    BeforeAfter,
    FusedFunction,
    FusionMark,
    FusionNode,
    FusionStep,
    FusionView,
    Kernel,
    OtherPattern,
    Variant,
)
from .order import Regrouping
from .tally import Tally

MAX_REFUSED = 4_000  # decisions that are shown, besides those that merge
MAX_FUNCTIONS = 12
_REPORTED = (Call, Tuple, TupleGetItem)
MAX_SUPPOSED = 3  # variants in which an operator has another pattern: each adds a run to the data
MAX_SUPPOSED_IF_LARGE = 1
LARGE = 200  # nodes; larger functions have no variants with smaller kernels either


class _Scenario(NamedTuple):
    """A variant to compute: its name, the limits, and the patterns that differ."""

    name: str
    limits: Limits
    patterns: Mapping[str, int]


Partitioning = Callable[[Function, DataflowGraph], Partition]


def fusion_view(
    module: IRModule, limits: Limits | None = None, title: str = "", own: Partitioning | None = None
) -> FusionView:
    """Build the view of the fusion of a module's functions that compute something, `@main` first. Types are
    inferred; functions are fused as they are, so passes that should run before fusion must have run. `own`
    groups the operators instead of the pass; the view then has only one more variant, without fusion.
    """
    typed = infer_types(module)
    functions = {var.name_hint: f for var, f in typed.functions.items() if isinstance(f, Function)}
    if not functions:
        raise RelayError("the module has no function to fuse")
    program = program_rows(typed)
    regrouping = Regrouping(program, effects(typed))
    names = sorted(functions, key=lambda name: name != "main")
    busy = [name for name in names if any(map(_computes, post_order(functions[name])))] or names
    builders = [_Builder(program, regrouping, functions[name], own) for name in busy[:MAX_FUNCTIONS]]
    fused = [b.fused(f"@{name}", limits or Limits()) for name, b in zip(busy, builders)]

    def number(expr: Expr) -> int:
        return next((b.graph[expr].index for b in builders if expr in b.graph), -1)

    return FusionView(
        title=title or "fusion",
        summary=fused[0].summary,
        rows=program.filled(number),
        patterns=say.PATTERNS,
        functions=tuple(fused),
    )


class _Builder:
    def __init__(
        self, program: ProgramRows, regrouping: Regrouping, function: Function, own: Partitioning | None
    ) -> None:
        self.function = function
        self.own = own
        self.program = program
        self.regrouping = regrouping
        self.graph = DataflowGraph(function)
        self.base = [node.pattern for node in self.graph.nodes]
        self.bytes = [nbytes(node.expr._checked_type) for node in self.graph.nodes]
        self.sources: list[list[int]] = [[] for _ in self.graph.nodes]
        for node in self.graph.nodes:
            for user, _ in node.uses:
                self.sources[user.index].append(node.index)
        self._computing = [_computes(node.expr) for node in self.graph.nodes]
        self.flops = [
            call_cost(node.expr).flops if isinstance(node.expr, Call) else 0 for node in self.graph.nodes
        ]

    def fused(self, name: str, limits: Limits) -> FusedFunction:
        """Fuse the function as the pass does, and as it would under other limits."""
        requested = self._variant(_Scenario("as asked", limits, {}), requested=True)
        variants = [requested, *(self._variant(s) for s in self._what_if(limits, requested))]
        first = last = self.program.row(self.function)
        while self.program.source[last].end > last:
            last = self.program.source[last].end
        nodes = tuple(map(self._node, self.graph.nodes))
        return FusedFunction(name, self._summary(requested), first, last, nodes, tuple(variants))

    def _row(self, expr: Expr) -> int:
        """Return the row that defines an expression; -1 for a constant that is written where it is used."""
        return -1 if isinstance(expr, Constant) else self.program.row(expr)

    def _node(self, node: FlowNode) -> FusionNode:
        expr = node.expr
        return FusionNode(
            self._row(expr), self.program.name(expr) or "", label(expr), self.base[node.index],
            short_type(expr.checked_type), self.bytes[node.index],
            tuple(user.index for user, _ in node.uses), node.held,
            *self._alone(node.index),
        )  # fmt: skip

    def _alone(self, index: int) -> tuple[str, int, int, int]:
        """Return an operator's part of a kernel's name, with its memory traffic and operations as a kernel of
        its own.
        """
        expr = self.graph.nodes[index].expr
        if not _computes(expr):
            return "", 0, 0, 0
        return short(_operator(expr)), *self._traffic([index]), self.flops[index]

    def name(self, index: int) -> str:
        """Return the name of a node in sentences: `%3 add`, `add`."""
        expr = self.graph.nodes[index].expr
        name = self.program.name(expr)
        return f"{name} {label(expr)}" if name and not isinstance(expr, Var) else name or label(expr)

    # -- what if

    def _what_if(self, limits: Limits, requested: Variant) -> list[_Scenario]:
        """Return other variants: no fusion, small kernels, other patterns of operators that prevent it."""
        scenarios = [_Scenario("no fusion", limits._replace(level=0), {})]
        if self.own is not None:
            return scenarios
        largest = max((len(k.nodes) for k in requested.kernels), default=1)
        large = len(self.graph.nodes) > LARGE
        for depth in () if large else (2, 4):
            if depth < largest:
                scenarios.append(_Scenario(f"at most {depth} in a kernel", limits._replace(depth=depth), {}))
        blamed = Counter(self._blamed(step) for step in requested.steps if step.mark == FusionMark.REFUSED)
        blamed.pop("", None)
        supposed = MAX_SUPPOSED_IF_LARGE if large else MAX_SUPPOSED
        for name, _ in blamed.most_common(supposed):
            pattern = Op.get(name).pattern
            other = OpPattern.INJECTIVE if pattern > OpPattern.INJECTIVE else OpPattern.OPAQUE
            scenarios.append(_Scenario(f"{short(name)} were {say.WORDS[other]}", limits, {name: other}))
        return scenarios

    def _blamed(self, step: FusionStep) -> str:
        """Return the operator that caused a merge to be refused."""
        at = step.obstacle if step.obstacle >= 0 else step.node
        expr = self.graph.nodes[at].expr
        return expr.op.name if isinstance(expr, Call) and isinstance(expr.op, Op) else ""

    # -- one variant

    def _variant(self, scenario: _Scenario, requested: bool = False) -> Variant:
        graph = DataflowGraph(self.function, scenario.patterns) if scenario.patterns else self.graph
        with Recorder(Decision) as recorder:
            if requested and self.own is not None:
                partition = self.own(self.function, graph)
            else:
                partition = Partition(graph, scenario.limits)
        dominators = partition.dominators
        steps = self._steps(partition, recorder.events)
        kernels = self._kernels(partition)
        before = [n for n, node in enumerate(graph.nodes) if _computes(node.expr)]
        moved = sum(sum(self._traffic([n])) for n in before)
        launches = BeforeAfter(len(before), len(kernels))
        traffic = BeforeAfter(moved, sum(k.read + k.written for k in kernels))
        parents = dominators.parent if dominators else [None] * len(graph.nodes)
        changed = [
            OtherPattern(n, node.pattern)
            for n, node in enumerate(graph.nodes)
            if node.pattern != self.base[n]
        ]
        return Variant(
            self._variant_name(scenario, requested),
            _effect(launches, traffic), tuple(changed),
            tuple(-1 if p is None else p for p in parents),
            tuple(steps), tuple(kernels), launches, traffic, self._order(kernels),
        )  # fmt: skip

    def _variant_name(self, scenario: _Scenario, requested: bool) -> str:
        if not requested:
            return scenario.name
        return f"level {scenario.limits.level}" if self.own is None else "your fuser"

    def _order(self, kernels: Sequence[Kernel]) -> tuple[int, ...]:
        """Order the rows so that those of each kernel stand together."""
        rows = [
            (self._row(self.graph.nodes[n].expr), k) for k, kernel in enumerate(kernels) for n in kernel.nodes
        ]
        return self.regrouping.order({row: k for row, k in rows if row >= 0})

    def _steps(self, partition: Partition, decisions: Sequence[Decision]) -> list[FusionStep]:
        total = counted(sum(map(_computes, (n.expr for n in partition.graph.nodes))), "operator")
        begin = (
            f"Every operator is a group of its own: **{total}**. Each may be fused into the kernel of its "
            "post-dominator, where all its uses meet.",
        )
        tally = Tally(self._computing, self._traffic)
        steps = [FusionStep(FusionMark.BEGIN, -1, -1, -1, begin, (), -1, (), *tally.totals)]
        patterns = [node.pattern for node in partition.graph.nodes]
        narrator = say.Narrator(
            self.name, patterns.__getitem__, lambda n: _most_opaque_user(partition, n), partition.limits
        )
        refused: set[tuple[int, str]] = set()
        for decision in decisions:
            expr = partition.graph.nodes[decision.node].expr
            if not decision.fused:
                # A merge may be refused for the same reason as in an earlier phase.
                again = (decision.node, decision.rule) in refused
                if again or not isinstance(expr, _REPORTED) or len(refused) == MAX_REFUSED:
                    continue
                refused.add((decision.node, decision.rule))
            elif decision.target is not None:
                tally.merge(decision.merged, decision.target)
            merged = tuple(n for n in decision.merged if self._shown(n))
            if decision.fused and not merged:  # only constants, which are fused with their users
                continue
            mark = FusionMark.MERGED if decision.fused else FusionMark.REFUSED
            if decision.target is None:
                mark = FusionMark.NOTHING
            sentence = narrator.decision(decision)
            steps.append(
                FusionStep(
                    mark, decision.phase, decision.node,
                    -1 if decision.target is None else decision.target, sentence,
                    say.rule(decision), _obstacle(partition, decision), merged,
                    *tally.totals,
                )
            )  # fmt: skip
        steps.append(
            FusionStep(FusionMark.END, -1, -1, -1, self._ended(partition), (), -1, (), *tally.totals)
        )
        return steps

    def _ended(self, partition: Partition) -> tuple[str, ...]:
        kernels = len(self._kernels(partition))
        return (f"The groups are kernels now: **{counted(kernels, 'kernel')}**.",)

    def _kernels(self, partition: Partition) -> list[Kernel]:
        groups: dict[int, list[int]] = {}
        for node in partition.graph.nodes:
            root = partition.group_of(node).root.index
            groups.setdefault(root, []).append(node.index)
        kernels = []
        for root, members in sorted(groups.items()):
            if not any(_computes(self.graph.nodes[m].expr) for m in members):
                continue
            read, written = self._traffic(members)
            names = [
                short(_operator(self.graph.nodes[m].expr))
                for m in members
                if _computes(self.graph.nodes[m].expr)
            ]
            flops = sum(self.flops[m] for m in members)
            nodes = tuple(filter(self._shown, members))
            kernels.append(Kernel("·".join(names), nodes, read, written, flops, root))
        return kernels

    def _shown(self, index: int) -> bool:
        return not isinstance(self.graph.nodes[index].expr, Constant)

    def _traffic(self, members: Sequence[int]) -> tuple[int, int]:
        """Return the bytes that a kernel reads from outside, and those that it writes for uses outside."""
        inside = set(members)
        read = {source for member in members for source in self.sources[member] if source not in inside}
        written = 0
        for index in members:
            node = self.graph.nodes[index]
            outside = node.held or any(user.index not in inside for user, _ in node.uses)
            if outside and isinstance(node.expr, (Call, TupleGetItem)):
                written += self.bytes[index]
        return sum(self.bytes[source] for source in read), written

    def _summary(self, requested: Variant) -> str:
        before, after = requested.launches
        moved, left = requested.bytes
        less = round(100 * (1 - left / moved)) if moved else 0
        share = f", {less}% less memory traffic" if less else ""
        verb = "becomes" if before == 1 else "become"
        return f"{counted(before, 'operator')} {verb} {counted(after, 'kernel')}{share}."


def _obstacle(partition: Partition, decision: Decision) -> int:
    """Return the node that prevents a merge: the obstacle that the pass reached, or the user whose pattern is
    too opaque.
    """
    if decision.obstacle is not None:
        return decision.obstacle
    too_opaque = decision.rule in ("not element-wise", "opaque use")
    return _most_opaque_user(partition, decision.node) if too_opaque else -1


def _most_opaque_user(partition: Partition, index: int) -> int:
    """Return the node on the paths from a node to its post-dominator whose use of its operand is the most
    opaque; of several, the first one.

    The post-dominator tree stores how opaque that use is. The search therefore ends at the first such use,
    and skips from a node on the path to its own post-dominator if there is none in between.
    """
    nodes, dominators = partition.graph.nodes, partition.dominators
    assert dominators is not None
    end, most = dominators.parent[index], dominators.pattern[index]
    visited, pending = {index}, [nodes[index]]
    while pending:
        current = pending.pop()
        after = dominators.parent[current.index]
        if current.index != index and dominators.pattern[current.index] < most and after is not None:
            users = [nodes[after]]
        else:
            for user, kind in current.uses:
                if kind == most:
                    return user.index
            users = [user for user, _ in current.uses]
        for user in users:
            if user.index not in visited and user.index != end:
                visited.add(user.index)
                pending.append(user)
    return index


def _effect(launches: tuple[int, int], traffic: tuple[int, int]) -> tuple[str, ...]:
    return (
        "launches {0} → {1}, memory traffic {2} → {3} bytes",
        str(launches[0]), str(launches[1]), count(traffic[0]), count(traffic[1]),
    )  # fmt: skip


def _computes(expr: Expr) -> bool:
    return isinstance(expr, Call) and isinstance(expr.op, Op)


def _operator(expr: Expr) -> str:
    return expr.op.name if isinstance(expr, Call) and isinstance(expr.op, Op) else ""


def short(name: str) -> str:
    """Return an operator's name without its namespace."""
    return name.rpartition(".")[2]


def label(expr: Expr) -> str:
    """Return the label of a node."""
    match expr:
        case Call(op=Op() as op):
            return op.name
        case Call():
            return "a call"
        case TupleGetItem():
            return f".{expr.index}"
        case Var():
            return f"%{expr.name_hint}"
        case Constant():
            return f"constant {expr.data.item()}" if not expr.data.shape else "constant"
    return type(expr).__name__.lower()
