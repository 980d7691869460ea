"""What stands where TVM's quantization was, so that old files that import it can be read."""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NoReturn

from .._missing import remedy
from ..ir.errors import RelayError


class QAnnotateKind(IntEnum):
    """What a simulated quantization was of."""

    IDENTITY = 0
    INPUT = 1
    WEIGHT = 2
    ACTIVATION = 3


def attach_simulated_quantize(data: Any, kind: Any, sign: bool = True, rounding: str = "round") -> NoReturn:
    """Refuses: there is no such operator."""
    raise RelayError(f"attach_simulated_quantize: {remedy('tvm.relay.quantize')}")
