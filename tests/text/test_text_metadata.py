"""`meta[...]` and the section at the end of a program."""

from __future__ import annotations

import base64
import json
import struct

import pytest
from inline_snapshot import snapshot
from inline_snapshot.extra import raises

from relay_explorer.ir import Constant, Function, IRModule, NDArray, ParseError, Tuple, const
from relay_explorer.text import astext, parse, parse_expr, show
from relay_explorer.text.metadata import read

VECTOR = NDArray.from_list([0.5, -1.5], (2,), "float32")


def test_a_shared_constant_is_one_entry_and_one_object() -> None:
    shared, other = Constant(VECTOR), Constant(VECTOR)
    text = astext(Tuple([shared, other, shared]))
    assert "(meta[relay.Constant][0], meta[relay.Constant][1], meta[relay.Constant][0])" in text
    first, second, third = parse_expr(text).fields  # type: ignore[attr-defined]
    assert first is third
    assert first is not second


def test_few_elements_are_written_as_numbers_and_many_as_bytes() -> None:
    small, large = NDArray.from_list(list(range(64)), (64,), "int8"), NDArray((65,), "int8", bytes(65))
    section = json.loads(astext(Tuple([Constant(small), Constant(large)])).split("#[metadata]")[1])
    assert section["relay.Constant"][0] == {"shape": [64], "dtype": "int8", "values": list(range(64))}
    assert base64.b64decode(section["relay.Constant"][1]["base64"]) == bytes(65)


def test_the_data_may_be_left_out() -> None:
    constant = Constant(VECTOR)
    omitted = "/* the data of the constants is left out: astext(show_meta_data=True) has it */\n"
    assert astext(constant, show_meta_data=False).endswith(omitted)
    assert show(constant).startswith("meta[relay.Constant][0]")


def test_a_table_can_be_handed_to_the_parser() -> None:
    constant = Constant(VECTOR)
    text = "(meta[relay.Constant][0], meta[relay.Constant][1])"
    pair = parse_expr(text, init_meta_table={"relay.Constant": [constant, VECTOR]})
    assert pair.fields[0] is constant  # type: ignore[attr-defined]
    assert pair.fields[1].data == VECTOR  # type: ignore[attr-defined]


def test_tensors_as_attributes() -> None:
    module = IRModule.from_expr(Function([], const(1), attrs={"table": VECTOR}))
    assert parse(astext(module))["main"].attrs["table"] == VECTOR


def test_an_attribute_that_no_text_can_hold_says_so_when_read() -> None:
    text = astext(IRModule.from_expr(Function([], const(1), attrs={"odd": object()})))
    with raises(
        snapshot(
            "ParseError:\n"
            "from_string:2:15: error: entry 0 of `python.object` is not a tensor, but only tensors can "
            "be written and read\n"
            "   2 | def @main(odd=meta[python.object][0]) {\n"
            "     |               ^^^^^^^^^^^^^^^^^^^^^^"
        )
    ):
        parse(text)


def tvm_tensor(
    shape: tuple[int, ...], code: int, bits: int, data: bytes, mark: int = 0xDD5E40F096B4A13F
) -> str:
    """Encode a tensor as TVM's files store it."""
    head = struct.pack("<QQiiiBBH", mark, 0, 1, 0, len(shape), code, bits, 1)
    return base64.b64encode(head + struct.pack(f"<{len(shape)}qq", *shape, len(data)) + data).decode()


def tvm_section(tensor: str) -> str:
    nodes = [
        {"type_key": ""},
        {"type_key": "Map", "keys": ["relay.Constant"], "data": [2]},
        {"type_key": "Array", "data": [3]},
        {"type_key": "relay.Constant", "attrs": {"data": "0"}},
    ]
    return json.dumps({"root": 1, "nodes": nodes, "b64ndarrays": [tensor]})


@pytest.mark.parametrize(
    ("code", "bits", "data", "dtype", "values"),
    [
        (2, 32, struct.pack("<2f", 0.5, -1.5), "float32", [0.5, -1.5]),
        (0, 64, struct.pack("<2q", 1, -1), "int64", [1, -1]),
        (1, 8, b"\x00\xff", "uint8", [0, 255]),
        (1, 1, b"\x00\x01", "bool", [False, True]),
        (4, 16, b"\x80\x3f\x00\x40", "bfloat16", [1.0, 2.0]),
    ],
)
def test_tvms_own_tables_are_read(code: int, bits: int, data: bytes, dtype: str, values: list[float]) -> None:
    (array,) = read(tvm_section(tvm_tensor((2,), code, bits, data)))["relay.Constant"]
    assert isinstance(array, NDArray)
    assert (array.shape, array.dtype, array.values()) == ((2,), dtype, values)


def ours(entry: str) -> str:
    return f'{{"relay.Constant": [{{{entry}}}]}}'


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ("", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[]", "must be a JSON object"),
        ('{"relay.Constant": 1}', "`relay.Constant` in the `#[metadata]` section must be a list"),
        ('{"relay.Constant": [1]}', 'entry 0 of `relay.Constant` must have a "shape" and a "dtype"'),
        (ours('"shape": [-1], "dtype": "int8", "values": []'), "not a list of dimensions"),
        (ours('"shape": [1], "dtype": "int8"'), 'must have "values" or "base64"'),
        (ours('"shape": [1], "dtype": "int8", "values": ["a"]'), "does not hold int8 numbers"),
        (ours('"shape": [1], "dtype": "int8", "values": "1"'), "does not hold int8 numbers"),
        (ours('"shape": [1], "dtype": "int8", "values": [300]'), "the number does not fit int8"),
        (ours('"shape": [1], "dtype": "int8", "values": [null]'), "does not hold int8 numbers"),
        (ours('"shape": [1], "dtype": "int8", "base64": "?"'), "does not hold int8 numbers"),
        (ours('"shape": [2], "dtype": "int8", "base64": "AA=="'), "1 bytes cannot be a tensor of shape"),
        ('{"root": 1, "nodes": []}', "not as TVM writes it"),
        (tvm_section("AAAA"), "not as TVM writes it"),
        (tvm_section(tvm_tensor((2,), 2, 32, b"")), "has the wrong size"),
        (tvm_section(tvm_tensor((2,), 3, 32, bytes(8))), "unknown element type"),
        (tvm_section(tvm_tensor((2,), 2, 8, bytes(2))), "unsupported element type float8"),
        (tvm_section(tvm_tensor((2,), 2, 32, bytes(8), mark=1)), "does not begin as TVM's do"),
        (tvm_section(tvm_tensor((2,), 2, 32, bytes(8))[:-8]), "cannot be a tensor of shape"),
    ],
)  # fmt: skip
def test_broken_sections(section: str, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse(f"def @main() {{ meta[relay.Constant][0] }}\n#[metadata]\n{section}")
    assert message in str(caught.value)
