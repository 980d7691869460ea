"""Read MXNet's graphs, which `Symbol.tojson` and `HybridBlock.export` write as JSON.

A node has an operator (`null` for a variable), a name, inputs (the number of a node before it, and which of
its results), and attributes, which are text. Control flow has graphs of its own, `subgraphs`. Older versions
called the attributes `attr` or `param`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any as Anything

from ..base.errors import ModelFileError
from .attributes import Attributes

LARGEST = 1 << 28  # bytes of a file
VARIABLE = "null"

# The variables that old versions of MXNet did not list among an operator's inputs.
_STATES = {
    "BatchNorm": ("moving_mean", "moving_var"), "BatchNorm_v1": ("moving_mean", "moving_var"),
    "CuDNNBatchNorm": ("moving_mean", "moving_var"),
}  # fmt: skip


class SymbolNode:
    """One node: its operator, name, attributes, inputs (node, result) and subgraphs."""

    __slots__ = ("attrs", "inputs", "name", "op", "subgraphs")

    def __init__(
        self,
        op: str,
        name: str,
        attrs: dict[str, str],
        inputs: list[tuple[int, int]],
        subgraphs: list[SymbolGraph],
    ) -> None:
        self.op = op
        self.name = name
        self.attrs = Attributes(attrs)
        self.inputs = inputs
        self.subgraphs = subgraphs


class SymbolGraph:
    """A graph: its nodes, each after its inputs, and its results (node, result)."""

    def __init__(self, nodes: list[SymbolNode], heads: list[tuple[int, int]]) -> None:
        self.nodes = nodes
        self.heads = heads

    @property
    def variables(self) -> list[SymbolNode]:
        """The graph's variables, in order."""
        return [node for node in self.nodes if node.op == VARIABLE]

    def every_node(self) -> Iterator[SymbolNode]:
        """Yield all nodes, those of subgraphs too."""
        for node in self.nodes:
            yield node
            for graph in node.subgraphs:
                yield from graph.every_node()


def read(symbol: object) -> tuple[SymbolGraph, str]:
    """Return the graph of a symbol, and a name for it. `symbol` is a path, text, or has `tojson`."""
    if hasattr(symbol, "tojson"):
        return parse(str(symbol.tojson())), str(getattr(symbol, "name", None) or "symbol")
    if isinstance(symbol, (bytes, bytearray)):
        return parse(_decoded(bytes(symbol))), "symbol"
    if isinstance(symbol, str) and symbol.lstrip().startswith("{"):
        return parse(symbol), "symbol"
    if isinstance(symbol, (str, os.PathLike)):
        return parse(_contents(Path(symbol))), Path(symbol).name
    raise TypeError(
        "a symbol is a path of a -symbol.json file, its text, or an MXNet Symbol or HybridBlock, "
        f"not {type(symbol).__name__}"
    )


def _contents(path: Path) -> str:
    try:
        if path.stat().st_size > LARGEST:
            raise ModelFileError(f"{path} has more than {LARGEST >> 20} MB, which no symbol file has")
        return _decoded(path.read_bytes())
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {error.strerror}") from error


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise ModelFileError(
            "the file is not text: a symbol file is JSON",
            help=["if it is the .params file, pass it as arg_params, and the -symbol.json file first"],
        ) from None


def parse(text: str) -> SymbolGraph:
    """Return the graph that is written in `text`; raise a ModelFileError where it is broken."""
    try:
        return _graph(json.loads(text), ())
    except json.JSONDecodeError as error:
        raise ModelFileError(f"the symbol is not JSON, or is truncated: {error}") from None
    except RecursionError:
        raise ModelFileError("the symbol's JSON is nested too deeply") from None


def _graph(data: Anything, path: tuple[str, ...]) -> SymbolGraph:
    where = f" (in {' of '.join(reversed(path))})" if path else ""
    if not isinstance(data, dict) or not isinstance(data.get("nodes"), list):
        raise ModelFileError(f"the symbol has no list of nodes{where}")
    nodes: list[SymbolNode] = []
    places: list[int] = []  # where each node of the file is in `nodes`, to which states may be added
    for number, entry in enumerate(data["nodes"]):
        if not isinstance(entry, dict):
            raise ModelFileError(f"node {number} of the symbol is not an object{where}")
        node = _node(entry, number, places, path)
        for state in _STATES.get(node.op, ())[len(node.inputs) - 3 :] if 3 <= len(node.inputs) < 5 else ():
            node.inputs.append((len(nodes), 0))
            nodes.append(SymbolNode(VARIABLE, f"{node.name}_{state}", {}, [], []))
        places.append(len(nodes))
        nodes.append(node)
    heads = data.get("heads")
    if not isinstance(heads, list) or not heads:
        raise ModelFileError(f"the symbol has no results (`heads`){where}")
    return SymbolGraph(nodes, [_reference(head, places, f"an entry of `heads`{where}") for head in heads])


def _node(entry: dict[str, Anything], number: int, places: list[int], path: tuple[str, ...]) -> SymbolNode:
    op, name = entry.get("op"), entry.get("name")
    if not isinstance(op, str) or not isinstance(name, str):
        raise ModelFileError(f"node {number} of the symbol has no operator, or no name")
    attrs: dict[str, str] = {}
    for key in ("param", "attr", "attrs"):
        values = entry.get(key)
        if isinstance(values, dict):
            attrs.update({str(k): v if isinstance(v, str) else json.dumps(v) for k, v in values.items()})
    inputs = entry.get("inputs", [])
    if not isinstance(inputs, list):
        raise ModelFileError(f"the inputs of node `{name}` are not a list")
    references = [_reference(item, places, f"node `{name}` ({op})") for item in inputs]
    subgraphs = entry.get("subgraphs", [])
    if not isinstance(subgraphs, list):
        raise ModelFileError(f"the subgraphs of node `{name}` are not a list")
    return SymbolNode(op, name, attrs, references, [_graph(graph, (*path, name)) for graph in subgraphs])


def _reference(item: Anything, places: list[int], user: str) -> tuple[int, int]:
    if not (isinstance(item, list) and len(item) in (1, 2, 3) and all(type(part) is int for part in item)):
        raise ModelFileError(f"{user} refers to a node, but not in the form [node, result]")
    source, result = item[0], item[1] if len(item) > 1 else 0
    if not 0 <= source < len(places) or result < 0:
        raise ModelFileError(
            f"{user} refers to node {source}, which is not before it: the file is damaged, or its graph has "
            "a cycle"
        )
    return places[source], result
