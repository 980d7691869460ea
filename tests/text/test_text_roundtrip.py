"""Print then parse is the identity, up to names."""

from __future__ import annotations

import random
import struct

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from relay_explorer.ir import Constant, Function, IRModule, NDArray, TensorType, Tuple, Var, const, difference
from relay_explorer.text import astext, parse, parse_expr, show
from relay_explorer.text.literals import quote, unquote
from tests.text.random_programs import ODD_NAMES, Programs

relaxed = settings(deadline=None, suppress_health_check=list(HealthCheck))


@settings(relaxed, max_examples=60)
@given(st.randoms(use_true_random=False))
def test_random_programs(rng: random.Random) -> None:
    module = Programs(rng).module()
    text = astext(module)
    back = parse(text)
    assert difference(module, back, map_free_vars=True) is None, text
    assert astext(back) == text


@settings(relaxed, max_examples=300)
@given(st.sampled_from(["float16", "float32", "float64", "bfloat16"]), st.integers(0, 2**64 - 1))
def test_every_float_reads_back_as_the_same_bits(dtype: str, bits: int) -> None:
    size = {"float16": 2, "bfloat16": 2, "float32": 4, "float64": 8}[dtype]
    data = NDArray((), dtype, struct.pack("<Q", bits)[:size])
    back = parse_expr(astext(Constant(data)))
    assert isinstance(back, Constant)
    assert back.data == data


@settings(relaxed, max_examples=200)
@given(st.floats(width=32, allow_nan=False))
def test_finite_floats_are_written_as_numbers(value: float) -> None:
    assert "meta" not in show(const(value))


@settings(relaxed, max_examples=200)
@given(st.floats())
def test_float_attributes_read_back_as_the_same_double(value: float) -> None:
    module = IRModule.from_expr(Function([], const(1), attrs={"a": value}))
    back = parse(astext(module))["main"].attrs["a"]
    assert type(back) is float
    assert back == value or (back != back and value != value)


@given(st.text())
def test_strings_read_back(text: str) -> None:
    assert unquote(quote(text)) == text
    assert quote(text).isprintable()


@settings(relaxed)
@given(st.lists(st.one_of(st.text(), st.sampled_from(ODD_NAMES)), max_size=8))
def test_names_of_variables(names: list[str]) -> None:
    variables = [Var(name, TensorType((), "float32")) for name in names]
    function = Function(variables, Tuple(variables))
    text = astext(function)
    assert difference(function, parse_expr(text), map_free_vars=True) is None
    assert not set("<>\"'&") & set(text.split("(", 1)[1].split(")")[0].replace('"0.0.5"', ""))


@settings(relaxed)
@given(st.lists(st.one_of(st.text(), st.sampled_from(ODD_NAMES)), max_size=6, unique=True))
def test_names_of_functions_are_kept(names: list[str]) -> None:
    module = IRModule()
    for name in names:
        module[name] = Function([], const(1))
    assert [v.name_hint for v in parse(astext(module)).functions] == names
