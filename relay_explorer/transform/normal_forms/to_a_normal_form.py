"""ToANormalForm: bind every intermediate value with `let`.

The form is that of Flanagan, Sabry, Duba and Felleisen, The Essence of Compiling with Continuations, 1993.
The scope of a binding follows Relay's documentation (Introduction to Relay IR).
"""

from __future__ import annotations

from ...analysis.basic_block import blocks_of, evaluated_parts
from ...ir.adt import Constructor
from ...ir.annotate import set_origin
from ...ir.expr import Call, Constant, Expr, Function, GlobalVar, Let, Var
from ...ir.lazy_dataclass import dataclass
from ...ir.module import IRModule
from ...ir.op import Op
from ...ir.recorder import active
from ...ir.rewrites import Rewrite, emit_rewrite
from ...ir.scopes import LEAVES, Layout, NoNames, Scope, common
from ...ir.walk import rebuild
from ..infrastructure import Contract, Pass, PassContext
from ..tools.on_device import device_of

_ATOMS = frozenset((Var, GlobalVar, Op, Constructor))
KEPT = ("Primitive", "Compiler")  # attributes of functions that belong to a backend: their bodies stay


@dataclass(frozen=True)
class ToANormalForm(Pass):
    """Bind every intermediate value and every constant to a variable, so that operands are always names.

    A shared expression becomes one variable, so sharing is explicit, and the order of evaluation is the order
    of the `let`s. A binding stands in the innermost scope that covers its uses: in a function's body or a
    branch, but before an `if` whose branches share it. The program's own variables keep their names; the
    value of a `let` itself gets a variable too, as in TVM.
    """

    name = "ToANormalForm"
    opt_level = 1
    contract = Contract(gives="A-normal")

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        new = mod.copy()
        for var, function in mod.functions.items():
            if isinstance(function, Function) and "Compiler" not in function.attrs:
                new[var] = to_a_normal_form(function)
        return new


def to_a_normal_form(expr: Expr) -> Expr:
    """Convert an expression to A-normal form; a function stays a function, with a body in that form."""
    return Normalizer(expr).result()


def ToANormalFormExpr(expr: Expr) -> Expr:  # noqa: N802 - TVM's name
    """Return `to_a_normal_form(expr)`."""
    return to_a_normal_form(expr)


