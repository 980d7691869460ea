"""TVM's objects and functions by name, its containers, properties of operators, and JSON of all sorts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from relay_explorer import relay
from relay_explorer.compat import tvm
from relay_explorer.ir import structural_equal, structural_hash

LIST = """
type Stack[A] { Push(A, Stack[A]), Empty }
type Colour { Red, Green, Blue }
def @main() { Red }
"""


def same(a: object, b: object) -> bool:
    return structural_equal(a, b, map_free_vars=True) and structural_hash(a, True) == structural_hash(b, True)


class TestContainers:
    def test_convert_makes_arrays_and_maps_that_equal_what_they_are_made_of(self) -> None:
        x, y = relay.var("x"), relay.var("y")
        both = tvm.runtime.convert([x, y])
        assert both == (x, y)
        assert both == [x, y]
        assert relay.Tuple(both).fields == both
        assert both[:1] + [y] == both  # noqa: RUF005  # the sum is what is tested
        assert hash(both[1:]) == hash((y,))
        table = tvm.runtime.convert({"a": 1, "b": [2]})
        assert table.items()[0] == ("a", 1)
        assert table["b"][0].value == 2

    def test_what_holds_several_things_is_an_array_to_old_code(self) -> None:
        assert isinstance(relay.Tuple([]).fields, tvm.ir.Array)
        assert isinstance([1], tvm.ir.container.Array)
        assert isinstance(tvm.IRModule().functions, tvm.ir.Map)
        assert not isinstance("text", tvm.ir.Array)

    def test_a_modules_tables_list_their_items(self) -> None:
        module = tvm.relay.parse(LIST)
        header, data = module.type_definitions.items()[1]
        assert (header.name_hint, len(data.constructors)) == ("Colour", 3)
        assert module.functions.items()[0][0].name_hint == "main"


class TestNodesByName:
    def test_attributes(self) -> None:
        result = tvm.ir.make_node("relay.attrs.SoftmaxAttrs", axis=1)
        assert (result.axis, type(result)) == (1, type(relay.nn.softmax(relay.var("x"), axis=1).attrs))
        assert tvm.ir.make_node("DictAttrs", Primitive=1)["Primitive"] == 1
        with pytest.raises(relay.RelayError, match="has no attribute `axes`"):
            tvm.ir.make_node("relay.attrs.SoftmaxAttrs", axes=1)

    def test_programs_and_types(self) -> None:
        x = tvm.ir.make_node("relay.Var", name_hint="x")
        pair = tvm.ir.make_node("relay.Tuple", fields=[x, x])
        assert same(pair, relay.Tuple([x, x]))
        assert tvm.ir.make_node("TensorType", shape=[2], dtype="int8") == relay.TensorType((2,), "int8")
        assert tvm.ir.make_node("IntImm", dtype="int64", value=3).dtype == "int64"

    def test_what_there_is_not(self) -> None:
        with pytest.raises(relay.RelayError, match=r"there is no kind of object called `tir\.For` here"):
            tvm.ir.make_node("tir.For")

    def test_type_relations(self) -> None:
        broadcast = tvm.ir.EnvFunc.get("tvm.relay.type_relation.Broadcast")
        assert broadcast is tvm.get_global_func("tvm.relay.type_relation.Broadcast")
        assert broadcast.relation is relay.op.get("add").relation
        a = relay.TypeVar("a")
        with_one, with_other = (relay.TypeRelation(broadcast, [a, a, a], 2) for _ in range(2))
        identity = tvm.ir.EnvFunc.get("tvm.relay.type_relation.Identity")
        assert with_one == with_other != relay.TypeRelation(identity, [a, a, a], 2)

    def test_functions(self) -> None:
        @tvm.register_func("test_nodes.twice")
        def twice(x: int) -> int:
            return 2 * x

        assert tvm.get_global_func("test_nodes.twice")(4) == 8
        assert tvm.ir.EnvFunc.get("test_nodes.twice")(4) == 8
        with pytest.raises(ValueError, match="already registered"):
            tvm.register_func("test_nodes.twice", twice)
        tvm.register_func("test_nodes.twice", abs, override=True)
        assert tvm.get_global_func("test_nodes.twice")(-4) == 4
        assert tvm.get_global_func("topi.matmul", allow_missing=True) is None
        with pytest.raises(ValueError, match=r"no global function `topi\.matmul`: TVM's C\+\+ code"):
            tvm.get_global_func("topi.matmul")


class TestOperators:
    def test_a_property_for_the_time_of_a_with(self) -> None:
        op = relay.op.get("unique")
        tvm.relay.op.op.register_gradient("unique", "the old one", level=11)
        try:
            with tvm.relay.testing.TempOpAttr("unique", "FPrimalGradient", "another"):
                assert op.get_attr("FPrimalGradient") == "another"
            assert op.get_attr("FPrimalGradient") == "the old one"
        finally:
            op.reset_attr("FPrimalGradient")
        assert not op.has_attr("FPrimalGradient")

    def test_a_gradient_of_old_code_goes_before_ours(self) -> None:
        op = relay.op.get("tan")
        ours = op.get_attr("FPrimalGradient")
        tvm.relay.op.op.register_gradient("tan", "the old one")
        assert op.get_attr("FPrimalGradient") == "the old one"
        op.reset_attr("FPrimalGradient")
        assert op.get_attr("FPrimalGradient") is ours

    def test_levels(self) -> None:
        exp: Any = relay.op.get("exp")
        absolute: Any = relay.op.get("abs")
        assert (exp.support_level, absolute.support_level) == (1, 3)


class TestModules:
    def test_a_constructor_is_found_by_its_tag(self) -> None:
        module, again = tvm.relay.parse(LIST), tvm.relay.parse(LIST)
        for constructor in module.constructors():
            result = again.get_constructor(constructor.tag)
            assert result.name_hint == constructor.name_hint
        red, green, blue = module.get_type("Colour")[1:]
        assert (green.tag - red.tag, blue.tag - red.tag) == (1, 2)
        assert len({c.tag for c in module.constructors()}) == 5
        with pytest.raises(relay.RelayError, match="no constructor with the tag 3"):
            module.get_constructor(3)

    def test_definitions_are_added_once(self) -> None:
        module = tvm.relay.parse(LIST)
        other = relay.Function([], relay.const(1))
        with pytest.raises(relay.RelayError, match="already defines `main`"):
            module._add("main", other)
        module._add("main", other, True)
        assert module["main"] is other
        module["abc"] = other
        assert [var.name_hint for var, _ in module.functions_items()] == ["abc", "main"]
        marked = module.with_attrs({"a": 1, "b": 2}).without_attr("a")
        assert (marked.get_attr("a"), marked.get_attr("b")) == (None, 2)

    def test_what_old_parse_reads_has_types(self) -> None:
        typed = tvm.relay.parse("def @main(%x: int32) { %x + 1 }")
        assert str(typed["main"].body.checked_type) == "int32"
        with pytest.raises(tvm.TVMError, match="broadcast"):
            tvm.relay.fromtext("def @main(%x: Tensor[(2), int32]) { %x + meta[relay.Constant][0] }" + THREE)

    def test_gradients_that_are_asked_for(self) -> None:
        module = relay.IRModule()
        module.import_from_std("gradient.rly")
        module.update(
            relay.parse(
                """
                def @main(%x: float32) -> float32 {
                  let %mul = fn (%a: float32, %b: float32) -> float32 { %a * %b };
                  let %add = fn (%a: float32, %b: float32) -> float32 { %a + %b };
                  let %one = One(fn () -> float32 { 1f });
                  let %zero = Zero(fn () -> float32 { 0f });
                  let %product = @MultiplyGradCell(%mul, Raw(%x), @AddGradCell(%add, %one, %one));
                  let %nothing = @MultiplyGradCell(%mul, %product, %zero);
                  @FromGradCell(@AddGradCell(%add, %nothing, @MultiplyGradCell(%mul, %one, %product)))
                }""",
                init_module=module,
            )
        )
        run = relay.create_executor("debug", mod=module).evaluate()
        assert run(np.float32(3)).numpy() == 6


THREE = '\n#[metadata]\n{"relay.Constant": [{"shape": [3], "dtype": "int32", "values": [1, 2, 3]}]}'


class TestJson:
    def test_spans(self) -> None:
        for span in (relay.Span(None, 1, 2, 3, 4), relay.Span(relay.SourceName("layer"), 0, 0, 0, 0)):
            back = tvm.ir.load_json(tvm.ir.save_json(span))
            assert back.source_name == span.source_name
            assert (back.line, back.end_line, back.column, back.end_column) == (
                span.line, span.end_line, span.column, span.end_column,
            )  # fmt: skip

    def test_attributes(self) -> None:
        attrs = relay.nn.conv2d(relay.var("x"), relay.var("w"), strides=(2, 1), channels=3).attrs
        assert tvm.ir.load_json(tvm.ir.save_json(attrs)) == attrs
        free = tvm.ir.make_node("DictAttrs", Compiler="c", sizes=[1, 2])
        assert dict(tvm.ir.load_json(tvm.ir.save_json(free)).items()) == {"Compiler": "c", "sizes": [1, 2]}

    def test_a_function_that_keeps_its_parameters_as_an_attribute(self) -> None:
        x, w = relay.var("x", shape=(2,)), relay.var("w", shape=(2,))
        function = relay.Function([x, w], x * w).with_attr("params", {w: relay.const([1.0, 2.0])})
        back = tvm.ir.load_json(tvm.ir.save_json(function))
        assert same(back, function)
        ((name, value),) = back.attrs["params"].items()
        assert (name, value.data.values()) == (back.params[1], [1.0, 2.0])

    def test_arrays_come_back_as_tuples(self) -> None:
        assert tvm.ir.load_json(tvm.ir.save_json(tvm.runtime.convert([1, 2]))) == (1, 2)


class TestEquality:
    def test_kinds_of_type_parameters_count(self) -> None:
        a, b = relay.TypeVar("a"), relay.TypeVar("b", relay.TypeKind.ShapeVar)
        assert relay.FuncType([], a, [a]) != relay.FuncType([], b, [b])

    def test_attributes_may_name_variables(self) -> None:
        def make(by_id: bool, value: int = 1) -> relay.Function:
            x = relay.var("x", shape=(3,))
            return relay.Function([x], x).with_attr("table", {x.vid if by_id else x: value})

        assert same(make(True), make(True))
        assert same(make(False), make(False))
        assert not structural_equal(make(False), make(False, 2))
        assert not structural_equal(make(True), make(False))

    def test_the_empty_tuple_is_a_value(self) -> None:
        unit = relay.Tuple([])
        assert same(relay.Tuple([unit, unit]), relay.Tuple([relay.Tuple([]), relay.Tuple([])]))
        field = relay.Tuple([unit])
        assert not structural_equal(relay.Tuple([field, field]), relay.Tuple([field, relay.Tuple([unit])]))

    def test_a_hole_says_as_much_as_no_annotation(self) -> None:
        holed, bare = relay.var("x", relay.IncompleteType()), relay.var("x")
        assert same(relay.Function([holed], holed), relay.Function([bare], bare))

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("fn (%x: Tensor[(2), int8]) { %x }", "fn (%x: Tensor[(3), int8]) { %x }"),
            ("fn (%x, mark=1) { %x }", "fn (%x, mark=2) { %x }"),
            ("fn (%x) { nn.softmax(%x, axis=1) }", "fn (%x) { nn.softmax(%x, axis=2) }"),
            ("fn (%x) -> int8 { %x }", "fn (%x) { %x }"),
            ("fn [A](%x: A) { %x }", "fn [A, B](%x: A) { %x }"),
            ("fn [A, B](%x: A) { %x }", "fn [A, B](%x: B) { %x }"),
            ("fn (%f) { %f[int8](1) }", "fn (%f) { %f[int16](1) }"),
        ],
    )
    def test_hashes_tell_apart_what_differs(self, one: str, other: str) -> None:
        a, b = relay.parse_expr(one), relay.parse_expr(other)
        assert not structural_equal(a, b)
        assert structural_hash(a) != structural_hash(b)
        assert structural_hash(a) == structural_hash(relay.parse_expr(one))
