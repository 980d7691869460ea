"""`tvm.relay.backend.Runtime` and `Executor`: the runtime and executor that a program is built for, with
checked options.

They are only stored and compared. Which executor runs a program depends on the program.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from ..ir.errors import RelayError

_TEXT, _NUMBER = "runtime.String", "IntImm"  # the names of TVM's own classes, which old code reads


class _Choice:
    """A name with options. `known` has the types of each name's options; `defaults` has the default of each
    option that has one.
    """

    known: ClassVar[Mapping[str, Mapping[str, str]]] = {}
    defaults: ClassVar[Mapping[str, object]] = {}

    def __init__(self, name: str, options: Mapping[str, object] | None = None) -> None:
        types = self.list_registered_options(name)
        self.name = name
        self.options: dict[str, object] = {key: v for key, v in self.defaults.items() if key in types}
        kind = type(self).__name__
        for option, value in (options or {}).items():
            if option not in types:
                raise RelayError(
                    f'Attribute "{option}" is not available on this {kind}',
                    help=[f"the options of `{name}` are {', '.join(types) or 'none'}"],
                )
            actual = _TEXT if isinstance(value, str) else _NUMBER
            if actual != types[option]:
                raise RelayError(
                    f'Attribute "{option}" should have type "{types[option]}" but instead found "{actual}"'
                )
            self.options[option] = value

    @classmethod
    def list_registered(cls) -> list[str]:
        """List the available names."""
        return list(cls.known)

    @classmethod
    def list_registered_options(cls, name: object) -> dict[str, str]:
        """Map each option of `name` to the name of its type."""
        if str(name) not in cls.known:
            raise RelayError(
                f'{cls.__name__} "{name}" is not defined', help=[f"known: {', '.join(cls.known)}"]
            )
        return dict(cls.known[str(name)])

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

    known: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "cpp": {"system-lib": _NUMBER},
        "crt": {"system-lib": _NUMBER},
    }


class Executor(_Choice):
    """ "graph" or "aot"."""

    known: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "graph": {"link-params": _NUMBER},
        "aot": {
            "link-params": _NUMBER,
            "unpacked-api": _NUMBER,
            "interface-api": _TEXT,
            "workspace-byte-alignment": _NUMBER,
            "constant-byte-alignment": _NUMBER,
        },
    }
    defaults: ClassVar[Mapping[str, object]] = {"link-params": False}


__all__ = ["Executor", "Runtime"]
