"""The record of a graph that the backend compiled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...ir.errors import RelayError
from ...ir.module import IRModule
from ...ir.ndarray import NDArray

if TYPE_CHECKING:
    from ...lower.runtime.executable import Executable

_last: list[Compiled] = []


class RelayFallbackWarning(UserWarning):
    """A graph that `torch.compile` captured runs in PyTorch, because Relay cannot compile it."""


@dataclass(frozen=True)
class Compiled:
    """One graph that was captured, imported and compiled.

    `module` is the imported program, whose source is the node list; `params` are its weights that are not
    constants; `executable` is the compiled program; `graph` is PyTorch's graph of ATen operators.
    `relay_explorer.explore` accepts a Compiled in place of a module.
    """

    module: IRModule
    params: dict[str, NDArray]
    executable: Executable
    graph: Any

    @property
    def text(self) -> str:
        """The imported program as Relay text."""
        return str(self.module)

    def __repr__(self) -> str:
        nodes = sum(node.op == "call_function" for node in self.graph.graph.nodes)
        return f"<Compiled: {nodes} nodes of PyTorch, {len(self.executable.kernels)} kernels>"


def remember(compiled: Compiled) -> None:
    """Keep a graph as the last one."""
    _last[:] = [compiled]


def last_compiled() -> Compiled:
    """Return the graph that `torch.compile(…, backend="relay")` compiled last, in this process.

    A graph is compiled when the model is called for the first time, and again for arguments of other shapes.
    Raise a RelayError if there is none.
    """
    if not _last:
        raise RelayError(
            "no graph has been compiled yet",
            help=['call a model that torch.compile(model, backend="relay") returned'],
        )
    return _last[-1]
