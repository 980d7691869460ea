"""Element types and constants of programs."""

from __future__ import annotations

from relay_explorer import relay
from relay_explorer.analysis import all_dtypes, check_constant


def test_element_types_are_those_of_every_part() -> None:
    text = """
#[version = "0.0.5"]
def @main(%x: Tensor[(2), int8], %f: fn (float64) -> uint8) {
  let %r = ref(cast(%x, dtype="int64"));
  (less(%x, %x), %f(2f64), ref_read(%r))
}
"""
    module = relay.fromtext(text)
    assert all_dtypes(relay.transform.InferType()(module)) == {"int8", "int64", "bool", "float64", "uint8"}
    assert all_dtypes(module["main"].params[0]) == {"int8"}
    assert all_dtypes(relay.var("unknown")) == set()


def test_constants() -> None:
    one, two = relay.const(1), relay.const([2.0])
    assert check_constant(one)
    assert check_constant(relay.Tuple([one, relay.Tuple([two, one])]))
    assert not check_constant(relay.Tuple([one, relay.var("x")]))
    assert not check_constant(relay.add(one, one))
