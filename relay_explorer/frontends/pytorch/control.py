"""`prim::If` and `prim::Loop` as conditionals and recursion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from ...ir import const
from ...ir.errors import RelayError
from ...ir.expr import Expr, Var
from ...ops import namespaces as relay
from ..aten import Scalar
from ..aten.scalars import known
from ..aten.values import Number
from ..base import loops
from .cells import SHARED, Cell, Changes, List, Tensor
from .errors import ProgramRaisesError
from .graph import Block, TorchNode, all_nodes
from .structure import Spec, joined

if TYPE_CHECKING:
    from .interpreter import Environment, Interpreter

_FOREVER = 1 << 31  # a loop with more iterations is a `while` loop
_UNROLLED = 64  # iterations of a loop that is unrolled because it cannot be a recursion
_COMPUTED = 10_000  # iterations of a loop that computes with known numbers only
_ATTEMPTS = 16  # to find what a loop changes


# -- conditionals


class _Branch:
    """What one branch of a conditional returns and changes."""

    def __init__(
        self, values: list[object], originals: list[object], states: dict[Cell, object], spoiled: list[Tensor]
    ) -> None:
        self.values = values
        self.originals = originals
        self.states = states
        self.spoiled = spoiled


def conditional(run: Interpreter, node: TorchNode, inputs: list[object], environment: Environment) -> object:
    """Import `prim::If`: the branch that is taken if that is known, else both."""
    condition = known(run.ctx, cast(Number, inputs[0]))
    blocks = list(node.blocks())
    if not isinstance(condition, Scalar):
        return _several(run.run(blocks[0 if condition else 1], environment), node)
    branches = [_branch(run, block, environment) for block in blocks]
    then, otherwise = branches
    if then is None or otherwise is None:  # an assertion: the other branch raises an exception
        if then is None and otherwise is None:
            raise ProgramRaisesError("the program raises an exception in both branches of a conditional")
        return _several(run.run(blocks[1 if then is None else 0], environment), node)
    return _several(_both(run, node, condition, then, otherwise), node)


def _several(values: Sequence[object], node: TorchNode) -> object:
    return values[0] if node.outputsSize() == 1 else values


def _branch(run: Interpreter, block: Block, environment: Environment) -> _Branch | None:
    """Run a branch and take back its changes; None if it raises an exception."""
    with run.journal.undone() as changes, run.branching():
        try:
            values = run.run(block, environment)
        except ProgramRaisesError:
            return None
        cells, spoiled = _roots(changes.cells())
        states = {cell: run.packer.frozen(cell) for cell in cells}
        return _Branch([run.packer.frozen(value) for value in values], values, states, spoiled)


def _roots(cells: Sequence[Cell]) -> tuple[list[Cell], list[Tensor]]:
    """Return the changed lists and owners of storage, and the tensors that became unreadable."""
    changed: list[Cell] = []
    spoiled: list[Tensor] = []
    for cell in cells:
        if isinstance(cell, Tensor) and cell.problem:
            spoiled.append(cell)
        elif not isinstance(cell, Tensor) or cell.base is None:
            changed.append(cell)
    return changed, spoiled


def _both(
    run: Interpreter, node: TorchNode, condition: Scalar, then: _Branch, otherwise: _Branch
) -> list[object]:
    """Build the conditional whose branches are both possible."""
    cells = list(dict.fromkeys([*then.states, *otherwise.states]))
    pairs = list(zip(then.values, otherwise.values))
    pairs += [
        (
            then.states.get(cell) or run.packer.frozen(cell),
            otherwise.states.get(cell) or run.packer.frozen(cell),
        )
        for cell in cells
    ]
    uses = [bool(value.uses()) for value in node.outputs()] + [True] * len(cells)
    pairs = [run.packer.initialized(*pair) if used else (None, None) for pair, used in zip(pairs, uses)]
    specs = [joined(run.packer.spec_of(a), run.packer.spec_of(b)) for a, b in pairs]

    def flat(side: int) -> list[Expr]:
        return [leaf for pair, spec in zip(pairs, specs) for leaf in run.packer.flat(pair[side], spec)]

    first, second = flat(0), flat(1)
    exprs: Sequence[Expr] = ()
    if first:
        exprs = loops.conditional(run.context, condition.expr, lambda: first, lambda: second)
        exprs = run.finished(node, exprs)
    values = run.packer.several(specs, exprs)
    count = len(then.values)
    for cell, value in zip(cells, values[count:]):
        cell.change(cast(Cell, value).state)
    for tensor in {*then.spoiled, *otherwise.spoiled}:
        tensor.spoil(SHARED)
    results = values[:count]
    for at, (a, b) in enumerate(zip(then.originals, otherwise.originals)):
        if a is b and isinstance(a, Cell) and a not in cells:
            results[at] = a
        elif isinstance(results[at], Tensor):
            for original in (a, b):
                if isinstance(original, Tensor):
                    cast(Tensor, results[at]).relate(original)
    return results


# -- loops


class _WiderError(Exception):
    """A loop carries more than was assumed: other kinds of values, or cells that its body changes."""

    def __init__(self, specs: list[Spec], cells: list[Cell]) -> None:
        super().__init__()
        self.specs = specs
        self.cells = cells


def loop(run: Interpreter, node: TorchNode, inputs: list[object], environment: Environment) -> object:
    """Import `prim::Loop`, which is a `for` loop, a `while` loop, or both."""
    count = known(run.ctx, cast(Number, inputs[0]))
    start = known(run.ctx, cast(Number, inputs[1]))
    initial = inputs[2:]
    if start is False or count == 0:
        return _several(initial, node)
    if _computes_numbers(run, node, initial, environment) and not isinstance(start, Scalar):
        limit = _COMPUTED if isinstance(count, Scalar) else min(cast(int, count), _COMPUTED)
        if not isinstance(count, Scalar):
            return _several(_unrolled(run, node, limit, cast(int, count), initial, environment), node)
    if count == 1 and not isinstance(start, Scalar):
        return _several(_unrolled(run, node, 1, 1, initial, environment), node)
    before = len(run.context.source.nodes)
    try:
        return _several(_recursive(run, node, count, start, initial, environment), node)
    except RelayError:
        # Some loops differ from iteration to iteration, as those that go through a list of known length.
        if isinstance(count, Scalar) or isinstance(start, Scalar) or count > _UNROLLED:
            raise
    run.rollback(before)
    return _several(_unrolled(run, node, _UNROLLED, cast(int, count), initial, environment), node)


def _computes_numbers(
    run: Interpreter, node: TorchNode, initial: Sequence[object], environment: Environment
) -> bool:
    """Whether a loop computes with known numbers only, so that its result is known."""
    if any(isinstance(value, (Scalar, Tensor, List)) for value in initial):
        return False
    (block,) = node.blocks()
    inside = {value.debugName() for value in block.inputs()}
    for inner in all_nodes(block):
        inside |= {value.debugName() for value in inner.outputs()}
        inside |= {value.debugName() for nested in inner.blocks() for value in nested.inputs()}
        if any(value.type().kind() == "TensorType" for value in inner.outputs()):
            return False
        if inner.kind() in ("prim::CallMethod", "prim::CallFunction"):
            return False
    outer = [
        environment[value.debugName()]
        for inner in all_nodes(block)
        for value in inner.inputs()
        if value.debugName() not in inside and value.debugName() in environment
    ]
    return all(
        not isinstance(value, (Scalar, List, Tensor))
        or (isinstance(value, List) and _holds_numbers(value))
        or (isinstance(value, Tensor) and run.ctx.is_static(value.read()))
        for value in outer
    )


def _holds_numbers(value: List) -> bool:
    """Whether a list has a known length and elements that are known numbers."""
    return value.is_known and all(isinstance(item, (int, float)) for item in value.items)


def _unrolled(
    run: Interpreter,
    node: TorchNode,
    limit: int,
    count: int,
    initial: Sequence[object],
    environment: Environment,
) -> list[object]:
    """Run the body as often as the loop does, which must be known."""
    (block,) = node.blocks()
    values = list(initial)
    iteration = 0
    goes_on: object = True
    while iteration < count and goes_on:
        if iteration == limit:
            raise RelayError(
                f"this loop has more than {limit:,} iterations and must be unrolled, because it computes "
                "only with numbers that are known at compile time"
            )
        names = [value.debugName() for value in block.inputs()]
        environment.update(zip(names, [iteration, *values]))
        goes_on, *values = run.run(block, environment)
        goes_on = known(run.ctx, cast(Number, goes_on))
        if isinstance(goes_on, Scalar):
            raise RelayError(
                "this loop must be unrolled, but its condition is known only at run time",
                help=["use a fixed number of iterations"],
            )
        iteration += 1
    return values


def _recursive(
    run: Interpreter,
    node: TorchNode,
    count: Number,
    start: Number,
    initial: Sequence[object],
    environment: Environment,
) -> list[object]:
    """Build a tail-recursive function, in as many attempts as it takes to know what the body changes."""
    specs = [run.packer.spec_of(value) for value in initial]
    cells: list[Cell] = []
    for _ in range(_ATTEMPTS):
        before = len(run.context.source.nodes)
        try:
            return _Loop(run, node, count, start, initial, environment, specs, cells).build()
        except _WiderError as wider:
            specs, cells = wider.specs, wider.cells
            run.rollback(before)
    raise RelayError(
        f"the variables that this loop modifies could not be determined in {_ATTEMPTS} passes over its body"
    )


class _Loop:
    """One attempt to build a loop. `specs` describe the carried values, then the `cells` that it changes."""

    def __init__(
        self,
        run: Interpreter,
        node: TorchNode,
        count: Number,
        start: Number,
        initial: Sequence[object],
        environment: Environment,
        specs: list[Spec],
        cells: list[Cell],
    ) -> None:
        self.run = run
        self.node = node
        self.count = count
        self.start = start
        self.initial = list(initial)
        self.environment = environment
        self.specs = specs
        self.cells = cells
        self.is_counted = isinstance(count, Scalar) or count < _FOREVER
        (self.block,) = node.blocks()
        self.is_conditional = isinstance(start, Scalar) or not _is_true(self.block)
        self.spoiled: list[Tensor] = []
        self.passed_on: list[bool] = []
        self.before = len(run.context.source.nodes)
        self.names = dict(run.names)

    def build(self) -> list[object]:
        """Build the loop; return its results."""
        run = self.run
        values: list[object] = [*self.initial, *self.cells]
        variables: list[tuple[str, Expr]] = []
        if self.is_counted:
            variables.append(("i", const(0, "int64")))
        if self.is_conditional:
            variables.append(("goes_on", run.ctx.tensor(self.start, "bool")))
        labels = [value.debugName() for value in list(self.block.inputs())[1:]]
        for at, (value, spec) in enumerate(zip(values, self.specs)):
            label = labels[at] if at < len(labels) else "changed"
            label = "".join(c if c.isalnum() else "_" for c in label)
            label = f"v{label}" if label[:1].isdigit() else label
            variables += [(label, expr) for expr in run.packer.flat(value, spec)]
        results = loops.while_loop(run.context, "loop", variables, self.condition, self.body)
        finished = run.finished(self.node, results[len(self._control(results)) :])
        return self._results(run.packer.several(self.specs, finished))

    def _control(self, variables: Sequence[Expr]) -> Sequence[Expr]:
        return variables[: int(self.is_counted) + int(self.is_conditional)]

    def condition(self, variables: Sequence[Var]) -> Expr:
        """Return the expression that is true if another iteration follows."""
        tests: list[Expr] = []
        if self.is_counted:
            tests.append(relay.less(variables[0], self.run.ctx.tensor(self.count, "int64")))
        if self.is_conditional:
            tests.append(variables[int(self.is_counted)])
        if not tests:
            raise RelayError("this loop has neither a trip count nor a condition, so it never ends")
        return tests[0] if len(tests) == 1 else relay.logical_and(*tests)

    def body(self, variables: Sequence[Var]) -> list[Expr]:
        """Return the values of the variables in the next iteration."""
        run = self.run
        run.rollback(self.before)
        run.names = dict(self.names)
        control = self._control(variables)
        with run.journal.undone() as changes, run.branching():
            for variable in variables:
                run.context.type(variable)
            values = run.packer.several(self.specs, variables[len(control) :])
            params, changed = values[: len(self.initial)], values[len(self.initial) :]
            for param, outer in zip(params, self.initial):
                if isinstance(param, Tensor) and isinstance(outer, Tensor):
                    param.relate(outer)
            for cell, value in zip(self.cells, changed):
                cell.change(cast(Cell, value).state)
            number = Scalar(variables[0]) if self.is_counted else 0
            names = [value.debugName() for value in self.block.inputs()]
            self.environment.update(zip(names, [number, *params]))
            goes_on, *following = run.run(self.block, self.environment)
            self._widen([*following, *self.cells], changes)
            self.passed_on = [new is old for new, old in zip(following, params)]
            exprs: list[Expr] = []
            if self.is_counted:
                exprs.append(relay.add(variables[0], const(1, "int64")))
            if self.is_conditional:
                exprs.append(run.ctx.tensor(goes_on, "bool"))
            for value, spec in zip([*following, *self.cells], self.specs):
                exprs += run.packer.flat(value, spec)
        for expr in exprs:
            run.context.type(expr)
        return exprs

    def _widen(self, following: Sequence[object], changes: Changes) -> None:
        """Raise `_WiderError` if the loop carries other values than was assumed."""
        spec_of = self.run.packer.spec_of
        roots, self.spoiled = _roots(changes.cells())
        new = [cell for cell in roots if cell not in self.cells]
        specs = [joined(spec, spec_of(value)) for spec, value in zip(self.specs, following)]
        if new or specs != self.specs:
            specs += [joined(changes.before(cell, spec_of), spec_of(cell)) for cell in new]
            raise _WiderError(specs, [*self.cells, *new])

    def _results(self, values: list[object]) -> list[object]:
        """Write what the loop has changed; return its results."""
        results, changed = values[: len(self.initial)], values[len(self.initial) :]
        for cell, value in zip(self.cells, changed):
            cell.change(cast(Cell, value).state)
        spoiled = list(self.spoiled)
        for at, (result, outer) in enumerate(zip(results, self.initial)):
            if isinstance(outer, Tensor) and isinstance(result, Tensor) and self.passed_on[at]:
                if outer.root in {tensor.root for tensor in self.spoiled}:
                    # Every iteration changed the same tensor in place, and the loop returns it.
                    outer.write(result.read())
                    spoiled = [tensor for tensor in spoiled if tensor.root is not outer.root]
                results[at] = outer if outer.read() is result.read() else result
            elif isinstance(outer, Tensor) and isinstance(result, Tensor):
                result.relate(outer)
        for tensor in spoiled:
            tensor.spoil(SHARED)
        return results


def _is_true(block: Block) -> bool:
    """Whether the condition that a loop's body returns is the constant True."""
    condition = next(iter(block.outputs()))
    node = condition.node()
    return bool(node.kind() == "prim::Constant" and node.hasAttribute("value") and node.i("value") == 1)
