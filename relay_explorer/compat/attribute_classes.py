"""`tvm.relay.op.op_attrs`: the classes of operators' attributes, by TVM's names (`Conv2DAttrs`)."""

from __future__ import annotations

from typing import Any

from ..ir.attrs import Attrs
from ..ir.op import Op

_KEY = "relay.attrs."


def __getattr__(name: str) -> Any:
    if name == "__all__":
        Op.load_all()  # loading operators registers their attributes
        return sorted(key.removeprefix(_KEY) for key in Attrs._schemas if key.startswith(_KEY))
    if name.startswith("_"):
        raise AttributeError(name)
    if Attrs.by_key(_KEY + name) is None:
        Op.load_all()
    schema = Attrs.by_key(_KEY + name)
    if schema is None:
        raise AttributeError(f"there are no attributes of operators called {name!r}")
    return schema
