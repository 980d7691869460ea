"""What the importer reads of TorchScript's graphs: constants, functions, schemas, source locations."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any as Anything

from ...ir.errors import RelayError
from ..base.require import require
from ..base.source import line_of

Graph = Anything
Block = Anything
TorchNode = Anything
TorchValue = Anything
_SCHEMA = re.compile(r"^([\w:]+)(?:\.(\w+))?\(")
_TRACED = re.compile(r"^\s*(\S+?)\((\d+)\): ")
_SCRIPTED = re.compile(r'^\s*File "([^"]+)", line (\d+)')


def operator_of(node: TorchNode) -> tuple[str, str]:
    """Return the name and the overload of a node's operator: `("aten::add", "Tensor")`."""
    match = _SCHEMA.match(node.schema())
    return (node.kind(), match.group(2) or "") if match else (node.kind(), "")


def constant_of(node: TorchNode) -> object:
    """Return the value of a `prim::Constant`: a number, string, list, `torch.Tensor`, or None."""
    if not node.hasAttribute("value"):
        return None
    kind = node.kindOf("value")
    if kind not in ("i", "f", "s", "t", "is", "fs", "ss", "ts", "ival"):
        raise RelayError(f"a constant of kind {kind!r} cannot be imported")
    value = getattr(node, kind)("value")
    if kind == "i" and str(node.output().type()) == "bool":
        return bool(value)
    return value


def is_wrapped_number(tensor: Anything) -> bool:
    """Whether a constant of a traced graph was a Python number: it then does not determine the element type
    of a result with a tensor of another category.
    """
    torch = require("torch", "torch")
    if tensor.dim() or tensor.dtype != torch.float64:
        return False  # for other types the rules for tensors without axes have the same results
    return bool(torch.result_type(torch.ones(1, dtype=torch.int64), tensor) != torch.float64)


def is_function(node: TorchNode) -> bool:
    """Whether a `prim::Constant` is a function."""
    return bool(node.kind() == "prim::Constant" and node.output().type().kind() == "FunctionType")


def attributes_of(node: TorchNode) -> Mapping[str, object]:
    """Return the attributes of a node that are numbers or strings."""
    return {
        name: getattr(node, node.kindOf(name))(name)
        for name in node.attributeNames()
        if node.kindOf(name) in ("i", "f", "s")
    }


class Functions:
    """The graphs of the functions that a program calls, with what they call inlined."""

    def __init__(self) -> None:
        self._graphs: dict[str, Graph] = {}

    def graph(self, function: TorchNode, call: TorchNode) -> Graph:
        """Return the graph of the function that `call` calls; its inputs are the call's arguments."""
        name = str(function.output().type())
        if name not in self._graphs:
            self._graphs[name] = self._inlined(function, call)
        return self._graphs[name]

    def _inlined(self, function: TorchNode, call: TorchNode) -> Graph:
        """Build a graph with nothing but the call, and let PyTorch inline it."""
        torch = require("torch", "torch")
        graph = torch._C.Graph()
        target = graph.create("prim::Constant", [], 1)
        target.s_("name", function.s("name"))
        target.output().setType(function.output().type())
        graph.insertNode(target)
        arguments = []
        for value in list(call.inputs())[1:]:
            argument = graph.addInput()
            argument.setType(value.type())
            arguments.append(argument)
        node = graph.create("prim::CallFunction", [target.output(), *arguments], 1)
        node.output().setType(call.output().type())
        graph.insertNode(node)
        graph.registerOutput(node.output())
        torch._C._jit_pass_inline(graph)
        return graph


def all_nodes(block: Block) -> Iterator[TorchNode]:
    """Return the nodes of a graph or block and of the blocks inside."""
    pending = [block]
    while pending:
        for node in pending.pop().nodes():
            yield node
            pending += node.blocks()


@cache
def _torch_folder() -> str:
    torch = require("torch", "torch")
    return os.path.dirname(str(torch.__file__)) + os.sep


def location_of(node: TorchNode) -> str:
    """Return where the user's code calls an operator, as `model.py:17`: the innermost line outside of
    PyTorch; empty where there is none.
    """
    text = node.sourceRange()
    if not text:
        return ""
    pattern = _SCRIPTED if text.lstrip().startswith("File ") else _TRACED
    for line in text.split("\n"):
        match = pattern.match(line)
        if match and not match.group(1).startswith((_torch_folder(), "code/")):
            return line_of(match.group(1), match.group(2))
    return ""


def scope_of(node: TorchNode) -> list[str]:
    """Return the module path that an inlined, traced graph tells of a node."""
    last = node.scopeName().rpartition("/")[2]
    return [part for part in last.removeprefix("__module").split(".") if part]
