"""The node list of an imported model: the source to which the spans of imported expressions point.

Each node of the model is one line of text, so that everything that shows a source location (errors,
explorers, the profiler) shows the node that an expression came from, also after passes have rewritten it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from ...ir.span import Source, Span

_LONGEST = 60  # characters of one attribute in a line
_PACKAGE = __name__.partition(".")[0]
_DEEPEST = 4  # containers within one another in an attribute
_LEAVES = ("input", "weight")
_NAMED_BY_USER = ("ONNX", "PyTorch")


class Node:
    """One node of a framework's graph.

    `op` is the framework's name of the operation (`Conv`, `aten::relu`), `name` that of the node, `inputs`
    and `outputs` the names of its values. `scope` is the path of the modules that it belongs to, from the
    outermost (`("encoder", "layer", "3", "attention")`). `location` is where the user's code calls it
    (`model.py:17`); empty where the framework does not know. `attrs` are its attributes as Python values.
    `original` is the framework's own object. `outcome`, set during the import, is "constant" where the values
    of all results were known, "same" where they are values of other nodes, passed on unchanged, and else "".
    """

    __slots__ = ("attrs", "inputs", "location", "name", "op", "original", "outcome", "outputs", "scope")

    def __init__(
        self,
        op: str,
        name: str,
        inputs: Sequence[str] = (),
        outputs: Sequence[str] = (),
        attrs: Mapping[str, Any] | None = None,
        scope: Sequence[str] = (),
        location: str = "",
        original: object = None,
    ) -> None:
        self.op = op
        self.name = name
        self.inputs = tuple(inputs)
        self.outputs = tuple(outputs)
        self.attrs: Mapping[str, Any] = attrs or {}
        self.scope = tuple(scope)
        self.location = location
        self.original = original
        self.outcome = ""

    @property
    def path(self) -> str:
        """The module path as text: `encoder.layer.3.attention`."""
        return ".".join(self.scope)

    def __str__(self) -> str:
        results = ", ".join(f"%{name}" for name in self.outputs)
        operands = ", ".join(f"%{name}" if name else "_" for name in self.inputs)
        attrs = ", ".join(f"{key}={_short(value)}" for key, value in self.attrs.items())
        text = f"{self.op}({operands})" + (f" {{{attrs}}}" if attrs else "")
        text = f"{results} = {text}" if results else text
        places = [place for place in (self.path, self.location) if place]
        line = f"{text}  # {', '.join(places)}" if places else text
        return " ".join(line.split())

    def __repr__(self) -> str:
        return f"<Node {self}>"


class ModelSource(Source):
    """The nodes of one imported model, in the order in which they were imported; line 1 is the first.

    `framework` is "ONNX", "PyTorch", … `name` is the file's or the model's name.
    """

    __slots__ = ("_users", "framework", "nodes")

    def __init__(self, name: str, framework: str) -> None:
        super().__init__(name)
        self.framework = framework
        self.nodes: list[Node] = []
        self._users: dict[str, str] | None = None

    def add(self, node: Node) -> Span:
        """Append a node; return the span of its line."""
        self.nodes.append(node)
        self._text = ""
        self._starts = None
        self._users = None
        number = len(self.nodes)
        return Span(self, number, number, 1, 2)

    def node(self, span: Span | None) -> Node | None:
        """Return the node that a span of this source refers to, or None."""
        if span is None or span.source is not self or not 1 <= span.line <= len(self.nodes):
            return None
        return self.nodes[span.line - 1]

    @property
    def text(self) -> str:
        """The nodes as text, one per line."""
        if not self._text:
            self._text = "\n".join(map(str, self.nodes))
        return self._text

    def name_at(self, line: int) -> str:
        """Return the name of the node at a line; for an input or a weight in ONNX and PyTorch, that of the
        first node that uses it and its own: `conv_1.weight`.

        TVM named spans so, and old code compares these names.
        """
        if not 1 <= line <= len(self.nodes):
            return self.name
        node = self.nodes[line - 1]
        if node.inputs or node.op not in _LEAVES or self.framework not in _NAMED_BY_USER:
            return node.name
        if self._users is None:
            self._users = {}
            for user in self.nodes:
                for name in user.inputs:
                    self._users.setdefault(name, user.name)
        name = node.name.rpartition(".")[2] if self.framework == "PyTorch" else node.name
        return f"{self._users[node.name]}.{name}" if node.name in self._users else node.name


def node_of(span: Span | None) -> Node | None:
    """Return the node of an imported model that a span refers to, or None."""
    source = span.source if span is not None else None
    return source.node(span) if isinstance(source, ModelSource) else None


def line_of(file: str, line: int | str) -> str:
    """Return a line of the user's code as text: `model.py:17`, or `cell:17` of a notebook, whose kernel gives
    cells the names of temporary files.
    """
    cell = file.startswith("<") or "ipykernel_" in file
    return f"{'cell' if cell else os.path.basename(file)}:{line}"


def _short(value: object) -> str:
    """Return an attribute's value as text, without the programs and arrays in it."""
    text = _written(value, _DEEPEST)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _written(value: object, depth: int) -> str:
    if type(value).__module__.startswith(_PACKAGE):  # an expression, or a list or an object made of some
        return "<value>"
    if isinstance(value, (list, tuple, dict)) and not depth:
        return "…"
    if isinstance(value, dict):
        parts = [f"{key!r}: {_written(part, depth - 1)}" for key, part in list(value.items())[:_LONGEST]]
        return f"{{{', '.join(parts)}}}"
    if isinstance(value, (list, tuple)):
        parts = [_written(part, depth - 1) for part in value[:_LONGEST]]
        text = ", ".join(parts)
        return f"[{text}]" if isinstance(value, list) else f"({text}{',' * (len(value) == 1)})"
    return f"<{type(value).__name__} {value.shape}>" if hasattr(value, "shape") else repr(value)
