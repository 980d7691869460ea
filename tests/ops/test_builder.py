"""Builders that are derived from their signatures generate their code at the first call."""

from __future__ import annotations

import inspect
import subprocess
import sys
import threading

import pytest

from relay_explorer import relay
from relay_explorer.ir import Expr
from relay_explorer.ir.errors import AttributeSchemaError
from relay_explorer.ops import builders

X = relay.var("x", shape=(2, 3))


def test_calls_without_attributes_share_the_defaults() -> None:
    one, other = relay.nn.softmax(X), relay.nn.softmax(X, axis=-1)
    assert one.attrs is other.attrs
    assert relay.nn.softmax(X, axis=0).attrs != one.attrs
    assert relay.nn.softmax(X, 0).attrs == relay.nn.softmax(axis=0, data=X).attrs


def test_a_value_that_only_equals_the_default_is_converted() -> None:
    assert relay.nn.leaky_relu(X, alpha=1).attrs == relay.nn.leaky_relu(X, alpha=1.0).attrs
    attrs = relay.nn.softmax(X, axis=True).attrs
    assert attrs is not None
    assert isinstance(attrs["axis"], int)
    assert not isinstance(attrs["axis"], bool)


def test_values_of_the_wrong_kind_are_refused() -> None:
    with pytest.raises(AttributeSchemaError, match="attribute `axis` takes an integer, not 'a'"):
        relay.nn.softmax(X, axis="a")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({}, r"add\(\) missing 2 required positional arguments: 'lhs' and 'rhs'"),
        ({"lhs": X}, r"add\(\) missing 1 required positional argument: 'rhs'"),
        ({"lhs": X, "rhs": X, "other": X}, r"add\(\) got an unexpected keyword argument 'other'"),
    ],
)
def test_wrong_arguments_are_refused_as_python_does(args: dict[str, object], message: str) -> None:
    for _ in range(2):  # the call that generates the code, and the one after
        with pytest.raises(TypeError, match=message):
            relay.add(**args)  # type: ignore[arg-type]


def test_generated_code_has_the_parameters_of_the_signature() -> None:
    for build in builders("").values():
        declared = getattr(build, "__wrapped__", None)
        if declared is not None:
            assert inspect.signature(build) == inspect.signature(declared)
            generate = build.__globals__.get("_generate")
            if generate is not None:
                generate()
                assert inspect.signature(build, follow_wrapped=False).parameters.keys() == (
                    inspect.signature(declared).parameters.keys()
                )


def test_first_calls_in_many_threads() -> None:
    program = relay.reshape_like  # not called above
    barrier, results = threading.Barrier(8), list[Expr]()

    def use() -> None:
        barrier.wait()
        results.append(program(X, X))

    threads = [threading.Thread(target=use) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 8


def test_builders_follow_a_change_of_the_kinds_of_attributes() -> None:
    program = (
        "from relay_explorer import relay\n"
        "x = relay.var('x', shape=(2, 3))\n"
        "assert type(relay.nn.softmax(x).attrs.axis) is int\n"
        "from relay_explorer.compat import typed_numbers\n"
        "typed_numbers.enable()\n"
        "assert relay.nn.softmax(x).attrs.axis.value == -1\n"
        "assert relay.nn.softmax(x, axis=0).attrs.axis.dtype == 'int32'\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
