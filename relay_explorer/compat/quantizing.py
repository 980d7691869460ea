"""Stand-ins for TVM's quantization, so that old files that import it can be imported."""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NoReturn

from .._missing import remedy
from ..ir.errors import RelayError


class QAnnotateKind(IntEnum):
    """The kinds of values that TVM's simulated quantization was applied to."""

    IDENTITY = 0
    INPUT = 1
    WEIGHT = 2
    ACTIVATION = 3


def attach_simulated_quantize(data: Any, kind: Any, sign: bool = True, rounding: str = "round") -> NoReturn:
    """Raise a RelayError: there is no such operator."""
    raise RelayError(f"attach_simulated_quantize: {remedy('tvm.relay.quantize')}")
