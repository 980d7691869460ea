"""The errors of importers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ...ir.errors import RelayError
from ...ir.show import counted
from .source import Node

SHAPE_OPTION = "--shape INPUT=… on the command line"
_SHOWN = 20  # unsupported operators that an error names


class ModelFileError(RelayError):
    """A model file cannot be read: it is truncated, of another format, inconsistent or too large."""


class ExternalDataError(ModelFileError):
    """The weights of a model are in another file, and where that is, is not known."""


class DynamicShapeError(RelayError):
    """A converter needs a shape, or a value computed from shapes, that is known only at run time.

    `Context.convert` adds help that says how to import the model with static shapes.
    """


class UnsupportedOperatorsError(RelayError, NotImplementedError):
    """A model uses operators that the importer has no converter for. `operators` maps each to its nodes."""

    def __init__(self, message: str, operators: dict[str, list[Node]], help: Sequence[str]) -> None:
        super().__init__(message, help=help)
        self.operators = operators


def check_supported(
    nodes: Iterable[Node], supported: Callable[[Node], bool], framework: str, importer: str
) -> None:
    """Raise one UnsupportedOperatorsError that names every operator without a converter, with the number of
    its nodes and the first of them.
    """
    missing: dict[str, list[Node]] = {}
    for node in nodes:
        if not supported(node):
            missing.setdefault(node.op, []).append(node)
    if not missing:
        return
    listed = sorted(missing.items(), key=lambda item: (-len(item[1]), item[0]))
    parts = [
        f"{op} ({counted(len(where), 'node')}, first {_place(where[0])})" for op, where in listed[:_SHOWN]
    ]
    if len(listed) > _SHOWN:
        parts.append(f"{len(listed) - _SHOWN} more")
    what = counted(len(listed), f"{framework} operator")
    raise UnsupportedOperatorsError(
        f"the model uses {what} that cannot be imported: {'; '.join(parts)}",
        missing,
        [
            f"give a converter for each: {importer}(…, convert_map={{{listed[0][0]!r}: convert}}), where "
            "convert(node, inputs) returns a Relay expression, or a tuple of them for several outputs",
            "`node.attrs` holds the node's attributes, and `inputs` the Relay expressions of its operands",
        ],
    )


def _place(node: Node) -> str:
    where = f"`{node.name}`" if node.name else f"%{node.outputs[0]}" if node.outputs else "unnamed"
    extra = ", ".join(place for place in (node.path, node.location) if place)
    return f"{where} in {extra}" if extra else where