class Normalizer:
    """Visits expressions in the order of evaluation, and appends each value's binding to the list of its
    scope. With `across_blocks`, only values that are used in another block than their own are bound.
    """

    def __init__(self, root: Expr, across_blocks: bool = False) -> None:
        self.root = root
        self.recorded = active(Rewrite) is not None
        self.layout = Layout(root, NoNames())
        self.scopes = blocks_of(self.layout)
        self.homes = self._homes()
        self.bound: set[int] | None = self._crossing() if across_blocks else None
        self.bindings: dict[Scope, list[tuple[Var, Expr]]] = {}
        self.on_device: dict[Expr, Call] = {}  # by expression: the annotation that fixes its device
        self.atoms: dict[Expr, Expr] = {}  # by visited expression: the atom that replaces it

    def result(self) -> Expr:
        function = self.root if isinstance(self.root, Function) else None
        if function is not None and _is_kept(function):
            return function
        body = function.body if function is not None else self.root
        scope = self.layout.inner[id(function), 0] if function is not None else self.layout.root
        self._visit_all(body)
        normal = self._block(scope, body)
        return rebuild(function, [*function.params, normal]) if function is not None else normal

    def _visit_all(self, body: Expr) -> None:
        """Visit all expressions, with an explicit stack. An entry of `pending` holds an expression, the `let`
        whose value it is, if any, and whether its parts have been visited.
        """
        pending: list[tuple[Expr, Let | None, bool]] = [(body, None, False)]
        while pending:
            expr, let, visited = pending.pop()
            annotation = self._annotation(expr) if isinstance(expr, Call) and expr.attrs is not None else None
            if visited and annotation is not None:
                self.atoms[expr] = self.atoms[annotation.args[0]]
            elif visited:
                self._bind(expr, let)
            elif expr.__class__ in _ATOMS or expr in self.atoms:
                self.atoms.setdefault(expr, expr)
                if let is not None:
                    self._push(let, let.var, self.atoms[expr])
            elif annotation is not None:
                self.on_device.setdefault(annotation.args[0], annotation)
                pending += [(expr, None, True), (annotation.args[0], let, False)]
            else:
                parts = self._parts(expr)
                if expr in self.on_device and not isinstance(expr, Function):
                    for part, _, _ in parts:
                        self.on_device.setdefault(part, self.on_device[expr])
                pending.append((expr, let, True))
                pending += reversed(parts)

    def _annotation(self, expr: Expr) -> Call | None:
        """Return an `on_device` around a computation. It is put around the value that is bound, and around
        all values that are bound for it, so that each binding keeps its device.
        """
        if self.bound is not None or device_of(expr) is None:
            return None
        assert isinstance(expr, Call)
        return None if expr.args[0].__class__ in _ATOMS else expr

    def _parts(self, expr: Expr) -> list[tuple[Expr, Let | None, bool]]:
        if isinstance(expr, Function) and _is_kept(expr):
            return []
        if isinstance(expr, Let):
            return [(expr.value, expr, False), (expr.body, None, False)]
        return [(part, None, False) for part in evaluated_parts(expr)]

    def _bind(self, expr: Expr, let: Let | None) -> None:
        """Bind a computed value to a variable: that of the `let` it is the value of, or a new one."""
        if let is None and self.bound is not None and id(expr) not in self.bound:
            self.atoms[expr] = self._normal(expr)
            return
        var = let.var if let is not None else Var("x", None, expr.span)
        if let is None:
            set_origin(var, (expr,))
        self._push(expr, var, self._normal(expr))
        if self.recorded and let is None and not isinstance(expr, Let):
            emit_rewrite(
                self._bind,
                expr,
                var,
                sentence="Each computed value gets a variable; its users refer to it by name.",
            )
        self.atoms[expr] = var

    def _push(self, place: Expr, var: Var, value: Expr) -> None:
        if place in self.on_device:
            annotation = self.on_device[place]
            value = rebuild(annotation, [annotation.op, value])
        self.bindings.setdefault(self.scopes[self.homes[id(place)]], []).append((var, value))

    def _homes(self) -> dict[int, Scope]:
        """Map each expression, constants included, to the innermost scope that covers all its uses."""
        homes = dict(self.layout.scope_of)
        for node in self.layout.order:
            here = homes[id(node)]
            for number, part in enumerate(evaluated_parts(node)):
                if isinstance(part, Constant):
                    scope = self.layout.inner.get((id(node), number), here)
                    before = homes.get(id(part))
                    homes[id(part)] = scope if before is None else common(before, scope)
        return homes

    def _crossing(self) -> set[int]:
        """Return the ids of the expressions that are used in another block than the one that computes
        them.
        """
        crossing = set()
        for node in self.layout.order:
            for number, part in enumerate(evaluated_parts(node)):
                if part.__class__ not in LEAVES:
                    used = self.layout.inner.get((id(node), number), self.homes[id(node)])
                    if self.scopes[used] is not self.scopes[self.homes[id(part)]]:
                        crossing.add(id(part))
        return crossing

    def _normal(self, expr: Expr) -> Expr:
        """Rebuild the expression with atoms for its parts and normal blocks for its bodies."""
        if isinstance(expr, Let):
            return self.atoms[expr.body]
        if isinstance(expr, Constant) or (isinstance(expr, Function) and _is_kept(expr)):
            return expr
        inner = self.layout.inner
        parts = [
            self._block(inner[id(expr), number], part) if (id(expr), number) in inner else self.atoms[part]
            for number, part in enumerate(evaluated_parts(expr))
        ]
        return rebuild(expr, [*expr.params, *parts] if isinstance(expr, Function) else parts)

    def _block(self, scope: Scope, body: Expr) -> Expr:
        """Wrap all bindings of a scope around the atom of its result."""
        result = self.atoms[body]
        for var, value in reversed(self.bindings.pop(self.scopes[scope], [])):
            result = Let.of(var, value, result, value.span, (*value.origin, value))
        return result


def _is_kept(function: Function) -> bool:
    return any(name in function.attrs for name in KEPT)
