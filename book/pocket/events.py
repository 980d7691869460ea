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

TUPLE, OPAQUE = 7, 8  # as in `pocket.fusion`
RULES = {0: "broadcast", 1: "broadcast", 2: "injective", 3: "reduction"}
RULES |= {4: "out-fusable", TUPLE: "injective"}


def emit_decision(flow, phase, node, fused):
    """Emit the decision about a node as the package's event."""
    recorder = active(Decision)
    if recorder is not None:
        for event in decisions(flow, phase, node, fused):
            recorder.emit(event)


def decisions(flow, phase, node, fused):
    """Return the event, if the explorer shows this decision."""
    end = flow.post_dominator(node)
    if end is None or flow.pattern(node) == OPAQUE:
        return []
    shown = fused or phase < 3 or flow.pattern(end) == TUPLE
    return [decision(flow, phase, node, fused)] * bool(shown)


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
    if flow.kernel(end) == TUPLE:
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
    number = {expr: node for node, expr in enumerate(flow.exprs)}
    for original, expr in converter.memo.items():
        if expr in number and original in graph:
            numbers[number[expr]] = graph[original].index
    decide, asked = rule or fusion.may_fuse, []

    def recorded(node, phase, flow):
        before = decisions(flow, phase, node, False)
        fused = decide(node, phase, flow)
        asked.extend(
            decisions(flow, phase, node, fused) if fused else before
        )
        return fused

    with Recorder(Decision) as recorder:
        fusion.group(flow, recorded)
    theirs = Partition(graph, Limits(level=0))
    theirs.dominators = PostDominators(graph)
    outer = active(Decision)
    for event in recorder.events or asked:  # a `group` may emit none
        emit_translated(event, numbers, graph, outer)
    for node, number in numbers.items():
        if not graph.nodes[number].held:
            parent = numbers.get(flow.post_dominator(node))
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
    from relay_explorer.typing.events import Refused
    from relay_explorer.typing.infer import Inference

    converter = bridge.FromRelay()
    program = converter.module(module)
    error = None
    with Recorder(InferenceEvent) as recorder:
        solver = recording_solver(program, converter.memo)
        try:
            solver.record_rest(infer_types(program, solver))
            recorder.emit(Annotated(tuple(program.functions)))
        except (TypeError, ValueError) as problem:
            error = RelayError(str(problem))
            if not isinstance(recorder.events[-1], Refused):
                solver.record_refusal(
                    problem, getattr(solver, "current", None)
                )
    typed = None if error else module
    return Inference(module, typed, error, recorder.events)


SILENT = ir.Constant, ir.Op, ir.Let, ir.Constructor
RULE_OF = {ir.Call: "callee", ir.Let: "let", ir.Function: "return"}
RULE_OF |= {ir.If: "branches", ir.Match: "clause", ir.Clause: "clause"}
TYPING_RULES = {*RULE_OF.values(), "condition", "pattern"}


