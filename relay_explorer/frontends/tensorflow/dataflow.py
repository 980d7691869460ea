"""Analyse the control flow of a graph of TensorFlow 1: which loop each node belongs to, and on which branches
of conditionals it runs.

A loop is a frame of the dataflow machine. For each of its variables, `Enter` brings the initial value in,
`Merge` joins it with the value of the next iteration, `Switch` passes it to the body or to `Exit`, as
`LoopCond` says, and `NextIteration` closes the cycle. A conditional is a `Switch` for each value that a
branch takes, and a `Merge` for each of its results.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ...ir.show import counted
from ..base.errors import ModelFileError
from .graph import Graph, GraphNode, Ref

ENTER = ("Enter", "RefEnter")
MERGE = ("Merge", "RefMerge")
SWITCH = ("Switch", "RefSwitch", "_SwitchN")
NEXT = ("NextIteration", "RefNextIteration")
EXIT = ("Exit", "RefExit")
SAME = ("Identity", "StopGradient", "RefIdentity")  # operators whose result is their operand

_OPERANDS = {  # the least and the greatest number of operands
    **dict.fromkeys((*ENTER, *EXIT, *NEXT, "LoopCond"), (1, 1)),
    **dict.fromkeys(SWITCH, (2, 2)),
    **dict.fromkeys(MERGE, (1, 1 << 16)),
}
_MOST_NESTED = 30  # loops
_MOST_GUARDS = 200  # conditionals around a node

Guard = tuple[Ref, int]  # a predicate or a branch's number, and the branch on which a node runs: 1 is true


@dataclass
class LoopVariable:
    """A variable of a loop: its nodes, and the names of the `Switch` nodes that pass it on."""

    enter: GraphNode
    merge: GraphNode
    next: GraphNode
    switches: list[str] = field(default_factory=list)


@dataclass(eq=False)
class Frame:
    """A loop. `enters` are all nodes that bring values in; `parent` is the loop around it."""

    name: str
    parent: Frame | None
    enters: list[GraphNode] = field(default_factory=list)
    variables: list[LoopVariable] = field(default_factory=list)
    condition: GraphNode | None = None

    @property
    def depth(self) -> int:
        """The number of loops around it."""
        return 0 if self.parent is None else self.parent.depth + 1


class Dataflow:
    """The loops and conditionals of a graph.

    `order` has the nodes' names, operands before their uses. `frame_of` maps nodes to their loops,
    `exits` an Exit node to its loop and the number of its variable, `merges` the Merge nodes of loops, and
    `choices` those of conditionals to the predicate, or the number of the branch, and the results of the
    branches in order: false and true.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.order = ordered(graph)
        self._position = {name: index for index, name in enumerate(self.order)}
        self.frame_of: dict[str, Frame] = {}
        self.exits: dict[str, tuple[Frame, int]] = {}
        self.loop_switches: set[str] = set()
        self.merges: dict[str, Frame] = {}
        self.choices: dict[str, tuple[Ref, tuple[Ref, ...]]] = {}
        self._guards: dict[str, frozenset[Guard]] = {}
        self._groups: dict[str, list[str]] = {}
        control = [node for node in graph.nodes.values() if node.op in _OPERANDS]
        for node in control:
            least, most = _OPERANDS[node.op]
            if not least <= len(node.inputs) <= most:
                wanted = f"{least}" if most == least else f"{least:,} to {most:,}"
                raise ModelFileError(
                    f"`{node.name}` ({node.op}) has {counted(len(node.inputs), 'operand')}, but must have "
                    f"{wanted}"
                )
        if control:
            self._find_loops()
            self._find_conditionals()

    # -- loops

    def _find_loops(self) -> None:
        frames: dict[tuple[str, int], Frame] = {}
        for name in self.order:
            node = self.graph.nodes[name]
            frame = self._frame_of_operands(node)
            if node.op in ENTER:
                label = str(node.attrs.get("frame_name", ""))
                key = (label, id(frame))
                frame = frames.setdefault(key, Frame(label, frame))
                if frame.depth > _MOST_NESTED:
                    raise ModelFileError(f"loops are nested more than {_MOST_NESTED} deep")
                frame.enters.append(node)
            elif node.op in EXIT:
                frame = self._exit(node, frame)
            if frame is not None:
                self.frame_of[name] = frame
            if node.op in MERGE and frame is not None:
                self._loop_merge(node, frame)
            elif node.op == "LoopCond" and frame is not None:
                frame.condition = node
            elif node.op in SWITCH and frame is not None:
                self._loop_switch(node, frame)
        for frame in frames.values():
            if frame.condition is None and frame.variables:
                raise ModelFileError(f"the loop `{frame.name}` has no LoopCond node")

    def _frame_of_operands(self, node: GraphNode) -> Frame | None:
        innermost: Frame | None = None
        # A constant of a loop's body has no operand, but a node of the body runs before it.
        for source in (*(name for name, _ in node.inputs), *node.controls):
            frame = self.frame_of.get(source)
            if frame is not None and (innermost is None or frame.depth > innermost.depth):
                innermost = frame
        return innermost

    def _loop_merge(self, node: GraphNode, frame: Frame) -> None:
        nexts = [self.graph.nodes[s] for s, _ in node.inputs if self.graph.nodes[s].op in NEXT]
        enters = [self.graph.nodes[s] for s, _ in node.inputs if self.graph.nodes[s].op in ENTER]
        if not nexts:
            return  # the result of a conditional within the loop
        if len(nexts) != 1 or len(enters) != 1 or len(node.inputs) != 2:
            raise ModelFileError(
                f"`{node.name}` ({node.op}) must have one Enter and one NextIteration node as operands"
            )
        frame.variables.append(LoopVariable(enters[0], node, nexts[0]))
        self.merges[node.name] = frame

    def _loop_switch(self, node: GraphNode, frame: Frame) -> None:
        (data, _), (test, _) = node.inputs
        if self.graph.nodes[test].op != "LoopCond":
            return
        for variable in frame.variables:
            if variable.merge.name == data:
                variable.switches.append(node.name)
                self.loop_switches.add(node.name)
                return
        raise ModelFileError(
            f"`{node.name}` ({node.op}) uses the loop's condition, but its value is not a loop variable"
        )

    def _exit(self, node: GraphNode, frame: Frame | None) -> Frame | None:
        source = node.inputs[0][0]
        for number, variable in enumerate(frame.variables if frame is not None else ()):
            if frame is not None and source in variable.switches:
                self.exits[node.name] = (frame, number)
                return frame.parent
        raise ModelFileError(
            f"`{node.name}` ({node.op}) must have the Switch node of a loop variable as its operand"
        )

    # -- conditionals

    def _find_conditionals(self) -> None:
        for name in self.order:
            node = self.graph.nodes[name]
            sources = node.inputs
            if name in self.merges:
                sources = tuple(r for r in sources if self.graph.nodes[r[0]].op not in NEXT)
            guards = frozenset(guard for ref in sources for guard in self.guards(ref))
            guards |= frozenset(guard for control in node.controls for guard in self._guards.get(control, ()))
            if node.op in MERGE and name not in self.merges:
                guards = self._choice(node, guards)
            if len(guards) > _MOST_GUARDS:
                raise ModelFileError(f"conditionals are nested more than {_MOST_GUARDS} deep")
            self._guards[name] = guards

    def guards(self, ref: Ref) -> frozenset[Guard]:
        """Return the branches on which a result exists."""
        name, number = ref
        node = self.graph.nodes[name]
        guards = self._guards.get(name, frozenset())
        if node.op in SWITCH and name not in self.loop_switches:
            return guards | {(node.inputs[1], number)}
        return guards

    def _choice(self, node: GraphNode, guards: frozenset[Guard]) -> frozenset[Guard]:
        """Find the predicate whose branches a Merge joins, the innermost: it is computed last."""
        own = [self.guards(ref) for ref in node.inputs]
        for test in sorted({test for test, _ in own[0]}, key=lambda ref: (-self._position[ref[0]], ref[1])):
            numbers = [[branch for other, branch in some if other == test] for some in own]
            order = [number[0] if len(number) == 1 else -1 for number in numbers]
            if len(order) > 1 and sorted(order) == list(range(len(order))):
                branches = [node.inputs[order.index(branch)] for branch in range(len(order))]
                self.choices[node.name] = (test, tuple(branches))
                return guards - {(test, branch) for branch in order}
        raise ModelFileError(
            f"the operands of `{node.name}` ({node.op}) are not the results of a conditional's branches"
        )

    def group(self, merge: str) -> list[str]:
        """Return the Merge nodes that become one `if` together with `merge`: those of the same predicate that
        do not depend on each other.
        """
        if merge not in self._groups:
            self._groups[merge] = self._grouped(merge)
        return self._groups[merge]

    def _grouped(self, merge: str) -> list[str]:
        test = self.choices[merge][0]
        frame = self.frame_of.get(merge)
        guards = self._guards[merge]
        alike = [
            name
            for name, (other, _) in self.choices.items()
            if other == test and self.frame_of.get(name) is frame and self._guards[name] == guards
        ]
        if len(alike) == 1:
            return alike
        first = min(self._position[name] for name in alike)
        chosen: list[str] = []
        for name in sorted(alike, key=self._position.__getitem__):
            if not self._depends(name, set(alike) - {name}, first):
                chosen.append(name)
        return chosen if merge in chosen else [merge]

    def _depends(self, name: str, others: set[str], first: int) -> bool:
        """Whether a node depends on one of `others`, none of which comes before position `first`."""
        seen = {name}
        pending = [name]
        while pending:
            for source, _ in self.graph.nodes[pending.pop()].inputs:
                if source in others:
                    return True
                if source not in seen and self._position[source] > first:
                    seen.add(source)
                    pending.append(source)
        return False


