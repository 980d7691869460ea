"""Builds the dot instructions of ARM processors as expressions on vectors."""

from __future__ import annotations

from typing import Any

from ..require import tvm
from ..targets.dots import Dot


def expression(dot: Dot, sums: Any, group: Any, weights: Any, lanes: int) -> Any:
    """Build `sums` plus the products of a `group` of data elements, which is broadcast, and `weights`.

    LLVM combines the pairwise sum and the addition to `sadalp`.
    """
    tirx = tvm().tirx
    dtype = f"int32x{lanes}"
    everywhere = tirx.Broadcast(tirx.reinterpret(f"int{8 * dot.products}", group), lanes)
    data = tirx.reinterpret(f"{dot.data}x{lanes * dot.products}", everywhere)
    if dot.name == "sdot":
        return tirx.call_llvm_pure_intrin(dtype, "llvm.aarch64.neon.sdot.v4i32.v16i8", sums, weights, data)
    products = tirx.call_llvm_pure_intrin("int16x8", "llvm.aarch64.neon.smull.v8i16", weights, data)
    return sums + tirx.call_llvm_pure_intrin(dtype, "llvm.aarch64.neon.saddlp.v4i32.v8i16", products)
