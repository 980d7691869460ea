"""`gradient`: return a function together with its derivatives."""

from __future__ import annotations

from ...ir.errors import RelayError
from ...ir.expr import Expr, Function, GlobalVar
from ...ir.module import IRModule
from ...ir.walk import post_order
from ...typing import infer_types
from ..normal_forms.to_a_normal_form import to_a_normal_form
from .first_order import derived

MODES = ("higher_order", "first_order")


def gradient(expr: Expr, mod: IRModule | None = None, mode: str = "higher_order") -> Function:
    """Return the function that computes `(result, (derivative with respect to each parameter, …))`, where
    `expr`, a function or the name of a function of `mod`, computes `result`.

    The derivative is that of the sum of the result's elements; of a tuple, only the first field counts. A
    parameter on which the result does not depend smoothly, such as an index, has zeros.

    With mode="first_order" the function must be a data-flow graph of operators, and the returned function is
    one too. With mode="higher_order" it may have closures, recursion, branches, references and data types:
    every tensor is paired with a cell that accumulates its gradient, and every operator, when it runs,
    extends the backpropagator, the function that runs the backward pass. Translated copies (`f_grad`) of the
    functions of `mod` that it calls are then added to `mod`; in no other case is an argument modified.
    PartialEvaluate, and then DeadCodeElimination(ignore_impurity=True), remove cells and closures again where
    the path through the program is static; those of a branch that depends on data stay, with the writes to
    them.
    """
    if mode not in MODES:
        raise RelayError(f'mode is "{mode!s:.40}", but it is "higher_order" or "first_order"')
    if isinstance(expr, GlobalVar):
        if mod is None or expr not in mod:
            raise RelayError(
                f"the function `@{expr.name_hint}` is not known", help=["give its module: gradient(f, mod)"]
            )
        expr = mod[expr]
    if not isinstance(expr, Function):
        help = "make it one: relay.Function(relay.analysis.free_vars(expr), expr)"
        if isinstance(expr, IRModule):
            help = 'give one of its functions, and the module: gradient(mod["main"], mod)'
        article = "an" if type(expr).__name__[0] in "AEIO" else "a"
        raise RelayError(
            f"only functions have gradients, not {article} {type(expr).__name__}",
            expr.span if isinstance(expr, Expr) else None,
            help=[help],
        )
    if mod is None and (called := [n for n in post_order(expr) if isinstance(n, GlobalVar)]):
        raise RelayError(
            f"the function `@{called[0].name_hint}`, which is called here, is not known",
            expr.span,
            help=["give its module: gradient(f, mod)"],
        )
    if mode == "first_order":
        return derived(typed_normal(expr, mod))
    from .higher_order import higher_order

    return higher_order(expr, mod)


def typed_normal(function: Function, mod: IRModule | None) -> Function:
    """Convert the function to A-normal form, with types."""
    whole = mod.copy() if mod is not None else IRModule()
    name = "differentiated"
    while name in whole:
        name += "_"
    whole[name] = to_a_normal_form(function)
    typed = infer_types(whole)[name]
    assert isinstance(typed, Function)
    return typed
