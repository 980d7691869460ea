"""Count a program's operator calls, and their multiply-accumulate operations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ..ir.declaration import Trait
from ..ir.expr import Call, Expr
from ..ir.module import IRModule
from ..ir.op import Op, size_of
from ..ir.types import TensorType, Type
from ..ir.walk import children, post_order


def list_op_freqs(mod: IRModule) -> dict[str, int]:
    """Count the calls of each operator in the module's functions, including nested functions, by the
    operator's name in the order of the program. A shared call counts once.
    """
    counts: dict[str, int] = {}
    for function in mod.functions.values():
        for _, op in _operator_calls(function):
            counts[op.name] = counts.get(op.name, 0) + 1
    return counts


def count_layers(expr: Expr | IRModule, valid_ops: Iterable[str]) -> int:
    """Count the calls of the operators named in `valid_ops` on the longest chain of calls in which each uses
    the value of the previous one: the depth of a network in layers. For a module, count in `main`; functions
    that it calls by name are not followed.
    """
    root = expr["main"] if isinstance(expr, IRModule) else expr
    names = frozenset(valid_ops)
    depth: dict[Expr, int] = {}
    for node in post_order(root):
        own = isinstance(node, Call) and isinstance(node.op, Op) and node.op.name in names
        depth[node] = own + max((depth[part] for part in children(node)), default=0)
    return depth[root]


def get_total_mac_number(expr: Expr) -> int:
    """Count the multiply-accumulate operations of a typed expression: those of `nn.conv2d`,
    `nn.conv2d_transpose`, `nn.dense` and `nn.batch_matmul`, as in TVM.

    A transposed convolution counts as the convolution of its dilated input: one weight per input channel for
    each element of the output. A dynamic dimension counts as 1. Raise a ValueError where inference has not
    run.
    """
    return sum(_macs(call, op) for call, op in _operator_calls(expr))


def _operator_calls(root: Expr) -> Iterator[tuple[Call, Op]]:
    for node in post_order(root):
        if isinstance(node, Call) and isinstance(node.op, Op):
            yield node, node.op


def _macs(call: Call, op: Op) -> int:
    attrs = call.attrs if call.attrs is not None or op.attrs_class is None else op.attrs_class()
    types = [arg.checked_type for arg in call.args]
    if op.has(Trait.MULTIPLY_ADD):
        return op.flops(attrs, types, call.checked_type) // 2
    if op.name == "nn.conv2d_transpose":
        return _transposed(attrs, types[1], call.checked_type)
    return 0


def _transposed(attrs: Any, weight: Type, output: Type) -> int:
    assert isinstance(weight, TensorType)
    outputs = weight.shape[attrs.kernel_layout.index("O")]  # output channels of a group
    each = size_of(weight) // (outputs if isinstance(outputs, int) else 1)
    groups: int = attrs.groups
    return size_of(output) * each // groups
