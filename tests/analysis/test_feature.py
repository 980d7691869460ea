"""Which parts of the language a program uses."""

from __future__ import annotations

from typing import ClassVar

import pytest

from relay_explorer import relay
from relay_explorer.analysis import Feature, detect_feature


class TestExpressions:
    x = relay.var("x", "int32")
    shared = relay.exp(x)
    CASES: ClassVar[dict[str, tuple[relay.Expr, str]]] = {
        "a name": (x, "Var"),
        "shared": (relay.Tuple([shared, shared]), "Tuple Call Op Var Graph"),
        "twice in one call": (relay.add(shared, shared), "Call Op Var Graph"),
        "names may be shared": (relay.add(x, x), "Call Op Var"),
        "recursive": (relay.Let(x, relay.Function([], x()), x), "Let Var Function Call LetRec"),
        "not recursive": (relay.Let(x, relay.const(1), x), "Let Var Constant"),
        "cells": (
            relay.RefWrite(relay.RefCreate(x), relay.RefRead(x)), "RefCreate RefRead RefWrite Var"
        ),
        "choice": (
            relay.If(x, relay.TupleGetItem(x, 0), relay.GlobalVar("f")), "If TupleGetItem Var GlobalVar"
        ),
    }  # fmt: skip

    @pytest.mark.parametrize("name", CASES)
    def test_features(self, name: str) -> None:
        expr, features = self.CASES[name]
        assert detect_feature(expr) == {Feature[f"f{word}"] for word in features.split()}


def test_the_prelude() -> None:
    """As TVM's test has it for its prelude."""
    without = {Feature.fRefCreate, Feature.fRefRead, Feature.fRefWrite, Feature.fGraph, Feature.fLetRec}
    assert detect_feature(relay.prelude.Prelude().mod) == set(Feature) - without


def test_an_expression_and_a_module_in_either_order() -> None:
    module = relay.IRModule.from_expr(relay.Function([], relay.const(1)))
    expr = relay.Tuple([])
    both = {Feature.fFunction, Feature.fConstant, Feature.fTuple}
    assert detect_feature(expr, module) == detect_feature(module, expr) == both
