"""Methods that only old code calls: attached by the compat layer, absent from the core without it."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

from relay_explorer import relay
from relay_explorer.compat import tvm
from relay_explorer.compat.legacy_methods import METHODS
from relay_explorer.ir.attrs import Attrs, Ints, attr, required
from relay_explorer.ir.identity import Id

WITHOUT = """
import relay_explorer
from relay_explorer import relay
import {module}
cls = {module}.{name}
print([method for method in {methods} if hasattr(cls, method)], hasattr(relay.nn, "Constant"))
"""


class OldAttrs(Attrs, key="test.OldAttrs"):
    size: Ints = required("How large the window is.")
    mode: str = attr("same", "What happens at the border.")


def test_the_core_does_not_have_them() -> None:
    programs = [
        WITHOUT.format(module=cls.__module__, name=cls.__name__, methods=list(methods))
        for cls, methods in METHODS.items()
    ]
    run = subprocess.run(
        [sys.executable, "-c", "".join(programs)], capture_output=True, text=True, check=True
    )
    assert run.stdout.splitlines() == ["[] False"] * len(METHODS)


def test_the_same_object() -> None:
    x: Any = relay.var("x", shape=(2,))
    again: Any = relay.var("x", shape=(2,))
    assert x.same_as(x)
    assert not x.same_as(again)
    assert x.type_annotation.same_as(x.type_annotation)
    assert not x.type_annotation.same_as(again.type_annotation)
    identity: Any = Id(x)
    assert identity.same_as(Id(x))
    assert not identity.same_as(Id(again))
    assert not identity.same_as(x)
    module: Any = relay.IRModule()
    assert not module.same_as(relay.IRModule())


def test_attributes_are_read_by_kind() -> None:
    attrs: Any = OldAttrs(size=[2, 3])
    assert attrs.get_int_tuple("size") == (2, 3)
    assert attrs.get_str("mode") == "same"
    assert [field.name for field in attrs.list_field_info()] == ["size", "mode"]
    conv2d: Any = relay.nn.conv2d(relay.var("x"), relay.var("w"), groups=2)
    assert conv2d.attrs.get_int("groups") == 2


def test_values_have_their_old_names() -> None:
    result: Any = relay.create_executor("debug").evaluate(relay.const(1) + relay.const(2))
    assert result.asnumpy() == result.numpy() == 3
    constant: Any = relay.const(3)
    assert constant.data.asnumpy() == 3
    assert tvm.relay.nn.Constant is relay.Constant


def test_classes_have_their_old_names() -> None:
    assert tvm.relay.RelayExpr is tvm.relay.RelayNode is tvm.relay.expr.RelayExpr is relay.Expr
    assert tvm.relay.RelayRefType is tvm.relay.ty.RelayRefType is tvm.ir.RelayRefType is relay.RefType
    assert tvm.ir.type.RelayRefType is relay.RefType
