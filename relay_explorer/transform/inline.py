"""Inline: replace calls of functions that are marked for inlining by their bodies."""

from __future__ import annotations

from collections.abc import Mapping

from ..analysis.effects import effects
from ..ir.annotate import set_origin
from ..ir.expr import Call, Expr, Function, GlobalVar
from ..ir.lazy_dataclass import dataclass
from ..ir.module import IRModule
from ..ir.rewrites import emit_rewrite
from ..ir.walk import children, post_order, rebuild
from ..typing import infer_types
from .infrastructure import Pass, PassContext
from .infrastructure.function_passes import rewritten
from .tools.inlining import copied, inlined


@dataclass(frozen=True)
class Inline(Pass):
    """Inline functions that have the attribute `Inline=1`, callees first, and remove those that become
    unused.

    Entry points stay. A function that still refers to other functions is not inlined: neither a recursive
    one, nor one that calls a function that stays. A function for an external compiler (attribute `Compiler`)
    is moved as a whole function, and so is one that is used as a value.
    """

    name = "InlineGlobals"
    opt_level = 1

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        functions = {var: f for var, f in mod.functions.items() if isinstance(f, Function)}
        marked = {var for var, f in functions.items() if _is_marked(f)}
        if not marked:
            return mod
        if any(functions[var].type_params for var in marked):  # their calls need type arguments
            mod = infer_types(mod)
            functions = {var: f for var, f in mod.functions.items() if isinstance(f, Function)}
            marked = {var for var, f in functions.items() if _is_marked(f)}
        named = {var: _named(f, mod) for var, f in functions.items()}
        entries = functions.keys() - {callee for names in named.values() for callee in names}
        acts = effects(mod)
        new = mod.copy()
        leaves: dict[str, Function] = {}  # the functions to inline into their callers, by name
        for var in _callees_first(named):
            function = functions[var]
            if any(callee.name_hint in leaves for callee in named[var]):
                function = _with(function, leaves, acts)
                new[var] = function
                named[var] = _named(function, new)
            if var in marked and not named[var]:
                leaves[var.name_hint] = function
        still_named = {callee for names in named.values() for callee in names}
        for var in marked:
            if var.name_hint in leaves and var not in still_named and var not in entries:
                del new[var]
        return new


def _is_marked(function: Function) -> bool:
    return "Inline" in function.attrs and bool(int(function.attrs["Inline"]))


def _named(function: Function, mod: IRModule) -> dict[GlobalVar, None]:
    """Return the module's functions that a function refers to."""
    references = [node for node in post_order(function) if isinstance(node, GlobalVar)]
    return {mod.get_global_var(var.name_hint): None for var in references}


def _callees_first(named: Mapping[GlobalVar, Mapping[GlobalVar, None]]) -> list[GlobalVar]:
    """Sort the functions so that each comes after those that it names, except in cycles."""
    done: dict[GlobalVar, None] = {}
    visited: set[GlobalVar] = set()
    for root in named:
        stack = [] if root in visited else [(root, iter(named[root]))]
        visited.add(root)
        while stack:
            var, rest = stack[-1]
            callee = next((c for c in rest if c not in visited and c in named), None)
            if callee is None:
                done[var] = None
                stack.pop()
            else:
                visited.add(callee)
                stack.append((callee, iter(named[callee])))
    return list(done)


def _with(function: Function, leaves: Mapping[str, Function], acts: set[Expr]) -> Function:
    """Inline the leaves into the function."""
    memo: dict[Expr, Expr] = {}
    for node in post_order(function):
        match node:
            case Call(op=GlobalVar(name_hint=name)) if name in leaves:
                result = _called(node, leaves[name], [memo[arg] for arg in node.args], acts)
                emit_rewrite(
                    _with,
                    node,
                    result,
                    sentence="A call of a function marked `Inline` is replaced by the function's body.",
                )
                memo[node] = result
            case GlobalVar(name_hint=name) if name in leaves:
                memo[node] = copied(leaves[name])
            case _:
                memo[node] = rebuild(node, [memo[part] for part in children(node)])
    return rewritten(function, memo[function])


def _called(call: Call, function: Function, args: list[Expr], acts: set[Expr]) -> Expr:
    """Inline a call of a leaf."""
    fits = len(args) == len(function.params) and len(call.type_args) == len(function.type_params)
    if "Compiler" in function.attrs or "Extern" in function.attrs or not fits:
        result = Call(copied(function), args, call.attrs, call.type_args, call.span)
        set_origin(result, (call,))
        return result
    acting = {number for number, arg in enumerate(call.args) if arg in acts}
    return inlined(function, args, call, call.type_args, acting)
