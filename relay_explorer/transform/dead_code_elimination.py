"""DeadCodeElimination: remove unused bindings whose evaluation has no side effects."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ..analysis.purity import Purity
from ..ir.adt import Constructor
from ..ir.expr import Call, Constant, Expr, Function, Let, RefCreate, RefRead, Var
from ..ir.module import IRModule
from ..ir.op import Op
from ..ir.rewrites import emit_rewrite
from ..ir.walk import children, free_vars, post_order, rebuild
from .infrastructure import PassContext
from .infrastructure.function_passes import FunctionPass, rewritten
from .tools.cells import Cells


@dataclass(frozen=True)
class DeadCodeElimination(FunctionPass):
    """Remove unused `let`s whose evaluation has no side effects.

    In a module with side effects, an unused `let` also stays if the rest of the program shares a read of a
    reference with its value, because the `let` determines when the reference is read.

    `inline_once` also inlines variables that are used once. `ignore_impurity` also removes writes,
    unless something that stays may read what they write.
    """

    name = "DeadCodeElimination"
    opt_level = 1
    required = ("InferType",)

    inline_once: bool = False
    ignore_impurity: bool = False

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        purity = Purity(mod)
        new = mod.copy()
        for var, function in mod.functions.items():
            if isinstance(function, Function) and "Compiler" not in function.attrs:
                made = _without_dead(
                    function, purity.effects(function), purity.anywhere, self.ignore_impurity
                )
                if self.inline_once:
                    made = _inlined_once(made, purity.effects(made), purity.anywhere)
                new[var] = rewritten(function, made)
        return new


def _without_dead(root: Expr, effects: set[Expr], writes: bool, only_read: bool = False) -> Expr:
    """`root` without the `let`s that are not needed: marked from the result on, then swept. `writes`: there
    are effects somewhere, so that it matters when a cell is read. `only_read`: effects are needed only where
    what they write may be read.
    """
    order = post_order(root)
    lets: dict[Var, list[Let]] = {}
    for node in order:
        if isinstance(node, Let):
            lets.setdefault(node.var, []).append(node)
    cells = Cells(root, order, lets) if only_read and effects else None
    writes = writes and not only_read  # as long as no write is needed
    reading = {id(node) for node in order if _may_read(node)}
    live: set[int] = set()
    seen: set[int] = set()
    pending = [root]
    while pending:
        while pending:
            node = pending.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            if isinstance(node, Let):
                pending.append(node.body)
                if node.value in effects and not only_read:
                    live.add(id(node))
                    pending.append(node.value)
            elif isinstance(node, Var):
                for let in lets.get(node, ()):
                    live.add(id(let))
                    pending.append(let.value)
            else:
                pending += children(node)
        unneeded = [let for same in lets.values() for let in same if id(let) in seen and id(let) not in live]
        if cells is not None:
            needed = cells.read_writes(seen, [let for let in unneeded if let.value in effects])
            if needed:
                writes = True
                live.update(map(id, needed))
                pending += [let.value for let in needed]
                continue
        later = reading & seen if writes else set()
        if later:
            first = [let for let in unneeded if any(id(node) in later for node in post_order(let.value))]
            live.update(map(id, first))
            pending += [let.value for let in first]
    memo: dict[Expr, Expr] = {}
    for node in order:
        if id(node) not in seen and not isinstance(node, Var):
            continue  # in what is left out
        if isinstance(node, Let) and id(node) not in live:
            memo[node] = memo[node.body]
            emit_rewrite(
                _without_dead,
                node.value,
                None,
                (node.var, node.value),
                sentence="It is unused, and its evaluation has no side effects.",
            )
        else:
            memo[node] = rebuild(node, [memo[part] for part in children(node)])
    return memo[root]


def _may_read(node: Expr) -> bool:
    """Whether evaluating a node, apart from its parts, may make or read a cell."""
    if isinstance(node, Call):
        return not isinstance(node.op, (Op, Constructor))
    return isinstance(node, (RefCreate, RefRead))


def _inlined_once(root: Expr, effects: set[Expr], references: bool) -> Expr:
    """`root` with each variable that is used once replaced by its value, where that changes nothing: the
    value has no effect, and is not moved into a function that may run more than once. With `references`, a
    value that reads one stays where it is.
    """
    order = post_order(root)
    uses = Counter(part for node in order for part in children(node) if isinstance(part, Var))
    captured = {
        var for node in order if isinstance(node, Function) and node is not root for var in free_vars(node)
    }
    once: dict[Var, Expr] = {}
    for node in order:
        if isinstance(node, Let) and uses[node.var] == 2:  # where it is bound, and where it is used
            value, cheap = node.value, isinstance(node.value, (Function, Constant, Var))
            reads = references and any(isinstance(n, (RefRead, RefCreate)) for n in post_order(value))
            if value not in effects and not reads and (cheap or node.var not in captured):
                once[node.var] = value
                emit_rewrite(
                    _inlined_once,
                    node.var,
                    value,
                    sentence="A variable that is used once becomes its value.",
                )
    memo: dict[Expr, Expr] = {}

    def put(part: Expr) -> Expr:
        """What stands for a part: for an inlined variable, what stands for its value."""
        while isinstance(part, Var) and part in once:
            part = once[part]
        return memo[part]

    for node in order:
        if isinstance(node, Let):
            body = put(node.body)
            memo[node] = body if node.var in once else rebuild(node, [node.var, put(node.value), body])
        else:
            memo[node] = rebuild(node, [put(part) for part in children(node)])
    return memo[root]
