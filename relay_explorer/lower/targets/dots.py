"""The dot instructions of processors: each multiplies groups of small integers, and adds the products of a
group to one 32-bit lane.

A processor without an instruction for bytes multiplies pairs of 16-bit integers. That is exact for every
combination of signed and unsigned bytes, because the products of two bytes fit into 16 bits, and their sums
into 32. (`vpmaddubsw`, which multiplies bytes on AVX2, is not exact: it saturates sums to 16 bits.)
"""

from __future__ import annotations

from ...ir.lazy_dataclass import dataclass
from .target import Target


@dataclass(frozen=True)
class Dot:
    """A dot instruction. Each of its `lanes` accumulates `products` products of a data element of the type
    `data` and a weight of the type `weight`. `lanes` is the number in its widest form; vectors of half and of
    a quarter of the width also exist, if they have at least 4 lanes.
    """

    name: str
    data: str
    weight: str
    products: int
    lanes: int


def dots_of(target: Target) -> tuple[Dot, ...]:
    """Return the dot instructions of a target that kernels use, those with the most products first."""
    instructions = {"cpu": _x86, "arm64": _arm64, "cuda": _cuda}.get(target.kind)
    return instructions(target) if instructions else ()


def dot_for(target: Target, data: str, weight: str) -> Dot | None:
    """Return the target's instruction for operands of these element types; None if it has none."""
    return next((dot for dot in dots_of(target) if (dot.data, dot.weight) == (data, weight)), None)


def columns_dot(target: Target, data: str, weight: str) -> Dot | None:
    """Return the instruction whose lanes multiply adjacent columns of a channel, for depthwise convolutions:
    one for bytes, on a processor that shuffles the bytes of a whole vector by one or two instructions.
    """
    dot = dot_for(target, data, weight)
    return dot if dot is not None and target.kind == "cpu" and dot.products == 4 else None


def _x86(target: Target) -> tuple[Dot, ...]:
    """Return the instructions of VNNI, which came with AVX-512 and later also without it; on older
    processors, the one of SSE2, AVX2 and AVX-512 for pairs.
    """
    lanes = 16 if target.has("avx512bw") else 8 if target.has("avx2") else 4
    if target.has("avx512vnni") and target.has("avx512vl"):
        lanes = 16
    elif not target.has("avxvnni"):
        return (Dot("vpmaddwd", "int16", "int16", 2, lanes),)
    return (Dot("vpdpbusd", "uint8", "int8", 4, lanes), Dot("vpdpwssd", "int16", "int16", 2, lanes))


def _arm64(target: Target) -> tuple[Dot, ...]:
    """Return the instruction of the dot product extension (`dotprod`); on older processors, `smull`, whose 16
    bits hold the product of any two signed bytes. `sadalp` adds adjacent pairs of them to the sums.
    """
    if target.has("dotprod"):
        return (Dot("sdot", "int8", "int8", 4, 4),)
    return (Dot("smull_sadalp", "int8", "int8", 2, 4),)


def _cuda(target: Target) -> tuple[Dot, ...]:
    """Return the instruction that came with the compute capability 6.1. A thread has one lane."""
    digits = "".join(letter for letter in str(target.dict.get("arch", "")) if letter.isdigit())
    return (Dot("dp4a", "int8", "int8", 4, 1),) if int(digits or 0) >= 61 else ()
