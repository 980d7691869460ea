"""Bring an exported program into the form that is imported: without changes in place, and with operators that
have no converter decomposed into some that have.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .provenance import all_nodes, node_of

if TYPE_CHECKING:
    from .importer import Importer

_ATTEMPTS = 4  # an operator's parts may have to be decomposed again
_INNER = "export::access_subclass_inner_tensor"  # reads a part of a weight that torchao has quantized


def prepared(program: Any, importer: Importer) -> Any:
    """Return a program that changes nothing in place, and whose weights are plain tensors. It is the given
    one if that is so already and each operator has a converter; else PyTorch traces it again.
    """
    tried: set[Any] = set()
    for attempt in range(_ATTEMPTS):
        missing = _missing(program, importer)
        table = _decompositions(missing - tried)
        if not table and (attempt or not (_changes_in_place(program) or _reads_inner(program))):
            return program
        tried |= set(table)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # PyTorch's, about its own use of pytrees
            program = program.run_decompositions(table)
    return program


def _missing(program: Any, importer: Importer) -> set[Any]:
    """Return the operators that have no converter."""
    return {
        fx_node.target
        for fx_node in all_nodes(program.graph_module)
        if not importer.has_converter(node_of(fx_node, {}))
    }


def _reads_inner(program: Any) -> bool:
    """Whether weights are objects that hold several tensors, and the program reads these."""
    return any(node_of(fx_node, {}).op == _INNER for fx_node in all_nodes(program.graph_module))


def _changes_in_place(program: Any) -> bool:
    """Whether an operator changes a value that is seen in another way than as the operator's result."""
    position = {fx_node: index for index, fx_node in enumerate(all_nodes(program.graph_module))}
    return any(_is_mutable(fx_node.target) and not _is_harmless(fx_node, position) for fx_node in position)


def _is_mutable(target: Any) -> bool:
    import torch

    return isinstance(target, torch._ops.OpOverload) and target._schema.is_mutable


def _is_harmless(fx_node: Any, position: Mapping[Any, int]) -> bool:
    """Whether a change in place may become a new value, as in `relu_(conv(x))`: the operand has memory of its
    own, and nothing uses it later or has a view of it.
    """
    if fx_node.target._schema.name == "aten::detach_":
        return True
    written = [a.name for a in fx_node.target._schema.arguments if a.alias_info and a.alias_info.is_write]
    operand: Any = fx_node.args[0] if fx_node.args else None
    if written != [fx_node.target._schema.arguments[0].name] or operand not in position:
        return False
    if not (_is_fresh(operand) or (_is_mutable(operand.target) and _is_harmless(operand, position))):
        return False
    others = [user for user in operand.users if user is not fx_node]
    return all(user in position and position[user] < position[fx_node] and _is_fresh(user) for user in others)


def _is_fresh(fx_node: Any) -> bool:
    """Whether an operator's results never share memory with its operands."""
    import torch

    target = fx_node.target
    if not isinstance(target, torch._ops.OpOverload) or "dropout" in target._schema.name:
        return False  # dropout returns its operand in eval mode
    return all(value.alias_info is None for value in target._schema.returns)


def _decompositions(operators: set[Any]) -> dict[Any, Any]:
    """Return PyTorch's decompositions of operators, where it has one."""
    if not operators:
        return {}
    from torch._decomp import decomposition_table
    from torch.export import default_decompositions

    table = dict(default_decompositions().items())
    return {
        op: table.get(op) or decomposition_table[op]
        for op in operators
        if op in table or op in decomposition_table
    }
