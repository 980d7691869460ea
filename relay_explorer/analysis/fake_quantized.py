"""Count the operators of fake-quantized regions: those between `qnn.dequantize` and `qnn.quantize`."""

from __future__ import annotations

from ..ir.expr import Call, Constant, Expr, Function, Tuple, TupleGetItem
from ..ir.module import IRModule
from ..ir.op import Op
from ..ir.walk import children, post_order

QUANTIZE = "qnn.quantize"
DEQUANTIZE = "qnn.dequantize"


def list_fake_quantized_op_freqs(mod: IRModule) -> dict[str, int]:
    """Count the calls of each operator in the fake-quantized regions of all functions of a module.

    A region is what a `qnn.quantize` quantizes, up to the `qnn.dequantize` calls that it is computed from. A
    region that reads anything else but constants is not counted: such a program computes with floating-point
    numbers there. A call that belongs to several regions counts once.
    """
    counted: dict[Call, str] = {}
    for function in mod.functions.values():
        if not isinstance(function, Function):
            continue
        clean = _made_of_dequantized(function)
        for node in post_order(function):
            if _operator(node) == QUANTIZE and isinstance(node, Call) and node.args[0] in clean:
                _count(node.args[0], counted)
    freqs: dict[str, int] = {}
    for name in counted.values():
        freqs[name] = freqs.get(name, 0) + 1
    return freqs


def _operator(node: Expr) -> str:
    return node.op.name if isinstance(node, Call) and isinstance(node.op, Op) else ""


def _made_of_dequantized(function: Function) -> set[Expr]:
    """Return the values that are computed from dequantized ones and constants alone."""
    clean: set[Expr] = set()
    for node in post_order(function):
        match node:
            case Constant() | Op():
                clean.add(node)
            case Call(op=Op() as op) if op.name in (QUANTIZE, DEQUANTIZE):
                clean.add(node)
            case Call() | Tuple() | TupleGetItem():
                if all(part in clean for part in children(node)):
                    clean.add(node)
    return clean


def _count(data: Expr, counted: dict[Call, str]) -> None:
    """Add the operator calls of the region that computes `data`."""
    seen: set[Expr] = set()
    stack = [data]
    while stack:
        node = stack.pop()
        if node in seen or _operator(node) in (QUANTIZE, DEQUANTIZE):
            continue
        seen.add(node)
        if isinstance(node, Call):
            counted.setdefault(node, _operator(node))
        stack.extend(children(node))
