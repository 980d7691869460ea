"""Names of a captured graph's inputs, as the user knows them."""

from __future__ import annotations

import re
from typing import Any


def placeholder_names(graph: Any) -> list[str]:
    """Return the names of a graph's inputs: `conv.weight` for a parameter, `x` for an argument."""
    names: list[str] = []
    for fx_node in graph.graph.nodes:
        if fx_node.op != "placeholder":
            continue
        argument = fx_node.meta.get("grapharg")
        source = getattr(argument, "source", None)
        text = getattr(source, "name", "")
        text = text() if callable(text) else text
        name = readable(text) or fx_node.name
        while name in names:
            name += "_"
        names.append(name)
    return names


def readable(source: str) -> str:
    """Return the path in Dynamo's description of where a value comes from.

    `L['self']._modules['conv']._parameters['weight']` becomes `conv.weight`, and `L['args'][0]` becomes
    `args_0`.
    """
    path = re.sub(r"\[['\"]?(\w+)['\"]?\]", r".\1", source)
    path = re.sub(r"\._(?:modules|parameters|buffers)\b", "", path)
    path = re.sub(r"^[LG]\.", "", path)
    if re.search(r"_modules|_parameters|_buffers", source):
        path = re.sub(r"^(?:self|fn|mod|model)\.", "", path)
    else:
        path = path.replace(".", "_")
    return re.sub(r"[^\w.]+", "_", path).strip("._")