def recording_solver(program, memo):
    """Return a solver of the reader's that emits the package's events.

    It depends on the methods of `Solver`, and not on how the reader's
    solver stores what it knows.
    """
    from pocket.solver import Solver
    from pocket.visitor import find_all
    from relay_explorer.typing import events, solver
    from relay_explorer.typing.projection import projection
    from relay_explorer.typing.variables import InferenceVariable

    emit = active(events.InferenceEvent).emit
    converter = bridge.ToRelay()
    for original, expr in memo.items():
        if isinstance(expr, (ir.Node, bridge.types.TypeVariable)):
            converter.memo[expr] = original
    in_program = set(converter.memo)
    matches = [expr for expr in memo.values() if isinstance(expr, ir.Match)]
    match_of = {
        clause: match for match in matches for clause in match.clauses
    }
    numbers = {}  # of the solver's variables
    still_open = set()  # those that no event has bound
    typed = set()  # expressions whose type is an event
    constraints = {}  # of expressions
    results = {}  # of relations: the types that `relate` returned
    outcomes = {}  # of relations: what they read, whether it solved them

    def variables(*types):
        """Return the open variables in types, each once."""
        seen = {}
        for type_ in types:
            seen |= dict.fromkeys(
                find_all(
                    recording.resolve(type_), bridge.types.TypeVariable
                )
            )
        return [var for var in seen if var in still_open]

    def emit_bindings(vars_):
        """Emit an event for each variable that has become known."""
        for var in vars_:
            type_ = recording.resolve(var)
            if type_ is not var and var in still_open:
                still_open.remove(var)
                if type_ in numbers:
                    emit(events.Merged(numbers[type_], numbers[var]))
                else:
                    new = converter.type(type_)
                    emit(events.Bound(numbers[var], new))

    def emit_typed(expr, type_):
        """Emit the type of an expression, unless that has been done."""
        shown = isinstance(expr, ir.Node) and expr in in_program
        if shown and expr not in typed and not isinstance(expr, SILENT):
            typed.add(expr)
            new = converter.type(recording.resolve(type_))
            emit(events.Typed(converter.expr(expr), new))

    def emit_start(constraint, operands, result):
        """Emit the run of a relation, with the types that it reads."""
        types = [
            *map(recording.resolve, operands),
            recording.resolve(result),
        ]
        reads = tuple(map(converter.type, types))
        emit(events.Started(constraint, reads))

    def refuse(error, at, *rest, relation=None):
        rest = rest or (None, None, None, None, relation, None)
        emit(events.Refused(str(error), (), at, *rest))

    class Types(dict):
        """The types of expressions; a new one is an event."""

        def __setitem__(self, expr, type_):
            super().__setitem__(expr, type_)
            emit_typed(expr, type_)

    class RecordingSolver(Solver):
        def record_start(self):
            """Emit an event for each function."""
            if type(getattr(self, "types", None)) is dict:
                self.types = Types(self.types)
            for name, function in program.functions.items():
                new = converter.expr(function)
                emit(events.FunctionEntered(name, new))

        def record_rest(self, types):
            """Emit what the reader's solver did not do by its methods."""
            for expr, (constraint, operands) in constraints.items():
                if expr not in outcomes:  # `run` was not called
                    emit_start(constraint, operands, results[expr])
                    emit(events.Ended(constraint, True))
            emit_bindings(list(numbers))
            for expr, type_ in types.items():
                emit_typed(expr, type_)

        def record_refusal(self, error, expr):
            """Emit an error that no typing rule and no relation raised."""
            known = isinstance(expr, ir.Node) and expr in in_program
            at = converter.expr(expr) if known else None
            constraint, _ = constraints.get(expr, (None, ()))
            refuse(error, at, relation=constraint)

        def fresh(self):
            var = super().fresh()
            if var not in numbers:
                numbers[var] = len(numbers)
                still_open.add(var)
                converter.memo[var] = InferenceVariable(numbers[var])
            return var

        def unify(self, a, b):
            vars_ = variables(a, b)
            try:
                super().unify(a, b)
            finally:
                emit_bindings(vars_)

        def relate(self, expr, *operands):
            result = results[expr] = super().relate(expr, *operands)
            original, settings = converter.expr(expr), None
            if isinstance(expr, ir.Call):
                settings = original.attrs
                law = original.op.relation
            else:
                law = projection(expr.index)
            types = [*map(self.resolve, operands), result]
            args = tuple(map(converter.type, types))
            constraint = solver.Constraint(
                len(constraints),
                law,
                args,
                len(operands),
                settings,
                original,
            )
            constraints[expr] = constraint, operands
            emit_typed(expr, result)
            emit(events.Queued(constraint))
            return result

        def run(self, expr, operands):
            if expr not in constraints:  # `relate` runs it at once
                return super().run(expr, operands)
            constraint, _ = constraints[expr]
            reads = [*map(self.resolve, (*operands, results[expr]))]
            before, done = outcomes.get(expr, (None, False))
            if done or before == reads:
                return done
            emit_start(constraint, operands, results[expr])
            try:
                done = bool(super().run(expr, operands))
            except (TypeError, ValueError) as error:
                refuse(error, constraint.call, relation=constraint)
                raise
            outcomes[expr] = reads, done
            emit(events.Ended(constraint, done))
            return done

        def equate(self, rule, expr, a, b):
            if rule not in TYPING_RULES:  # a name that the reader chose
                rule = RULE_OF.get(type(expr), rule)
            if isinstance(expr, ir.Clause):
                try:
                    (data, result), (pattern, body) = a.parts, b.parts
                except (AttributeError, ValueError):
                    pass  # another equation of the reader's
                else:
                    self.equate("pattern", expr.pattern, pattern, data)
                    a, b = result, body
                expr = match_of.get(expr, expr)
            left, right = sides(rule, expr, converter)
            if rule == "pattern" and isinstance(expr, ir.Call):
                expr = expr.callee
            at = converter.expr(expr)
            reason = events.Reason(rule, at, left=left, right=right)
            pair = converter.type(a), converter.type(b)
            emit(events.Unifying(reason, *pair))
            try:
                super().equate(rule, expr, a, b)
            except (TypeError, ValueError) as error:
                pair = (
                    converter.type(self.resolve(a)),
                    converter.type(self.resolve(b)),
                )
                refuse(error, at, *pair, left, right, None, reason)
                raise

    recording = RecordingSolver(program)
    recording.record_start()
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
