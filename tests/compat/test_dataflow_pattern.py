"""Old code that imports its patterns from `tvm.relay.dataflow_pattern`."""

from __future__ import annotations

from relay_explorer.compat import tvm
from relay_explorer.ir.narrow import as_tensor_type


def test_names_are_found_where_they_were() -> None:
    names: dict[str, object] = {"__name__": "old_code"}
    exec("from relay_explorer.compat.tvm.relay.dataflow_pattern import *", names)
    for name in ("DFPatternCallback", "wildcard", "is_op", "rewrite", "partition", "dominates", "has_attr"):
        assert name in names
    assert tvm.relay.dataflow_pattern.wildcard is names["wildcard"]


def test_an_old_rewrite() -> None:
    from relay_explorer.compat.tvm.relay.dataflow_pattern import DFPatternCallback, is_op, rewrite, wildcard

    relay = tvm.relay

    class Swish(DFPatternCallback):
        def __init__(self) -> None:
            super(Swish, self).__init__(require_type=True)  # noqa: UP008  # as it was written then
            self.x = wildcard()
            self.pattern = self.x * is_op("sigmoid")(self.x)

        def callback(self, pre: object, post: object, node_map: dict[object, list[object]]) -> object:
            x = node_map[self.x][0]
            assert as_tensor_type(pre).dtype == "float32"
            return relay.op.nn.relu(x)

    x = relay.var("x", relay.TensorType((1, 4), "float32"))
    function = relay.Function([x], relay.op.sigmoid(x) * x)
    mod = tvm.IRModule.from_expr(function)
    mod["main"] = rewrite(Swish(), mod["main"], mod)
    tvm.ir.assert_structural_equal(mod["main"].body, relay.op.nn.relu(mod["main"].params[0]))
