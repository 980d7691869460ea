"""FirstOrderGradient: reverse-mode differentiation of data-flow programs."""

from __future__ import annotations

from typing import NamedTuple

from ...ir.annotate import set_checked_type, set_origin
from ...ir.errors import RelayError
from ...ir.expr import Expr, Function, Let, Tuple, Var
from ...ir.lazy_dataclass import dataclass
from ...ir.module import IRModule
from ...ir.walk import rewrite_nodes
from ...ops.gradient_tools import zeros_of
from ...text.names import Names
from ...typing import infer_types
from ..infrastructure import Contract, Pass, PassContext
from ..normal_forms.to_a_normal_form import to_a_normal_form
from ..tools.new_variables import copy_variable, with_new_variables
from .bindings import Bindings
from .reverse_mode import ReverseMode


@dataclass(frozen=True)
class FirstOrderGradient(Pass):
    """Make each function return its result together with the gradients of its parameters.

    `fn (a, b) -> r` becomes `fn (a, b) -> (r, (da, db))`, where `da` is the derivative of the sum of all
    elements of `r`. The function must be a data-flow graph of operators: calls of functions, branches,
    closures and references on a path from a parameter to the result are refused; `gradient` with
    mode="higher_order" differentiates them.
    """

    name = "FirstOrderGradient"
    opt_level = 0
    required = ("InferType",)
    contract = Contract(types=False, gives="A-normal")

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        normal = mod.copy()
        for var, function in mod.functions.items():
            if isinstance(function, Function) and "Compiler" not in function.attrs:
                normal[var] = to_a_normal_form(function)
        typed = infer_types(normal)
        new = mod.copy()
        for var, function in mod.functions.items():
            if isinstance(function, Function) and "Compiler" not in function.attrs:
                new[var] = derived(typed[var])
                set_origin(new[var], (function,))
        return new


class Derivation(NamedTuple):
    """A function with its derivatives, and how it relates to the original.

    `forward` is the number of bindings of the forward pass, which come first in `function`; those after them
    belong to the backward pass. `variables` maps the id of an expression of a `Visit` to the atom that it is
    bound to.
    """

    function: Function
    forward: int
    variables: dict[int, Expr]


def derived(normal: Function) -> Function:
    """Differentiate a typed function in A-normal form: the new function returns the result and its
    derivatives with respect to the parameters.
    """
    return differentiated(normal).function


def differentiated(normal: Function, annotated: bool = True) -> Derivation:
    """Differentiate a typed function in A-normal form with respect to its parameters; emit a `Visit` per
    expression.

    If not `annotated`, the bindings of the forward pass lose their type annotations.
    """
    if normal.type_params:
        raise RelayError(
            "a polymorphic function has no derivative, because the tensors in its values are unknown",
            normal.span,
            help=["call it with tensors from another function, and differentiate that one"],
        )
    normal = with_new_variables(normal, _uniquely_named(normal, annotated))
    block = Bindings("g")
    result = _forward(normal.body, block)
    forward = len(block.bindings)

    def emit(expr: Expr, derivative: Expr) -> Expr:
        """Bind a derivative to a variable, whose name says with respect to which variable it is taken."""
        if isinstance(derivative, Tuple):
            return derivative
        name = reverse.names.get(id(expr), expr)
        return block.atom(derivative, f"d_{name.name_hint}" if isinstance(name, Var) else "d")

    reverse = ReverseMode(block.around(result), normal.params, emit)
    derivatives = reverse.derivatives()
    by_params = [
        zeros_of(param) if by is None else by for param, by in zip(normal.params, derivatives, strict=True)
    ]
    body = block.around(block.atom(Tuple([result, Tuple(by_params)])))
    function = Function(normal.params, body, None, (), normal.attrs, normal.span)
    variables = {id(expr): block.atoms[id(expr)] for expr in block.kept}
    for value, var in reverse.names.items():
        variables[value] = var
    return Derivation(function, forward, variables)


def _uniquely_named(normal: Function, annotated: bool) -> dict[Var, Var]:
    """Copy the bound variables under unique names, so that a derivative's name identifies its variable."""
    names = Names(param.name_hint for param in normal.params)
    copies: dict[Var, Var] = {}
    body = normal.body
    while isinstance(body, Let):
        if not isinstance(body.value, Var):
            copies[body.var] = copy_variable(body.var, names.unique(body.var.name_hint), annotated)
        body = body.body
    return copies


def _forward(body: Expr, block: Bindings) -> Expr:
    """Add the bindings of a block in A-normal form to `block`, except those that only rename a variable, and
    return the block's result.
    """
    names: dict[Var, Expr] = {}

    def named(part: Expr) -> Expr:
        return names.get(part, part) if isinstance(part, Var) else part

    while isinstance(body, Let):
        if isinstance(body.value, Var):
            names[body.var] = named(body.value)
        else:
            block.bind(body.var, _renamed(body.value, names))
        body = body.body
    return named(body)


def _renamed(value: Expr, names: dict[Var, Expr]) -> Expr:
    """Rename the variables of a bound value, in its blocks too."""
    if not names:
        return value

    def renamed(node: Expr, rebuilt: Expr) -> Expr:
        if isinstance(node, Var):
            return names.get(node, node)
        return node if rebuilt is node else set_checked_type(rebuilt, node._checked_type)

    return rewrite_nodes(value, renamed)
