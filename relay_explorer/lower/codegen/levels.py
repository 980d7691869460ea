"""The text of a kernel at every level between Relay and machine code."""

from __future__ import annotations

import re
from typing import Any

from ...ir.expr import Call, Function
from ...ir.op import Op
from ...ir.walk import post_order
from ...text import show
from ..targets.target import Target

CPU = ("relay", "te", "tir", "scheduled", "llvm", "asm")
CUDA = ("relay", "te", "tir", "scheduled", "cuda", "ptx")


def calls(function: Function) -> list[Call]:
    """Return the operator calls of a kernel in the order in which they are computed."""
    return [n for n in post_order(function.body) if isinstance(n, Call) and isinstance(n.op, Op)]


def operators(function: Function) -> list[str]:
    """Return the names of a kernel's operators, in the same order."""
    return [call.op.name for call in calls(function)]  # type: ignore[attr-defined]  # operators all


def kernel_name(function: Function) -> str:
    """Return a name that lists a kernel's operators, such as `fused_nn_conv2d_add_nn_relu`, shortened if it
    is long.
    """
    words = [re.sub(r"\W+", "_", name) for name in operators(function)]
    text = "_".join(["fused", *words])
    return text if len(text) <= 80 else text[:76].rstrip("_") + f"_{len(words)}"


def relay(function: Function) -> str:
    """Print the primitive function."""
    return show(function)


def machine(generated: Any, level: str, target: Target) -> str:
    """Return the LLVM IR, assembly, CUDA C or PTX of a compiled kernel."""
    if level in ("llvm", "asm"):
        return str(generated.mod.inspect_source("ll" if level == "llvm" else "s"))
    source = str(generated.mod.imports[0].inspect_source())
    if level == "cuda":
        return source
    from ..targets.device import ptx

    return ptx(source, target)
