"""QnnLegalize: replace quantized operators by what registered functions return for them."""

from __future__ import annotations

from ...ir.lazy_dataclass import dataclass
from ..legalize import Legalize

PROPERTY = "FTVMQnnLegalize"


@dataclass(frozen=True)
class QnnLegalize(Legalize):
    """Replace each quantized operator by what the function registered for it returns.

    The function comes from `relay.qnn.op.register_qnn_legalize`, and is like those of Legalize. By default no
    operator has one: the code generators of this package choose the instructions for 8-bit products
    themselves, after QnnCanonicalizeOps. The compatibility layer registers TVM's functions for its targets.
    """

    name = "QnnLegalize"

    legalize_map_attr_name: str = PROPERTY
