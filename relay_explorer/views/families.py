"""How each family of operators is drawn: by a shape together with a color, never by the color alone."""

from __future__ import annotations

from ..ir.adt import Constructor, Match
from ..ir.expr import (
    Call,
    Constant,
    Expr,
    Function,
    GlobalVar,
    If,
    RefCreate,
    RefRead,
    RefWrite,
    Tuple,
    TupleGetItem,
    Var,
)
from ..ir.op import Op
from .ir.format import Family

FAMILIES = {
    family.name: family
    for family in (
        Family("convolution", "rect", "blue"),
        Family("matmul", "hex", "orange"),
        Family("normalization", "parallelogram", "teal"),
        Family("activation", "round", "pink"),
        Family("arithmetic", "circle", "olive"),
        Family("comparison", "circle", "red"),
        Family("reduction", "trapezium", "red"),
        Family("pooling", "trapezium", "purple"),
        Family("shape", "diamond", "sky"),
        Family("index", "diamond", "brown"),
        Family("creation", "bar", "brown"),
        Family("image", "rect", "purple"),
        Family("training", "hex", "red"),
        Family("quantization", "trapezium", "teal"),
        Family("other", "rect", "grey"),
        Family("input", "bar", "grey"),
        Family("constant", "bar", "sky"),
        Family("tuple", "parallelogram", "grey"),
        Family("control", "diamond", "orange"),
        Family("function", "round", "blue"),
        Family("reference", "hex", "teal"),
        Family("data type", "hex", "purple"),
    )
}

_DETAILS: dict[type[Expr], tuple[str, str]] = {
    Var: ("input", "A variable: a parameter, or a name that a pattern binds."),
    Constant: ("constant", "A constant, whose value is part of the program."),
    Tuple: ("tuple", "A tuple groups several values into one."),
    TupleGetItem: ("tuple", "One field of a tuple."),
    If: ("control", "A conditional: only the branch that is taken is evaluated."),
    Match: ("data type", "Pattern matching: the first clause whose pattern matches gives the result."),
    Function: ("function", "A function as a value: a closure."),
    GlobalVar: ("function", "A function of the module."),
    Constructor: ("data type", "A constructor of an algebraic data type."),
    RefCreate: ("reference", "Creates a mutable cell."),
    RefRead: ("reference", "Reads the current content of a cell."),
    RefWrite: ("reference", "Writes a value into a cell; its result is the empty tuple."),
}


def describe(expr: Expr) -> tuple[Family, str]:
    """Return the family of an expression, and one line about what it does."""
    callee = expr.op if isinstance(expr, Call) else expr
    if isinstance(callee, Op):
        return FAMILIES.get(callee.family, FAMILIES["other"]), callee.description
    if isinstance(expr, Call):
        if isinstance(callee, Constructor):
            return FAMILIES["data type"], f"Constructs a value of the type {callee.belong_to.name_hint}."
        return FAMILIES["function"], "Calls a function."
    name, detail = _DETAILS.get(type(expr), ("other", ""))
    return FAMILIES[name], detail
