"""Operators of TVM's that are not here say so, and why."""

from __future__ import annotations

import re

import pytest

from relay_explorer import relay
from relay_explorer.ir.errors import RelayError
from relay_explorer.ir.op import Op
from relay_explorer.ops.left_out import LEFT_OUT, reason


def test_none_of_them_is_here() -> None:
    names = Op.list_op_names()
    for name, why in LEFT_OUT.items():
        assert [n for n in names if n == name or (name.endswith(".") and n.startswith(name))] == []
        assert re.fullmatch(r"[a-z][^\n]*[^.\n]", why), name


def test_a_prefix_stands_for_all_that_begin_with_it() -> None:
    assert reason("contrib.ethosu.conv2d") == reason("contrib.ethosu") == LEFT_OUT["contrib.ethosu."]
    assert reason("contrib.ethosux") is None
    assert reason("nn.conv2d") is None
    assert reason("nn.sparse_conv2d") == LEFT_OUT["nn.sparse_conv2d"]


@pytest.mark.parametrize(
    "path", ["device_copy", "nn.sparse_conv2d", "annotation.bitpack_start", "vm", "op.memory"]
)
def test_the_namespace_says_why(path: str) -> None:
    *parts, last = path.split(".")
    place: object = relay
    for part in parts:
        place = getattr(place, part)
    with pytest.raises(AttributeError) as caught:
        getattr(place, last)
    why = reason(path.removeprefix("op."))
    assert str(caught.value) == (
        f"tvm.relay.{path} is not in relay_explorer's tvm: the operator is left out: {why}"
    )


def test_a_program_that_uses_one_is_told() -> None:
    with pytest.raises(RelayError) as caught:
        relay.parse('#[version = "0.0.5"]\ndef @main(%x: Tensor[(2), float32]) { device_copy(%x) }')
    assert str(caught.value) == (
        "from_string:2:39: error: there is no operator or constructor called `device_copy`\n"
        "   2 | def @main(%x: Tensor[(2), float32]) { device_copy(%x) }\n"
        "     |                                       ^^^^^^^^^^^\n"
        "help: TVM's operator of that name is left out: it names the device of a value; here a "
        "program runs in this process"
    )
