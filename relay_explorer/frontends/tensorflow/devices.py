"""Check the devices that the functions of a graph ask for."""

from __future__ import annotations

from collections.abc import Iterable

from ...ir.errors import RelayError
from .graph import GraphNode


def check_devices(nodes: Iterable[GraphNode]) -> None:
    """Raise a RelayError where the nodes of functions are assigned to different devices, which the program
    would not respect: it runs as a whole on the device that it is built for.
    """
    first: GraphNode | None = None
    for node in nodes:
        if not node.device:
            continue
        if first is None:
            first = node
        elif node.device != first.device:
            raise RelayError(
                f"Found inconsistent Device assignment in the graph's functions: `{first.name}` is assigned "
                f"to {first.device}, `{node.name}` to {node.device}",
                help=[
                    "remove the devices from the graph: Relay chooses the device when it builds the program"
                ],
            )
