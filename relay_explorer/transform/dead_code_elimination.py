"""DeadCodeElimination: remove unused bindings whose evaluation has no side effects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from ..analysis.purity import Purity
from ..ir.expr import Constant, Expr, Function, Let, RefCreate, RefRead, RefWrite, Var
from ..ir.lazy_dataclass import dataclass
from ..ir.module import IRModule
from ..ir.rewrites import emit_rewrite
from ..ir.walk import children, free_vars, post_order, rebuild
from .infrastructure import PassContext
from .infrastructure.function_passes import FunctionPass, rewritten
from .tools.cells import Cells, may_call


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
                result = _without_dead(
                    function, purity.effects(function), purity.anywhere, self.ignore_impurity
                )
                if self.inline_once:
                    result = _inlined_once(result, purity.effects(result), purity.anywhere)
                new[var] = rewritten(function, result)
        return new


def _without_dead(root: Expr, effects: set[Expr], writes: bool, only_read: bool = False) -> Expr:
    """Remove the `let`s of `root` that are not live, by mark and sweep from its result. `writes` says that
    there are effects somewhere, so that it matters when a cell is read. With `only_read`, effects are live
    only if the cells that they write may be read.
    """
    marking = _Marking(root, effects, writes, only_read)
    marking.run()
    memo: dict[Expr, Expr] = {}
    for node in marking.order:
        if id(node) not in marking.seen and not isinstance(node, Var):
            continue  # inside a removed `let`
        if isinstance(node, Let) and id(node) not in marking.live:
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


class _Marking:
    """The mark phase: finds the live expressions (`seen`) and the live `let`s (`live`). Of a `let` that is
    seen but not live, only the body is needed. Each node is visited a fixed number of times.
    """

    def __init__(self, root: Expr, effects: set[Expr], writes: bool, only_read: bool) -> None:
        self.order = post_order(root)
        self.effects = effects
        self.only_read = only_read
        self.writes = writes and not only_read  # with `only_read`: true once an effect is live
        self.lets: dict[Var, list[Let]] = {}
        self.parents: dict[int, list[Expr]] = {}
        for node in self.order:
            if isinstance(node, Let):
                self.lets.setdefault(node.var, []).append(node)
            for part in children(node):
                self.parents.setdefault(id(part), []).append(node)
        self.cells = Cells(root, self.order, self.lets) if only_read and effects else None
        self.live: set[int] = set()
        self.seen: set[int] = set()
        self.pending = [root]
        self._required: set[int] = set()  # `let`s to keep once they are seen
        self._around_writes: set[int] = set()
        self._around_reads: set[int] = set()
        self._reads: list[Expr] = []  # reads that were seen before any effect was live

    def run(self) -> None:
        """Mark all live expressions."""
        if self.cells is not None:
            self._require_effects(self.cells.needed_at_first())
        while self.pending:
            node = self.pending.pop()
            if id(node) in self.seen:
                continue
            self.seen.add(id(node))
            if isinstance(node, Let):
                self.pending.append(node.body)
                if id(node) in self._required or (node.value in self.effects and not self.only_read):
                    self._keep(node)
            elif isinstance(node, Var):
                for let in self.lets.get(node, ()):
                    self._keep(let)
            else:
                self.pending += children(node)
            if _may_read(node):
                self._require_early_reads([node])
            if self.cells is not None:
                self._require_effects(self.cells.need(node))
                if isinstance(node, RefWrite) or (may_call(node) and node in self.effects):
                    self.writes = True
                    self._require_early_reads([])

    def _keep(self, let: Let) -> None:
        if id(let) not in self.live:
            self.live.add(id(let))
            self.pending.append(let.value)

    def _require(self, let: Let) -> None:
        self._required.add(id(let))
        if id(let) in self.seen:
            self._keep(let)

    def _require_effects(self, effects: Iterable[Expr]) -> None:
        """Keep the `let`s whose values have one of these effects."""
        for node in effects:
            for let in self._lets_around(node, self._around_writes):
                if let.value in self.effects:
                    self._require(let)

    def _require_early_reads(self, nodes: list[Expr]) -> None:
        """Keep the `let`s that share one of these reads, because they make it happen before later writes."""
        self._reads += nodes
        if self.writes:
            for node in self._reads:
                for let in self._lets_around(node, self._around_reads):
                    self._require(let)
            self._reads = []

    def _lets_around(self, node: Expr, visited: set[int]) -> Iterator[Let]:
        """Iterate over the `let`s whose value contains a node, except those above nodes that were visited
        before.
        """
        pending = [node]
        while pending:
            inner = pending.pop()
            if id(inner) in visited:
                continue
            visited.add(id(inner))
            for parent in self.parents.get(id(inner), ()):
                if isinstance(parent, Let) and parent.value is inner:
                    yield parent
                pending.append(parent)


def _may_read(node: Expr) -> bool:
    """Whether evaluating a node, apart from its parts, may create or read a cell."""
    return may_call(node) or isinstance(node, (RefCreate, RefRead))


def _inlined_once(root: Expr, effects: set[Expr], references: bool) -> Expr:
    """Replace each variable that is used once by its value, where that changes nothing: the value has no
    effect, and is not moved into a function that may run more than once. With `references`, a value that
    reads one stays where it is.
    """
    order = post_order(root)
    uses = Counter(part for node in order for part in children(node) if isinstance(part, Var))
    captured = {
        var for node in order if isinstance(node, Function) and node is not root for var in free_vars(node)
    }
    once: dict[Var, Expr] = {}
    for node in order:
        if isinstance(node, Let) and uses[node.var] == 2:  # once where it is bound, once where it is used
            value, cheap = node.value, isinstance(node.value, (Function, Constant, Var))
            reads = references and any(isinstance(n, (RefRead, RefCreate)) for n in post_order(value))
            if value not in effects and not reads and (cheap or node.var not in captured):
                once[node.var] = value
                emit_rewrite(
                    _inlined_once,
                    node.var,
                    value,
                    sentence="A variable that is used once is replaced by its value.",
                )
    memo: dict[Expr, Expr] = {}

    def put(part: Expr) -> Expr:
        """Return the replacement of a part: for an inlined variable, that of its value."""
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
