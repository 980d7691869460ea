"""Detect the language features that a program uses."""

from __future__ import annotations

from enum import IntEnum

from ..ir.adt import Constructor, Match
from ..ir.expr import (
    Call,
    Constant,
    Expr,
    Function,
    GlobalVar,
    If,
    Let,
    RefCreate,
    RefRead,
    RefWrite,
    Tuple,
    TupleGetItem,
    Var,
)
from ..ir.module import IRModule
from ..ir.op import Op
from ..ir.walk import children, free_vars, post_order


class Feature(IntEnum):
    """Language features, numbered as in TVM. `fGraph`: a computation whose value is used in several places is
    shared without a `let`. `fLetRec`: a `let` whose value uses its own variable.
    """

    fVar = 0  # noqa: N815 - the names that tvm.relay gave them
    fGlobalVar = 1  # noqa: N815
    fConstant = 2  # noqa: N815
    fTuple = 3  # noqa: N815
    fTupleGetItem = 4  # noqa: N815
    fFunction = 5  # noqa: N815
    fOp = 6  # noqa: N815
    fCall = 7  # noqa: N815
    fLet = 8  # noqa: N815
    fIf = 9  # noqa: N815
    fRefCreate = 10  # noqa: N815
    fRefRead = 11  # noqa: N815
    fRefWrite = 12  # noqa: N815
    fConstructor = 13  # noqa: N815
    fMatch = 14  # noqa: N815
    fGraph = 15  # noqa: N815
    fLetRec = 16  # noqa: N815


_OF_CLASS: dict[type, Feature] = {
    Var: Feature.fVar,
    GlobalVar: Feature.fGlobalVar,
    Constant: Feature.fConstant,
    Tuple: Feature.fTuple,
    TupleGetItem: Feature.fTupleGetItem,
    Function: Feature.fFunction,
    Op: Feature.fOp,
    Call: Feature.fCall,
    Let: Feature.fLet,
    If: Feature.fIf,
    RefCreate: Feature.fRefCreate,
    RefRead: Feature.fRefRead,
    RefWrite: Feature.fRefWrite,
    Constructor: Feature.fConstructor,
    Match: Feature.fMatch,
}
_NAMES = (Var, GlobalVar, Op, Constructor, Constant)


def detect_feature(a: Expr | IRModule | None, b: Expr | IRModule | None = None) -> set[Feature]:
    """Return the features of an expression, of a module's functions, or of both, in either order."""
    features: set[Feature] = set()
    for program in (a, b):
        if isinstance(program, IRModule):
            for function in program.functions.values():
                features |= _features(function)
        elif program is not None:
            features |= _features(program)
    return features


def _features(root: Expr) -> set[Feature]:
    features: set[Feature] = set()
    used: set[Expr] = set()
    for node in post_order(root):
        features.add(_OF_CLASS[type(node)])
        if isinstance(node, Let) and node.var in free_vars(node.value):
            features.add(Feature.fLetRec)
        for part in children(node):
            if isinstance(part, _NAMES):
                continue
            if part in used:
                features.add(Feature.fGraph)
            used.add(part)
    return features
