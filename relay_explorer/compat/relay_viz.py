"""`tvm.contrib.relay_viz`: pictures of programs, for which this package's explorers are used."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..explorer import Explorer, explore
from ..ir.module import IRModule


class RelayVisualizer:
    """Shows a module. In a notebook it is drawn as the last expression of a cell; `render` saves it.

    `relay_param`, the values of parameters by name, is accepted for the sake of old code; weights are
    variables in the picture in any case. TVM's plotters and parsers are not available: passing one raises a
    TypeError.
    """

    def __init__(
        self,
        relay_mod: IRModule,
        relay_param: Mapping[str, Any] | None = None,
        plotter: object = None,
        parser: object = None,
    ) -> None:
        if plotter is not None or parser is not None:
            raise TypeError(
                "relay_viz draws with relay_explorer's own explorers: leave plotter and parser out"
            )
        self.explorer: Explorer = explore(relay_mod)

    def render(self, filename: str | os.PathLike[str] = "relay_viz", format: str = "html") -> Path:
        """Save the picture and return its path: a self-contained HTML page, or with `format="svg"` a static
        picture. A name without an extension gets the format's. Raise a ValueError for other formats.
        """
        if format == "html":
            return self.explorer.save(filename)
        if format != "svg":
            raise ValueError(
                f"relay_viz saves html and svg here, not {format}: print the page from a browser"
            )
        from ..views import picture

        target = Path(filename)
        if not target.suffix:
            target = target.with_suffix(".svg")
        target.write_text(picture.svg(self.explorer.view), "utf-8", newline="\n")
        return target

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return self.explorer._repr_mimebundle_(include, exclude)


__all__ = ["RelayVisualizer"]
