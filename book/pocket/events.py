"""Show the steps of pocket's passes in the package's explorers.

    explore(events.record_types(module), view="types")
    explore(events.record_fusion(module))

This file is given: it is no part of the compiler that the book writes.
"""

from relay_explorer.analysis.dataflow_graph import PostDominators
from relay_explorer.ir.errors import RelayError
from relay_explorer.ir.recorder import Recorder, active
from relay_explorer.transform.fuse_ops.groups import Decision, Fusion
from relay_explorer.transform.fuse_ops.groups import Limits, Partition

from pocket import bridge, ir

RULES = {0: "broadcast", 1: "broadcast", 2: "injective", 3: "reduction"}
RULES |= {4: "out-fusable", 7: "injective"}


def emit_decision(flow, phase, node, fused):
    """Emit the decision about a node as the package's event."""
    recorder = active(Decision)
    into_tuple = flow.pattern(flow.post_dominator(node)) == 7
    if recorder is not None and (fused or phase < 3 or into_tuple):
        recorder.emit(decision(flow, phase, node, fused))


def decision(flow, phase, node, fused):
    """Return the event; of a refusal, with the reason."""
    end = flow.post_dominator(node)
    between, use = between_and_use(flow, node)
    own = flow.kernel(node)
    rule = "into a tuple" if phase == 3 else RULES[own]
    if fused:
        joined = flow.roots[end]
        merged = [n for n in (node, *between) if flow.roots[n] != joined]
        return Decision(phase - 1, node, end, rule, None, tuple(merged))
    if flow.kernel(end) == 7:
        return Decision(phase - 1, node, end, "tuple")
    if rule == "reduction":
        return Decision(phase - 1, node, end, rule)
    if rule == "out-fusable" and use > 0:
        return Decision(phase - 1, node, end, "not element-wise")
    obstacle = max([*between, end], key=flow.kernel)
    return Decision(phase - 1, node, end, f"{rule}: obstacle", obstacle)


def between_and_use(flow, node):
    """Return the nodes before the post-dominator, and the most opaque
    use on the way."""
    end, between, use = flow.post_dominator(node), {}, 0
    pending = [node]
    while pending:
        for user, pattern in flow.uses(pending.pop()):
            use = max(use, pattern)
            if user != end and user not in between:
                between[user] = None
                pending.append(user)
    return list(between), use


def record_fusion(module, rule=None):
    """Let the reader's fuser group the operators of a relay module; the
    explorer of fusion draws the result."""

    def partition(function, graph):
        return partition_of(function, graph, rule)

    return Fusion(module, partition)


def partition_of(function, graph, rule):
    """Return the reader's groups as the package's, and emit the reader's
    decisions, with the package's numbers."""
    from pocket import fusion

    converter = bridge.FromRelay()
    mine = converter.expr(function)
    types, numbers = {}, {}
    for original, expr in list(converter.memo.items()):
        type_ = getattr(original, "_checked_type", None)
        if type_ is not None:
            types[expr] = converter.type(type_)
    flow = fusion.Flow(mine, types)
    for original, expr in converter.memo.items():
        if expr in flow.number and original in graph:
            numbers[flow.number[expr]] = graph[original].index
    with Recorder(Decision) as recorder:
        fusion.group(flow, rule or fusion.may_fuse)
    theirs = Partition(graph, Limits(level=0))
    theirs.dominators = PostDominators(graph)
    outer = active(Decision)
    for event in recorder.events:
        emit_translated(event, numbers, graph, outer)
    for node, number in numbers.items():
        if not graph.nodes[number].held:
            parent = numbers.get(flow.parents[node])
            theirs.dominators.parent[number] = parent
        root = theirs.groups[numbers[flow.roots[node]]]
        if root is not theirs.groups[number]:
            theirs.groups[number].parent = root
    return theirs


def emit_translated(event, numbers, graph, recorder):
    """Emit a decision again, about the nodes of the package's graph."""
    node = graph.nodes[numbers[event.node]]
    if event.target not in numbers:
        if event.phase == 0:
            rule = "held" if node.held else "no meeting"
            recorder.emit(Decision(0, node.index, None, rule))
        return
    obstacle = numbers.get(event.obstacle)
    merged = tuple(numbers[n] for n in event.merged if n in numbers)
    target = numbers[event.target]
    recorder.emit(
        Decision(
            event.phase, node.index, target, event.rule, obstacle, merged
        )
    )


def record_types(module):
    """Let the reader's solver infer the types of a relay module, and emit
    the package's events; `explore(…, view="types")` draws the result."""
    from pocket.solver import infer_types
    from relay_explorer.typing.events import Annotated, InferenceEvent
    from relay_explorer.typing.infer import Inference

    converter = bridge.FromRelay()
    program = converter.module(module)
    error = None
    with Recorder(InferenceEvent) as recorder:
        try:
            infer_types(program, recording_solver(program, converter.memo))
            active(InferenceEvent).emit(Annotated(tuple(program.functions)))
        except (TypeError, ValueError) as problem:
            error = RelayError(str(problem))
    typed = None if error else module
    return Inference(module, typed, error, recorder.events)


