"""Graphs whose attributes are only numbers and text, as file formats of graphs need them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def plain(graph: Any) -> Any:
    """Return a copy of a graph of `to_networkx` whose attributes are numbers, truth values and text.

    Expressions and the graph's own tables of them are left out; so is what is unknown. A tuple becomes its
    parts with " / " between them, and a dictionary "name=value" with commas between them.
    """
    copy = graph.__class__(**_plain(graph.graph))
    copy.add_nodes_from((node, _plain(data)) for node, data in graph.nodes(data=True))
    if graph.is_multigraph():
        copy.add_edges_from((*ends, _plain(data)) for *ends, data in graph.edges(keys=True, data=True))
    else:
        copy.add_edges_from((*ends, _plain(data)) for *ends, data in graph.edges(data=True))
    return copy


def _plain(attributes: Mapping[str, Any]) -> dict[str, bool | int | float | str]:
    result: dict[str, bool | int | float | str] = {}
    for name, value in attributes.items():
        if isinstance(value, (bool, int, float)):
            result[name] = value
        elif isinstance(value, str):
            result[name] = _text(value)
        elif name in ("scope", "members"):
            result[name] = _text(" / ".join(map(str, value)))
        elif name == "attrs":
            result[name] = _text(", ".join([f"{key}={part}" for key, part in value.items()]))
    return result


def _text(value: str) -> str:
    """Return text without control characters, which XML cannot hold."""
    return "".join([c if c.isprintable() else " " for c in value])
