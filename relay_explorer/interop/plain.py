"""Graphs whose attributes are only numbers and text, as file formats of graphs need them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
        if isinstance(value, bool):
            result[name] = value
        elif isinstance(value, (int, float)):  # or a subclass, if compat is loaded
            result[name] = int(value) if isinstance(value, int) else float(value)
        elif isinstance(value, str):
            result[name] = _text(value)
        elif name in ("scope", "members"):
            result[name] = _text(" / ".join(map(str, value)))
        elif name == "attrs":
            result[name] = _text(", ".join([f"{key}={attribute(part)}" for key, part in value.items()]))
    return result


def attribute(value: object) -> str:
    """Return an attribute as text, the same whether compat is loaded, which has sequences of its own, or
    not.
    """
    return str(tuple(value)) if isinstance(value, Sequence) and not isinstance(value, str) else str(value)


def _text(value: str) -> str:
    """Return text without control characters, which XML cannot hold."""
    return "".join([c if c.isprintable() else " " for c in value])
