"""Programs as texts that a reader can edit: large constants become parameters of `@main`.

The text of a constant is as long as its data, and weights have millions of elements. What the explorers show
depends on the types of the weights and hardly ever on their values.
"""

from __future__ import annotations

from math import prod

from ..frontends.base.names import unused
from ..frontends.base.source import node_of
from ..ir.expr import Constant, Expr, Function, Var
from ..ir.module import IRModule
from ..ir.ndarray import NDArray
from ..ir.types import TensorType
from ..ir.walk import post_order, rewrite_nodes
from ..text.metadata import write
from ..text.printer import Printer
from .format import View
from .rows import ProgramRows
from .source import Source

MAX_TEXT = 100_000  # characters of a program that an explorer offers for editing
MAX_WRITTEN = 16  # elements of a constant that keeps its values in any program


def with_weights_as_parameters(module: IRModule) -> tuple[IRModule, dict[str, NDArray]]:
    """Replace the large constants of `@main` by parameters at its end; return the program and the values of
    these parameters by name.

    They are those with more than MAX_WRITTEN elements and, where there are such, all weights of an imported
    model but scalars. A weight keeps its name in the model, and the node from which it came.
    """
    main = next((function for name, function in module.functions.items() if name.name_hint == "main"), None)
    if not isinstance(main, Function):
        return module, {}
    nodes = post_order(main)
    names = {node.name_hint for node in nodes if isinstance(node, Var)}
    constants = [node for node in nodes if isinstance(node, Constant)]
    if not any(map(_is_large, constants)):
        return module, {}
    values: dict[str, NDArray] = {}
    variables: dict[Expr, Var] = {}
    for node in constants:
        if not (_is_large(node) or _is_weight(node)):
            continue
        name = unused(_name(node), names)
        names.add(name)
        values[name] = node.data
        variables[node] = Var(name, TensorType.of(node.data.shape, node.data.dtype), node.span)
    body = rewrite_nodes(main.body, lambda node, rebuilt: variables.get(node))
    changed = module.copy()
    changed["main"] = Function(
        [*main.params, *variables.values()], body, main.ret_type, main.type_params, main.attrs, main.span
    )
    return changed, values


def editable(view: View, source: Source) -> str:
    """Return the program to edit of a view whose rows refer to constants; "" for any other view, and where
    the text would be too long.
    """
    if not any(
        token.text.startswith("meta[") for rows in view.programs() for row in rows for token in row.tokens
    ):
        return ""
    text = text_of(with_weights_as_parameters(source.any_size)[0])
    return text if len(text) <= MAX_TEXT else ""


def _is_large(constant: Constant) -> bool:
    return prod(constant.data.shape) > MAX_WRITTEN


def _is_weight(constant: Constant) -> bool:
    node = node_of(constant.span)
    return node is not None and node.op == "weight" and prod(constant.data.shape) > 1


def _name(constant: Constant) -> str:
    """Return the name of a weight in its model; of a constant that was computed, that of the result."""
    node = node_of(constant.span)
    if node is None:
        return "constant"
    return node.name if node.op == "weight" or not node.outputs else node.outputs[0]


def text_of(module: IRModule) -> str:
    """Print a program as the explorers do, a parameter on each line, with the data of its constants."""
    printer = Printer(lambda expr, spelling, shown: "")
    printer.add(module)
    rows = ProgramRows(printer.rows, module).source
    lines = ["  " * row.depth + "".join([token.text for token in row.tokens]) for row in rows]
    data = f"\n{write(printer.spelling.meta)}" if printer.spelling.meta else ""
    return "\n".join(lines).rstrip() + "\n" + data
