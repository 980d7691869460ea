"""Origins that quantization records: on new expressions, and on nothing that other programs share."""

from __future__ import annotations

from relay_explorer.ir import Op
from relay_explorer.models import digits
from relay_explorer.quantize import trace
from relay_explorer.quantize.schemes import PerChannelAsymmetric


def test_operators_have_no_origin() -> None:
    """All programs share them: an origin would lead from one program into another."""
    image = digits.data().training.images[:1]
    trace(digits.digits(), PerChannelAsymmetric(), digits.weights(), [{"data": image}])
    assert [name for name in Op.list_op_names() if Op.get(name).origin] == []
