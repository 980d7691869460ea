"""What old tests of partitioning import: pattern tables by compiler, an annotator."""

from __future__ import annotations

from relay_explorer.compat import tvm
from relay_explorer.compat.tvm import relay
from relay_explorer.relay import IRModule


def test_pattern_tables_by_compiler() -> None:
    register = relay.op.contrib.register
    pattern = relay.dataflow_pattern.is_op("exp")(relay.dataflow_pattern.wildcard())

    @register.register_pattern_table("a compiler of this test")
    def table() -> list[object]:
        return [("exp", pattern)]

    assert register.get_pattern_table("a compiler of this test") == [("exp", pattern)]
    assert register.get_pattern_table("nobody's") is None
    assert table() == [("exp", pattern)]


def test_chains_of_arithmetic_become_regions() -> None:
    x, y = relay.var("x", shape=(2,)), relay.var("y", shape=(2,))
    chain = relay.multiply(relay.subtract(relay.add(x, y), y), x)
    function = relay.Function([x, y], relay.concatenate((chain, relay.add(x, y)), axis=0))
    module = IRModule.from_expr(tvm.relay.testing.byoc.CcompilerAnnotator().visit(function))
    result = relay.transform.PartitionGraph()(module)
    assert [var.name_hint for var in result.functions] == ["main", "tvmgen_default_ccompiler_main_0"]
    assert len(result["tvmgen_default_ccompiler_main_0"].params) == 2
