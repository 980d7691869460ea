"""The sharing view's data: one computation as a graph, with `let`, and expanded into a tree; how often each
expression is evaluated, and how long its value is needed. All of this is measured on a recorded run of each
form.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from ...analysis.effects import effects
from ...execute.code import Kind
from ...execute.record import Evaluation, Made, Returned, Step, record
from ...execute.values import Value
from ...ir.errors import RelayError
from ...ir.expr import Expr, Function, Let, Var
from ...ir.module import IRModule
from ...ir.scopes import LEAVES
from ...ir.types import TensorType
from ...ir.walk import children, post_order
from ...text import rows as printed
from ...transform.infrastructure import Pass
from ...transform.normal_forms.to_a_normal_form import ToANormalForm
from ...transform.normal_forms.to_graph_normal_form import ToGraphNormalForm
from ...transform.normal_forms.to_tree import ToTree, tree_size
from ..evaluation.rows import ran
from ..evaluation.sentences import plain
from ..format import Row, Sentence
from ..heap import Heap
from ..rows import ProgramRows, program_rows
from ..values import is_tensor
from ..words import counted
from .format import Form, Item, Key, Peak, SharingView, Span

GRAPH, LET, TREE = "as a graph", "with let", "as a tree"
LIMIT = 2_000  # steps of each run
LARGEST = 1_000  # expressions of the tree; a larger one is not shown
MAX_LIVES = 200
MAX_LENGTH = 60  # characters of an expression


class Written(NamedTuple):
    """A form as a program: its module, the functions of it that ran, its run, and its rows."""

    module: IRModule
    functions: tuple[Expr, ...]
    evaluation: Evaluation
    program: ProgramRows


def sharing_view(module: IRModule, args: Sequence[object] = (), title: str = "") -> SharingView:
    """Build the view of a module's `@main`, run for `args`; without them, tensors of static shapes are filled
    with ones.

    Raise the error of a run that fails, and an error for arguments that the program does not accept.
    """
    inputs = args or ones(module)
    return _Builder(_written(ToGraphNormalForm()(module), inputs), inputs).view(title)


def ones(module: IRModule) -> list[Any]:
    """Return arguments for `@main`: tensors of ones, with the types of its parameters."""
    import numpy

    tensors = []
    for param in module["main"].params:
        type_ = param.type_annotation
        if not isinstance(type_, TensorType) or not all(isinstance(d, int) for d in type_.shape):
            raise RelayError(
                f"`%{param.name_hint}` is not a tensor of a static shape, so it has no default value",
                param.span,
                help=['give the arguments: explore(module, view="sharing", args=(…))'],
            )
        tensors.append(numpy.ones([d for d in type_.shape if isinstance(d, int)], type_.dtype))
    return tensors


def _written(module: IRModule, args: Sequence[object]) -> Written:
    run = record(module, *args, limit=LIMIT)
    if run.error is not None:
        raise run.error
    shown = ran(run)
    return Written(module, tuple(shown.functions.values()), run, program_rows(shown))


class _Builder:
    def __init__(self, graph: Written, args: Sequence[object]) -> None:
        self.graph = graph
        self.args = args
        self.keys: list[Key] = []
        self.key_of: dict[Expr, int] = {}
        self.rows: list[Row] = []
        for function in graph.functions:
            for node in post_order(function):
                if node.__class__ not in LEAVES or isinstance(node, Var):
                    self.key_of[node] = len(self.keys)
                    self.keys.append(self._key(node))

    def view(self, title: str) -> SharingView:
        graph = self._form(GRAPH, self.graph)
        with_let = self._form(LET, self._changed(ToANormalForm()))
        forms = [graph, with_let, self._tree()]
        forms = [form._replace(say=self._say(form, graph)) for form in forms]
        return SharingView(
            title=title or "sharing",
            summary=self._summary(forms),
            rows=tuple(self.rows),
            keys=tuple(self.keys),
            forms=tuple(forms),
        )

    def _changed(self, change: Pass) -> Written:
        return _written(change(self.graph.module), self.args)

    def _tree(self) -> Form:
        try:
            return self._form(TREE, self._changed(ToTree(LARGEST)))
        except RelayError as error:
            say = plain(f"Nothing is shared: {error.message}. That is too large to show.")
            return Form(TREE, say, -1, -1, (), 0, 0, (), Peak(0, 0))

    # -- keys: what is the same in all forms

    def _key(self, node: Expr) -> Key:
        program = self.graph.program
        row = program.row(node)
        name = program.name(node) or ""
        text = "" if row < 0 or isinstance(node, Var) else _expression(program.source[row])
        return Key(name, text if len(text) <= MAX_LENGTH else text[: MAX_LENGTH - 1] + "…")

    def key(self, expr: Expr) -> int:
        """Return the key of an expression of any form: its own, or that of its origin."""
        while expr not in self.key_of:
            if isinstance(expr, Let) or not expr.origin:
                return -1
            expr = expr.origin[0]
        return self.key_of[expr]

    # -- one form

    def _form(self, name: str, laid_out: Written) -> Form:
        run, program = laid_out.evaluation, laid_out.program
        offset = len(self.rows)
        variables = {
            node.var: node.value
            for function in laid_out.functions
            for node in post_order(function)
            if isinstance(node, Let)
        }
        filled = program.filled(lambda expr: self._reference(expr, variables))
        self.rows.extend([_moved(row, offset) for row in filled])
        measured = _Measured(run)
        items = []
        for function in laid_out.functions:
            for node in post_order(function):
                key = self.key(node)
                if node.__class__ in LEAVES or isinstance(node, Let) or node is function or key < 0:
                    continue
                row = program.row(node)
                items.append(measured.item(node, key, row + offset if row >= 0 else -1))
        live = measured.live()
        most = max(live, default=0)
        peak = Peak(live.index(most) if live else 0, most)
        steps = min(len(run.steps), LIMIT)
        last = len(self.rows) - 1
        return Form(name, ("",), offset, last, tuple(items), steps, run.totals.steps, tuple(live), peak)

    def _reference(self, expr: Expr, variables: dict[Var, Expr]) -> int:
        """Return the key that a token names; a variable of a `let` stands for its value."""
        steps = 0
        while isinstance(expr, Var) and expr in variables and steps < len(variables):
            expr = variables[expr]
            steps += 1
        return self.key(expr)

    # -- sentences

    def _say(self, form: Form, graph: Form) -> Sentence:
        if form.first < 0:
            return form.say
        if form.name == GRAPH:
            shared = self._shared()
            are = "is" if shared == 1 else "are"
            return (
                "An expression that is used twice is one node with two uses. "
                f"{counted(shared, 'expression')} {are} used more than once.",
            )
        if form.name == LET:
            return ("Every value has a name, and the order of the bindings is the order of evaluation.",)
        runs, same = (sum(item.runs for item in f.items) for f in (form, graph))
        more = f"{counted(runs - same, 'evaluation')} more than the graph needs"
        return (f"Every use has a copy of its own: {more if runs > same else 'which costs nothing here'}.",)

    def _shared(self) -> int:
        uses: dict[Expr, int] = {}
        for function in self.graph.functions:
            for node in post_order(function):
                for part in _operands(node):
                    uses[part] = uses.get(part, 0) + 1
        return sum(count > 1 for count in uses.values())

    def _summary(self, forms: Sequence[Form]) -> str:
        runs = [f"{sum(i.runs for i in f.items):,} {f.name}" for f in forms if f.first >= 0]
        text = f"Evaluations of the same computation: {', '.join(runs)}"
        module = self.graph.module
        acting = effects(module)
        functions = [f for f in module.functions.values() if isinstance(f, Function)]
        expanded = sum(tree_size(function, acting) for function in functions)
        if forms[-1].first >= 0 or expanded <= LARGEST:
            return f"{text}."
        shared = {n for f in functions for n in post_order(f) if n.__class__ not in LEAVES}
        return (
            f"{text}. Without sharing it would be {expanded:,} expressions instead of {len(shared):,}, "
            "too many to show."
        )


class _Measured:
    """The measurements of a run: the values of each expression, and the lifetimes of objects."""

    def __init__(self, run: Evaluation) -> None:
        self.run = run
        self.end = min(len(run.steps), LIMIT)
        self.heap = Heap(lambda closure: "", lambda closure: [""] * len(closure.captured), scalars=True)
        self.heap.held.update({id(cell): held for cell, held in run.cells})
        self.values: dict[Expr, list[tuple[int, Value]]] = {}  # (step, value)
        self.owned: dict[int, int] = {}  # by object that the program computed: its bytes
        self._add_inputs()
        for number, step in enumerate(run.steps[: self.end]):
            self._step(number, step)
        result = getattr(run.steps[-1], "value", None)
        self.last = self.heap.last_steps(run.activations, self.end, result, not run.left_out)

    def _add_inputs(self) -> None:
        """Add the arguments and constants, which exist from the start."""
        constants = [a.frame[slot] for a in self.run.activations for slot, _ in a.code.constants]
        for value in (*self.run.args, *constants):
            list(self.heap.add(value, 0, -1))

    def _step(self, number: int, step: Step) -> None:
        match step:
            case Made():
                if step.instruction.kind is Kind.REF:
                    held = step.activation.frame[step.instruction.operands[0]]
                    self.heap.held[id(step.value)] = held
                elif step.instruction.kind is Kind.WRITE:
                    cell, value = (step.activation.frame[s] for s in step.instruction.operands)
                    self.heap.write(cell, value, number)
                self._add_value(step.instruction.node, step.value, number)
            case Returned():
                self._add_value(step.instruction.node, step.value, number)

    def _add_value(self, node: Expr, value: Value, step: int) -> None:
        for new in self.heap.add(value, step, 0):
            thing = self.heap.things[new].value
            self.owned[new] = int(thing.nbytes) if is_tensor(thing) else 0
        self.values.setdefault(node, []).append((step, value))

    def item(self, node: Expr, key: int, row: int) -> Item:
        values = self.values.get(node, [])
        lives = [Span(step, self._until(value, step)) for step, value in values[:MAX_LIVES]]
        size = _bytes(values[0][1]) if values else 0
        return Item(key, row, self.run.runs.get(node, 0), size, tuple(lives))

    def _until(self, value: Value, step: int) -> int:
        number = self.heap.number(value)
        return max(step, min(self.last[number], self.end - 1)) if number >= 0 else step

    def live(self) -> list[int]:
        """Return, for each step, the bytes of the computed values that are still needed after it."""
        change = [0] * (self.end + 1)
        for number, size in self.owned.items():
            created = self.heap.things[number].step
            change[created] += size
            change[min(max(created, self.last[number]) + 1, self.end)] -= size
        return list(accumulate(change[: self.end]))


def _moved(row: Row, offset: int) -> Row:
    end = row.end + offset if row.end >= 0 else -1
    return row._replace(end=end)


def _expression(row: printed.Row) -> str:
    """Return what a row computes, without the name that it binds."""
    text = row.text
    if row.kind in (printed.BINDING, printed.LET) and " = " in text:
        text = text.partition(" = ")[2]
    return text.rstrip(";")


def _operands(node: Expr) -> Iterator[Expr]:
    yield from (part for part in children(node) if part.__class__ not in LEAVES)


def _bytes(value: Value) -> int:
    """Return the size in bytes of a tensor, or of those in a tuple."""
    total, pending = 0, [value]
    while pending:
        current = pending.pop()
        if isinstance(current, tuple):
            pending.extend(current)
        elif is_tensor(current):
            total += int(current.nbytes)
    return total
