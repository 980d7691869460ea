"""Exact double-precision constants in kernels for a GPU. TVM prints constants with 15 digits after the
decimal point, so that 2⁻⁵² becomes 0. A pass replaces each constant that this would change by its bits,
reinterpreted as a float64.
"""

from __future__ import annotations

import struct
from typing import Any

from ...ir.once import once
from ..require import tvm
from .tir_pass import registered


@once
def pipeline() -> str:
    """Return the name of TVM's pass pipeline for a GPU, extended by one pass at the end of its passes over
    functions.
    """
    return registered("relay_explorer_gpu", "FloatImm", _exact, "relay_explorer.Exact", on_host=False)


def _exact(constant: Any) -> Any:
    """Replace a float64 constant that 15 decimal digits do not represent by its reinterpreted bits."""
    value = float(constant.value)
    if str(constant.ty) != "float64" or value - value != 0 or float(f"{value:.15f}") == value:
        return constant
    (bits,) = struct.unpack("<q", struct.pack("<d", value))
    return tvm().tirx.reinterpret("float64", tvm().tirx.IntImm("int64", bits))
