"""`tvm.relay.backend.Runtime` and `Executor`: what a program was to be built for. Kept and compared;
which executor runs a program follows from the program.
"""

from __future__ import annotations

from collections.abc import Mapping


class _Choice:
    """A name with options."""

    def __init__(self, name: str, options: Mapping[str, object] | None = None) -> None:
        self.name = name
        self.options = dict(options or {})

    def __getitem__(self, name: str) -> object:
        return self.options[name]

    def __contains__(self, name: object) -> bool:
        return name in self.options

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and vars(other) == vars(self)

    def __hash__(self) -> int:
        return hash((type(self), self.name))

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}{f', {self.options}' if self.options else ''})"


class Runtime(_Choice):
    """ "cpp" or "crt"."""


class Executor(_Choice):
    """ "graph" or "aot"."""


__all__ = ["Executor", "Runtime"]
