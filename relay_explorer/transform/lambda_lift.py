"""LambdaLift: move local functions to the module."""

from __future__ import annotations

from ..analysis.effects import effects
from ..ir.annotate import set_origin
from ..ir.expr import Call, Expr, Function, GlobalVar, Let, Var
from ..ir.lazy_dataclass import dataclass
from ..ir.module import IRModule
from ..ir.rewrites import emit_rewrite
from ..ir.types import Type, TypeVar
from ..ir.walk import children, free_type_vars, free_vars, post_order, rebuild, type_vars_in
from ..typing import infer_types
from .infrastructure import Pass, PassContext
from .infrastructure.function_passes import rewritten
from .normal_forms.to_basic_block_normal_form import ToBasicBlockNormalForm
from .tools.inlining import substituted


@dataclass(frozen=True)
class LambdaLift(Pass):
    """Move every local function to the module, so that code refers to it by name.

    A function without free variables is moved as it is. One with free variables becomes the result of a
    function of these variables, which has the attribute `Closure=1`: `fn (%x) { add(%x, %y) }` becomes
    `@lifted_name0(%y)`, where `@lifted_name0` is `fn (%y) { fn (%x) { add(%x, %y) } }`. A virtual machine
    compiles such a call to the allocation of a closure: the function's name and the values of the variables.
    A recursive function calls the lifted one.

    Kernels (functions with `Primitive`), and functions of external compilers, stay.
    """

    name = "LambdaLift"
    opt_level = 1

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        # What creates or reads a cell, and is shared with an inner function, must be evaluated once: bind it.
        new = infer_types(ToBasicBlockNormalForm()(mod) if effects(mod) else mod)
        lifter = _Lifter(new)
        for var, function in new.functions.items():
            if isinstance(function, Function) and not stays(function):
                new[var] = lifter.without_functions(function)
        for name, function in lifter.lifted.items():
            new[name] = function
        return new


def stays(function: Function) -> bool:
    """Whether a function belongs to a backend as a whole: a kernel, or a function of an external compiler."""
    return "Compiler" in function.attrs or "Primitive" in function.attrs


def code_of_closure(function: Function) -> Function | None:
    """Return the local function that a lifted one returns; None for a function that was not lifted, or has
    been changed since.
    """
    return function.body if "Closure" in function.attrs and isinstance(function.body, Function) else None


class _Lifter:
    """Lifts the local functions out of the functions of a typed module."""

    def __init__(self, mod: IRModule) -> None:
        self.mod = mod
        self.lifted: dict[GlobalVar, Function] = {}
        self.number = 0

    def without_functions(self, root: Function) -> Function:
        """Lift all local functions out of a function."""
        order = post_order(root)
        unlifted = {
            inner
            for node in order
            if isinstance(node, Function) and stays(node)
            for inner in post_order(node)
        }
        names: dict[Expr, list[Var]] = {}  # the variables that functions are bound to
        for node in order:
            if isinstance(node, Let):
                names.setdefault(node.value, []).append(node.var)
        memo: dict[Expr, Expr] = {}
        for node in order:
            if node in unlifted:
                memo[node] = node
                continue
            new = rebuild(node, [memo[part] for part in children(node)])
            if isinstance(node, Function) and node is not root and node is not code_of_closure(root):
                new = self._closure(node, rewritten(node, new), names.get(node, []))
            memo[node] = new
        return rewritten(root, memo[root])

    def _closure(self, old: Function, new: Function, names: list[Var]) -> Expr:
        """Move a local function, `old` before and `new` after its own local functions were lifted, to the
        module; return the expression that replaces it.
        """
        free = free_vars(old)
        own = [var for var in names if var in free]
        captured = [var for var in free if var not in own]
        types = _free_types(old, captured)
        target = self._fresh_name()
        set_origin(target, (old,))
        inside: dict[Var, Expr] = {var: Var(var.name_hint, var.checked_type) for var in captured}
        params = [var for var in inside.values() if isinstance(var, Var)]
        for var, param in zip(captured, params):
            set_origin(param, (var,))
        inside.update(dict.fromkeys(own, _closure_of(target, params, types)))
        body = substituted(new.body, inside)
        lifted = Function(old.params, body, old.ret_type, old.type_params, old.attrs, old.span)
        set_origin(lifted, (old,))
        if captured or types:
            lifted = Function(params, lifted, old.checked_type, types, {"Closure": 1}, old.span)
            set_origin(lifted, (old,))
        self.lifted[target] = lifted
        closure = _closure_of(target, captured, types)
        if closure is not target:
            set_origin(closure, (old,))
        emit_rewrite(
            self._closure, old, closure,
            sentence="A local function moves to the module; "
            "its free variables become parameters.",
        )  # fmt: skip
        return closure

    def _fresh_name(self) -> GlobalVar:
        while f"lifted_name{self.number}" in self.mod:
            self.number += 1
        self.number += 1
        return GlobalVar(f"lifted_name{self.number - 1}")


def _closure_of(target: GlobalVar, captured: list[Var], types: list[TypeVar]) -> Expr:
    """Build the closure of a lifted function: its name alone if nothing is captured."""
    return Call(target, captured, None, types) if captured or types else target


def _free_types(function: Function, captured: list[Var]) -> list[TypeVar]:
    """Return the type variables that a function, or a value it captures, uses from outside."""
    free = dict.fromkeys(free_type_vars(function))
    for var in captured:
        type_: Type = var.checked_type
        used, bound = type_vars_in(type_)
        free.update(dict.fromkeys(v for v in used if v not in bound))
    return list(free)