def ordered(graph: Graph) -> list[str]:
    """Return the nodes' names, operands first; a loop's way back, from NextIteration to Merge, is no operand.

    Raise a ModelFileError where the graph has another cycle.
    """
    state: dict[str, bool] = {}  # False while the node's operands are visited
    order: list[str] = []
    for root in graph.nodes:
        if root in state:
            continue
        state[root] = False
        path = [(root, _sources(graph, graph.nodes[root]))]
        while path:
            name, sources = path[-1]
            source = next(sources, None)
            if source is None:
                state[name] = True
                order.append(name)
                path.pop()
            elif source not in state:
                state[source] = False
                path.append((source, _sources(graph, graph.nodes[source])))
            elif not state[source]:
                cycle = [step for step, _ in path]
                cycle = cycle[cycle.index(source) :]
                shown = " → ".join(f"`{step}`" for step in [*reversed(cycle[:8]), cycle[0]])
                raise ModelFileError(
                    f"{graph.label} has a cycle without a NextIteration node, so it is not a loop: {shown}"
                )
    return order


def _sources(graph: Graph, node: GraphNode) -> Iterator[str]:
    skips = node.op in MERGE
    for source, _ in node.inputs:
        if not (skips and graph.nodes[source].op in NEXT):
            yield source
    for control in node.controls:
        if control in graph.nodes and graph.nodes[control].op not in NEXT:
            yield control


def same_value(graph: Graph, ref: Ref, ops: Sequence[str] = SAME) -> Ref:
    """Return the result that `ref` passes on through nodes which return their operand."""
    seen: set[str] = set()
    while ref[0] not in seen:
        seen.add(ref[0])
        node = graph.nodes[ref[0]]
        if node.op not in ops or not node.inputs:
            return ref
        ref = node.inputs[0]
    return ref
