"""Where a node of an exported graph comes from: its operator, its module, and the line of the user's code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..base.source import Node, line_of

_FRAME = re.compile(r'File "([^"]+)", line (\d+)')
_LIBRARIES = re.compile(r"[\\/](?:torch|torchvision|functorch)[\\/]|<eval_with_key>|<string>")


def operator_name(target: Any) -> tuple[str, str]:
    """Return the name and the overload of an operator: `("aten::add", "Tensor")`; the overload `default` is
    the empty name.
    """
    import torch

    if isinstance(target, torch._ops.OpOverload):
        overload = target._overloadname
        return target._schema.name, "" if overload == "default" else overload
    name = getattr(target, "__name__", None) or str(target)
    module = (getattr(target, "__module__", "") or "").strip("_").partition(".")[0] or "torch"
    if isinstance(target, torch._ops.HigherOrderOperator):
        return f"higher_order::{name}", ""
    return f"{module}::{name}", ""


def node_of(fx_node: Any, attrs: Mapping[str, Any]) -> Node:
    """Describe a node of an FX graph for the node list."""
    name, overload = operator_name(fx_node.target)
    return Node(
        f"{name}.{overload}" if overload else name,
        fx_node.name,
        [operand.name for operand in fx_node.all_input_nodes],
        [fx_node.name],
        attrs,
        scope=_scope(fx_node.meta.get("nn_module_stack")),
        location=_location(fx_node.meta.get("stack_trace")),
        original=fx_node,
    )


def _scope(stack: Any) -> tuple[str, ...]:
    """Return the path of the innermost module: `encoder.layer.3` becomes its four names."""
    if not isinstance(stack, Mapping) or not stack:
        return ()
    path = ""
    for entry in stack.values():
        name = entry[0] if isinstance(entry, (tuple, list)) and entry else ""
        path = name if isinstance(name, str) else ""
    path = re.sub(r"^L(?:\['\w+'\]|__self__)\.?", "", path)  # the name of the model in the caller's frame
    path = re.sub(r"@\d+", "", re.sub(r"\[['\"]?(\w+)['\"]?\]", r".\1", path))
    if "metadata_hook" in path:
        return ()
    return tuple([part for part in path.split(".") if part and part not in ("_modules", "slice(None)")])


def _location(trace: Any) -> str:
    """Return file and line of the innermost frame that is not PyTorch's own."""
    frames = _FRAME.findall(trace) if isinstance(trace, str) else []
    own = [frame for frame in frames if not _LIBRARIES.search(frame[0])]
    chosen = (own or frames)[-1:]
    return line_of(*chosen[0]) if chosen else ""


def all_nodes(module: Any) -> Iterator[Any]:
    """Iterate over the nodes of a graph and of the graphs in it that call an operator."""
    for fx_node in module.graph.nodes:
        if fx_node.op == "call_function":
            yield fx_node
        elif fx_node.op == "get_attr":
            part = attribute(module, fx_node.target)
            if hasattr(part, "graph"):
                yield from all_nodes(part)


def attribute(module: Any, path: str) -> Any:
    """Return an attribute of a module by its path."""
    for part in path.split("."):
        module = getattr(module, part)
    return module
