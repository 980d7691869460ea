"""`GraphModule`: an input that the program never reads need not be set, as in TVM."""

from __future__ import annotations

import numpy as np
import pytest

from relay_explorer import relay
from relay_explorer.compat.build import build
from relay_explorer.compat.devices import cpu
from relay_explorer.compat.graph_module import GraphModule
from relay_explorer.ir.errors import RelayError


def test_only_inputs_that_are_read_must_be_set() -> None:
    x, y = relay.var("x", shape=(2, 1, 3)), relay.var("y", shape=(2, 3))
    mod = relay.IRModule.from_expr(relay.Function([x, y], relay.reshape(x, (2, 3)) + relay.const(1.0)))
    module = GraphModule(build(mod, target="llvm")["default"](cpu(0)))
    with pytest.raises(RelayError, match="'x' is not set"):
        module.run()
    module.set_input("x", np.ones((2, 1, 3), "float32"))
    module.run()
    assert module.get_output(0).numpy().tolist() == [[2.0] * 3] * 2
