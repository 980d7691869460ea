"""AnnotateSpans: programs that were built get places."""

from __future__ import annotations

from relay_explorer import relay
from relay_explorer.ir.equal import structural_equal
from relay_explorer.ir.walk import post_order
from relay_explorer.transform import AnnotateSpans, InferType


def test_every_expression_has_a_place_in_the_modules_text() -> None:
    x = relay.var("x", shape=(2, 3))
    module = relay.IRModule.from_expr(relay.nn.softmax(relay.add(x, relay.const([1.0, 2.0, 3.0]))))
    module = module.with_attr("target", "llvm")
    assert all(node.span is None for node in post_order(module["main"].body))

    annotated = AnnotateSpans()(module)
    assert structural_equal(annotated, module)
    assert annotated.get_attr("target") == "llvm"
    text = module.astext().splitlines()
    softmax = annotated["main"].body
    assert softmax.span is not None
    line = text[softmax.span.line - 1]
    assert line[softmax.span.column - 1 :].startswith("nn.softmax(")


def test_a_typed_module_has_its_types_found_again() -> None:
    module = relay.prelude.Prelude().mod
    annotated = InferType()(AnnotateSpans()(module))
    assert structural_equal(annotated, InferType()(module))