def recording_solver(program, memo):
    """Return a solver of the reader's that emits the package's events."""
    from pocket.solver import Solver
    from relay_explorer.typing import events, solver
    from relay_explorer.typing.projection import projection
    from relay_explorer.typing.variables import InferenceVariable

    emit = active(events.InferenceEvent).emit
    converter = bridge.ToRelay()
    for original, expr in memo.items():
        if isinstance(expr, (ir.Node, bridge.types.TypeVariable)):
            converter.memo[expr] = original
    entered = converter.exprs(program.functions.values())
    silent = ir.Constant, ir.Op, ir.Let, ir.Constructor
    matches = [expr for expr in memo.values() if isinstance(expr, ir.Match)]
    match_of = {
        clause: match for match in matches for clause in match.clauses
    }

    def refuse(error, at, *rest, relation=None):
        rest = rest or (None, None, None, None, relation, None)
        emit(events.Refused(str(error), (), at, *rest))

    class Types(dict):
        """The types of expressions; a new one is an event."""

        def __setitem__(self, expr, type_):
            quiet = isinstance(expr, silent)
            new = expr not in self and expr in converter.memo
            super().__setitem__(expr, type_)
            if new and not quiet and expr not in recording.constraints:
                new = converter.type(recording.resolve(type_))
                emit(events.Typed(converter.expr(expr), new))

    class Bindings(dict):
        """What variables are equal to; a binding is an event."""

        def __setitem__(self, var, type_):
            if self.get(type_) is type_:
                emit(events.Merged(number(type_), number(var)))
            else:
                emit(events.Bound(number(var), converter.type(type_)))
            super().__setitem__(var, type_)

    def number(var):
        return converter.memo[var].number

    class RecordingSolver(Solver):
        def __init__(self):
            super().__init__(program)
            self.types, self.bound = Types(), Bindings()
            self.constraints = {}
            self.read = {}  # by relations, when they ran last
            for name, function in zip(program.functions, entered):
                emit(events.FunctionEntered(name, function))

        def fresh(self):
            var = super().fresh()
            converter.memo[var] = InferenceVariable(len(self.bound) - 1)
            return var

        def relate(self, expr, *operands):
            result = super().relate(expr, *operands)
            original, settings = converter.expr(expr), None
            if isinstance(expr, ir.Call):
                settings = original.attrs
                law = original.op.relation
            else:
                law = projection(expr.index)
            types = [*map(self.resolve, operands), result]
            args = tuple(map(converter.type, types))
            constraint = solver.Constraint(
                len(self.constraints),
                law,
                args,
                len(operands),
                settings,
                original,
            )
            self.constraints[expr] = constraint
            emit(events.Typed(original, args[-1]))
            emit(events.Queued(constraint))
            return result

        def run(self, expr, operands):
            constraint = self.constraints[expr]
            types = [*operands, self.types[expr]]
            reads = tuple(map(self.resolve, types))
            if self.read.get(expr) == reads:
                return False
            self.read[expr] = reads
            reads = tuple(map(converter.type, reads))
            emit(events.Started(constraint, reads))
            try:
                done = super().run(expr, operands)
            except (TypeError, ValueError) as error:
                refuse(error, constraint.call, relation=constraint)
                raise
            emit(events.Ended(constraint, done))
            return done

        def equate(self, rule, expr, a, b):
            if isinstance(expr, ir.Clause):
                data, result = a.parts
                pattern, body = b.parts
                self.equate("pattern", expr.pattern, pattern, data)
                expr, a, b = match_of[expr], result, body
            left, right = sides(rule, expr, converter)
            if rule == "pattern" and isinstance(expr, ir.Call):
                expr = expr.callee
            at = converter.expr(expr)
            reason = events.Reason(rule, at, left=left, right=right)
            pair = converter.type(a), converter.type(b)
            emit(events.Unifying(reason, *pair))
            try:
                super().equate(rule, expr, a, b)
            except TypeError as error:
                pair = (
                    converter.type(self.resolve(a)),
                    converter.type(self.resolve(b)),
                )
                refuse(error, at, *pair, left, right, None, reason)
                raise

    recording = RecordingSolver()
    return recording


def sides(rule, expr, converter):
    """Return the expressions whose types a typing rule compares."""
    match rule, expr:
        case "callee", ir.Call(callee):
            pair = callee, expr
        case "let", ir.Let(var, value):
            pair = var, value
        case "condition", ir.If(condition):
            pair = None, condition
        case "branches", ir.If(_, then_branch, else_branch):
            pair = then_branch, else_branch
        case "return", ir.Function(_, body):
            pair = expr, body
        case "pattern", ir.Var():
            pair = None, expr
        case _:
            pair = None, None
    return [part and converter.expr(part) for part in pair]
