"""`tvm.relay.transform.mixed_precision`: its three lists of operators, from the operators' declarations."""

from __future__ import annotations

from ..ir.declaration import Precision
from ..ir.op import Op


def _names(precision: Precision) -> list[str]:
    return [name for name in Op.list_op_names() if Op.get(name).precision is precision]


DEFAULT_ALWAYS_LIST = _names(Precision.ALWAYS)
DEFAULT_FOLLOW_LIST = _names(Precision.FOLLOW)
DEFAULT_NEVER_LIST = _names(Precision.NEVER)
