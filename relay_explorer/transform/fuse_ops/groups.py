"""Group operators into kernels, as the paper's section on operator fusion describes, with the reason for each
decision.

Every node of the data flow begins as a group of its own. In three phases, each node is considered in
post-order, and may be merged into the group of its immediate post-dominator, with all nodes on the paths
between them:

* phase 1: element-wise work is fused into a convolution or the like that it follows; element-wise and
  broadcast work is fused with what follows it, a reduction included;
* phase 2: injective work, and tuples, are fused with injective work that follows;
* phase 3: injective work is fused into a tuple that is already in a kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ...analysis.dataflow_graph import DataflowGraph, FlowNode, PostDominators
from ...ir.expr import Constant, Function
from ...ir.lazy_dataclass import dataclass
from ...ir.module import IRModule
from ...ir.op import OpPattern
from ...ir.recorder import Event, active
from ...ir.rewrites import Rewrite, emit_rewrite
from .arguments import Arguments

MAX_FUSED = 256  # the default limit on the nodes of a kernel

RULES = {
    "out-fusable": (
        "everything between a complex-out-fusable operator and its post-dominator must be broadcast or "
        "simpler"
    ),
    "not element-wise": "a complex-out-fusable operator is fused only along element-wise uses",
    "broadcast": (
        "element-wise and broadcast operators fuse with what follows, even a reduction or a convolution"
    ),
    "opaque use": "element-wise and broadcast operators fuse only along injective uses and reductions",
    "injective": "injective operators fuse with injective ones, after convolutions have been fused",
    "into a tuple": "injective operators fuse with a tuple that is already in a kernel",
    "reduction": "a reduction ends a kernel",
    "tuple": "nothing fuses with a tuple before the tuple itself is in a kernel",
    "too deep": "relay.FuseOps.max_depth",
    "too many arguments": "relay.max_function_args",
    "held": "its value is also used outside kernels, so it must be a kernel's result",
    "no meeting": "it has no post-dominator, because its uses never meet",
}

# Whether a group may be merged, by its pattern and by whether it is at the end of the path.
Allowed = Callable[[int, bool], bool]


@dataclass(frozen=True, slots=True)
class Decision(Event):
    """A decision, in one phase, about merging a node into its post-dominator.

    `rule` names the rule that merged it, or the reason that it was not: see `RULES`. `obstacle` is the node
    that prevented the merge, if there is one. `merged` are all nodes that joined the group, the node first.
    """

    phase: int
    node: int
    target: int | None
    rule: str
    obstacle: int | None = None
    merged: tuple[int, ...] = ()

    @property
    def fused(self) -> bool:
        return bool(self.merged)


class Group:
    """A set of nodes that become one kernel; `root` is the node that computes its result."""

    __slots__ = ("anchor", "parent", "pattern", "root", "size")

    def __init__(self, node: FlowNode) -> None:
        self.root = node
        self.pattern = node.pattern
        self.anchor = node if node.pattern == OpPattern.OUT_ELEMWISE_FUSABLE else None
        self.parent: Group | None = None
        self.size = 1

    def find(self) -> Group:
        """Return the group that this one has been merged into; itself if it has not been."""
        root = self
        while root.parent is not None:
            root = root.parent
        group = self
        while group.parent is not None and group.parent is not root:  # path compression
            group.parent, group = root, group.parent
        return root


class Limits(NamedTuple):
    """The limits of fusion: the level (0: no fusion), the maximum number of nodes of a kernel, and the
    maximum number of its arguments (0: no limit).
    """

    level: int = 1
    depth: int = MAX_FUSED
    arguments: int = 0


class Partition:
    """The groups of a data flow. Each decision that leads to them is emitted as an event."""

    def __init__(self, graph: DataflowGraph, limits: Limits) -> None:
        self.graph = graph
        self.limits = limits
        self.groups = [Group(node) for node in graph.nodes]
        self._too_deep: set[int] = set()  # nodes whose kernel would have too many nodes
        self._decisions = active(Decision)
        self._rewrites = active(Rewrite)
        self._counter = Arguments(graph, self.groups) if limits.arguments else None
        self.dominators: PostDominators | None = None
        if limits.level > 0:
            self.dominators = PostDominators(graph)
            for phase in range(3):
                for node in graph.nodes:
                    self.consider(node, phase, self.dominators)

    def group_of(self, node: FlowNode) -> Group:
        return self.groups[node.index].find()

    def _decide(
        self, phase: int, node: FlowNode, target: FlowNode | None, rule: str, obstacle: FlowNode | None = None
    ) -> None:
        if self._decisions is not None:
            self._decisions.emit(
                Decision(
                    phase, node.index, None if target is None else target.index, rule,
                    None if obstacle is None else obstacle.index,
                )
            )  # fmt: skip

    def consider(self, node: FlowNode, phase: int, dominators: PostDominators) -> None:
        """Merge a node into the group of its post-dominator, if this phase's rule allows it."""
        own = self.groups[node.index]
        if own.pattern == OpPattern.OPAQUE:
            return
        at = dominators.parent[node.index]
        if at is None:
            if phase == 0:
                self._decide(phase, node, None, "held" if node.held else "no meeting")
            return
        target = self.graph.nodes[at]
        if self._too_large(node, target, phase):
            return
        into = self.groups[at]
        if phase == 2:
            self._into_tuple(node, target)
            return
        if own.find() is into.find():
            return
        if into.pattern == OpPattern.TUPLE:
            self._decide(phase, node, target, "tuple")
            return
        path_pattern = dominators.pattern[node.index]
        if own.pattern == OpPattern.OUT_ELEMWISE_FUSABLE:
            if phase == 0:
                if path_pattern == OpPattern.ELEMWISE:
                    self._merge_if(node, target, phase, "out-fusable", _broadcasts)
                else:
                    self._decide(phase, node, target, "not element-wise")
        elif own.pattern <= OpPattern.BROADCAST:
            if path_pattern <= OpPattern.INJECTIVE or path_pattern == OpPattern.COMM_REDUCE:
                self._merge_if(node, target, phase, "broadcast", _broadcast_sinks)
            else:
                self._decide(phase, node, target, "opaque use")
        elif own.pattern in (OpPattern.INJECTIVE, OpPattern.TUPLE):
            if phase == 1:  # convolutions come first
                self._merge_if(node, target, phase, "injective", _injectives)
        else:
            self._decide(phase, node, target, "reduction")

    def _into_tuple(self, node: FlowNode, target: FlowNode) -> None:
        """Fuse an injective node into a tuple that is inside a kernel already (phase 3)."""
        if self.groups[node.index].pattern > OpPattern.INJECTIVE:
            return
        into = self.groups[target.index]
        root = into.find()
        if into.pattern == OpPattern.TUPLE and root.pattern <= OpPattern.INJECTIVE:
            self._merge_if(node, target, 2, "into a tuple", _injectives)

    def _merge_if(self, node: FlowNode, target: FlowNode, phase: int, rule: str, allowed: Allowed) -> None:
        """Merge the node, and all nodes on the paths to `target`, if the groups on all paths are
        `allowed`.
        """
        path, obstacle = self._paths(node, target, allowed)
        if obstacle is not None:
            self._decide(phase, node, target, f"{rule}: obstacle", obstacle)
            return
        into = self.groups[target.index].find()
        merged = []
        for part in path:
            group = self.groups[part.index].find()
            if group is not into:
                _merge(group, into)
                merged.append(part.index)
                if self._counter is not None:
                    self._counter.merge(group, into)
        if self._decisions is not None:
            self._decisions.emit(Decision(phase, node.index, target.index, rule, None, tuple(merged)))
        if self._rewrites is not None:
            self._emit_merge(merged, target, rule)

    def _emit_merge(self, merged: list[int], target: FlowNode, rule: str) -> None:
        """Emit a merge as a rewrite: what was merged, and the post-dominator into which it was fused."""
        members = [self.graph.nodes[index].expr for index in merged]
        members = [expr for expr in members if not isinstance(expr, Constant)]
        if members:
            sentence = f"{RULES[rule][0].upper()}{RULES[rule][1:]}."
            emit_rewrite(
                self.consider, members, target.expr, sentence=sentence, how="is fused into the kernel of"
            )

    def _paths(
        self, node: FlowNode, target: FlowNode, allowed: Allowed
    ) -> tuple[list[FlowNode], FlowNode | None]:
        """Return the nodes on the paths from `node` to `target`, without `target`; or no nodes and the first
        one whose group may not be merged.
        """
        path, visited = [node], {node.index}
        pending = [user for user, _ in reversed(node.uses)]
        while pending:
            current = pending.pop()
            if current.index in visited:
                continue
            visited.add(current.index)
            if not allowed(self.groups[current.index].find().pattern, current is target):
                return [], current
            if current is not target:
                path.append(current)
                pending.extend(user for user, _ in reversed(current.uses))
        return path, None

    def _too_large(self, node: FlowNode, target: FlowNode, phase: int) -> bool:
        """Whether the merged kernel would have too many nodes, or arguments."""
        depth, arguments = self.limits.depth, self.limits.arguments
        if depth >= len(self.graph.nodes) and not arguments:
            return False
        members = None if node.index in self._too_deep else self._between(node, target, depth)
        if members is None:
            self._too_deep.add(node.index)  # groups only grow: it stays so in later phases
            self._decide(phase, node, target, "too deep")
            return True
        if self._counter is not None:
            merged = {self.groups[member.index].find(): None for member in [*members, target]}
            if self._counter.count(merged, self.groups[target.index].find().root) > arguments:
                self._decide(phase, node, target, "too many arguments")
                return True
        return False

    def _between(self, node: FlowNode, target: FlowNode, most: int) -> list[FlowNode] | None:
        """Return all nodes on the paths from `node` to `target`, without `target`; None if the kernel of all
        of them would have more than `most` nodes. The search ends there, so its cost is bounded by the size
        of a kernel.
        """
        size = self.groups[target.index].find().size
        between, visited, pending = [], {target.index}, [node]
        while pending:
            current = pending.pop()
            if current.index not in visited:
                visited.add(current.index)
                between.append(current)
                size += self.groups[current.index].size
                if size > most:
                    return None
                pending.extend(user for user, _ in current.uses)
        return between


@dataclass(frozen=True)
class Fusion:
    """A module whose operators are grouped by another algorithm than `FuseOps`, for an explorer to show.

    `partition` receives a typed function and its data flow, returns the groups, and emits `Decision`s.
    """

    module: IRModule
    partition: Callable[[Function, DataflowGraph], Partition]


def _merge(group: Group, into: Group) -> None:
    group.parent = into
    into.size += group.size
    if group.anchor is not None:
        into.anchor = group.anchor
        into.pattern = max(group.pattern, into.pattern)


def _broadcasts(pattern: int, sink: bool) -> bool:
    return pattern <= OpPattern.BROADCAST


def _injectives(pattern: int, sink: bool) -> bool:
    return pattern <= OpPattern.INJECTIVE


def _broadcast_sinks(pattern: int, sink: bool) -> bool:
    """Allow injective groups on the path, and at its end also a reduction or a convolution's kernel."""
    return pattern <= (OpPattern.OUT_ELEMWISE_FUSABLE if sink else OpPattern.INJECTIVE)
