"""Names with slashes, numbers at the edges of their types, what comments say, and sizes in TVM's metadata."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay_explorer import relay
from relay_explorer.ir import (
    Call,
    Constant,
    Function,
    IRModule,
    Let,
    NDArray,
    Op,
    ParseError,
    Span,
    Var,
    const,
    difference,
    structural_equal,
)
from relay_explorer.ir.narrow import as_call, as_op, as_tuple
from relay_explorer.text import astext, parse, parse_expr, show
from relay_explorer.transform import InferType


class TestNames:
    def test_a_name_keeps_its_slashes(self) -> None:
        kernel = Var("block1/conv/kernel")
        text = astext(relay.exp(kernel))
        assert "exp(%block1/conv/kernel)" in text
        assert parse_expr(text).args[0].name_hint == "block1/conv/kernel"  # type: ignore[attr-defined]

    def test_where_there_is_no_such_name_a_slash_divides(self) -> None:
        together = parse_expr("free_var %a; free_var %b; %a/exp(%b)")
        apart = parse_expr("free_var %a; free_var %b; %a / exp(%b)")
        assert structural_equal(together, apart, map_free_vars=True)

    def test_the_longest_name_that_is_there_is_meant(self) -> None:
        result = parse_expr("free_var %a; free_var %a/b; %a/b/exp(%a)")
        assert show(result).splitlines()[-2:] == ["%0 = exp(%a);", "divide(%a/b, %0)"]

    def test_the_longest_name_in_scope_is_meant(self) -> None:
        program = "free_var %a: int32; free_var %b/c: int32; let %a/b/c = 1; let %a/b = %a; %a/b/d(%b/c)"
        with pytest.raises(ParseError, match="`d`"):  # %a/b divided by a call of d
            parse_expr(program)
        body = parse_expr(program.replace("%a/b/d", "%a/b/exp"))
        assert isinstance(body, Let)
        assert isinstance(body.body, Let)
        assert as_call(body.body.body).args[0] is body.body.var

    def test_a_name_ends_with_its_scope(self) -> None:
        program = "free_var %a: int32; (if (True) { let %a/exp = 1; %a/exp } else { 2 }, %a/exp(%a))"
        assert as_op(as_call(as_tuple(parse_expr(program)).fields[1]).op).name == "divide"

    def test_a_slash_before_a_number_divides(self) -> None:
        assert show(parse_expr("fn (%x: float32) { %x/2f }")).splitlines()[1] == "  divide(%x, 2f)"

    def test_neither_a_name_nor_a_division(self) -> None:
        with pytest.raises(ParseError, match=r"`%x/y` is not defined here"):
            parse_expr("%x/y")

    def test_functions_have_no_slashes(self) -> None:
        module = IRModule.from_expr(const(1))
        module["a/b"] = Function([], const(2))
        assert "def @`a/b`()" in astext(module)
        assert difference(parse(astext(module)), module) is None


class TestNumbers:
    @pytest.mark.parametrize(
        ("text", "dtype", "value"),
        [
            ("2147483647", "int32", 2**31 - 1),
            ("2147483648", "int64", 2**31),
            ("-2147483648", "int32", -(2**31)),
            ("-2147483649", "int64", -(2**31) - 1),
            ("7i", "int32", 7),
            ("--7", "int32", 7),
            ("- - -7i8", "int8", -7),
            ("65504f16", "float16", 65504.0),
            ("--inff", "float32", float("inf")),
        ],
    )
    def test_a_literal(self, text: str, dtype: str, value: float) -> None:
        result = parse_expr(text)
        assert isinstance(result, Constant)
        assert (result.data.dtype, result.data.item()) == (dtype, value)

    @pytest.mark.parametrize("text", ["65505f16", "3.4028236e38f", "1e39f32", "-65505f16", "3.4e38bf16"])
    def test_what_would_be_rounded_to_the_largest_is_refused(self, text: str) -> None:
        with pytest.raises(ParseError, match="does not fit"):
            parse_expr(text)

    @given(st.integers(0, 2**16 - 1))
    def test_every_half_reads_back(self, bits: int) -> None:
        half = Constant(NDArray((), "float16", bits.to_bytes(2, "little")))
        assert parse_expr(astext(half)).data == half.data  # type: ignore[attr-defined]

    @given(st.integers(-(2**63), 2**63 - 1))
    def test_every_int64_reads_back(self, value: int) -> None:
        assert parse_expr(astext(const(value, "int64"))).data.item() == value  # type: ignore[attr-defined]

    def test_signs_of_other_operands_are_calls(self) -> None:
        assert show(parse_expr("fn (%x) { --%x }")).splitlines()[1:3] == [
            "  %0 = negative(%x);",
            "  negative(%0)",
        ]


class TestComments:
    def test_an_expression_ends_with_no_line_and_a_module_does(self) -> None:
        assert astext(const(1)) == '#[version = "0.0.5"]\n1'
        assert astext(IRModule.from_expr(const(1))).endswith("}\n")

    def test_the_exact_text_gives_the_types_of_constants_once_they_are_known(self) -> None:
        module = IRModule.from_expr(relay.add(const(1.5), const([1.0])))
        assert "ty=" not in astext(module)
        typed = InferType()(module)
        assert (
            "add(1.5f /* ty=float32 */, meta[relay.Constant][0] /* ty=Tensor[(1), float32] */) "
            "/* ty=Tensor[(1), float32] */" in astext(typed)
        )
        assert "add(1.5f, meta[relay.Constant][0]) /* ty=Tensor[(1), float32] */" in show(typed)
        assert difference(parse(astext(typed)), typed) is None

    def test_a_span_that_names_no_text_is_a_layer_and_is_printed(self) -> None:
        x = Var("x")
        inner = Call(Op.get("exp"), [x], span=Span("encoder/layer_1", 0, 0, 0, 0))
        outer = Call(Op.get("log"), [inner], span=Span("head", 3, 3, 5, 9))
        assert show(outer).splitlines()[1:] == [
            "%0 = exp(%x) /* span=encoder/layer_1:0:0 */;",
            "log(%0) /* span=head:3:5 */",
        ]

    def test_the_place_in_a_text_is_not(self) -> None:
        assert "span" not in astext(parse("def @main(%x) { exp(%x) }", "file.relay"))


class TestAttributes:
    def test_a_dictionary_may_name_variables_of_the_function(self) -> None:
        x, y = Var("x"), Var("y")
        table = {x: const([1.0, 2.0]), "rest": {y: 2, 3: "three", -4: {}}}
        function = Function([x, y], relay.add(x, y), attrs={"table": table})
        read = parse_expr(astext(function))
        assert difference(function, read) is None
        assert next(iter(read.attrs["table"])) is read.params[0]  # type: ignore[attr-defined]

    def test_an_unknown_variable_there(self) -> None:
        with pytest.raises(ParseError, match=r"`%z` is not defined here"):
            parse_expr("fn (%x, table={%z: 1}) { %x }")

    def test_attributes_of_a_kind_that_is_not_right(self) -> None:
        with pytest.raises(ParseError, match="ClipAttrs has no attribute `b`") as caught:
            parse_expr('fn (%f, %x) { %f(%x, b=1, attrs_type_key="relay.attrs.ClipAttrs") }')
        assert caught.value.span is not None


def test_sizes_with_names_in_tvms_metadata() -> None:
    nodes = [
        {"type_key": ""},
        {"type_key": "Map", "keys": ["tir.SizeVar"], "data": [2]},
        {"type_key": "Array", "data": [3]},
        {"type_key": "tir.SizeVar", "attrs": {"dtype": "int32", "name": "4", "span": "0"}},
        {"type_key": "runtime.String", "repr_str": "batch"},
    ]
    section = json.dumps({"root": 1, "nodes": nodes, "b64ndarrays": [], "attrs": {"tvm_version": "0.14.0"}})
    shape = "Tensor[(meta[tir.SizeVar][0], 4), float32]"
    module = parse(f"def @main(%x: {shape}) -> {shape} {{ exp(%x) }}\n#[metadata]\n{section}")
    assert show(module).splitlines()[0] == (
        "def @main(%x: Tensor[(batch, 4), float32]) -> Tensor[(batch, 4), float32] {"
    )
    with pytest.raises(ParseError, match="this entry of the metadata is not a dimension"):
        parse_expr(
            "fn (%x: Tensor[(meta[relay.Constant][0]), int8]) { %x }",
            init_meta_table={"relay.Constant": [const(1)]},
        )
