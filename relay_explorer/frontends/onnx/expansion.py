"""Expand nodes that are functions: those of the model, and operators that the standard defines by others.

The body of a function is imported anew at every call, because the shapes of its values differ from call to
call, as do the attributes that it takes from the node. ONNX allows no recursion.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING
from typing import Any as Anything

from ...ir.errors import RelayError
from ...ir.expr import Expr
from ...ir.types import TensorType, Type
from ..base.errors import ModelFileError
from ..base.require import require
from ..base.source import Node
from . import lists
from .body import Body, bodies_of
from .registry import OnnxConverter, canonical
from .types import DTYPES

if TYPE_CHECKING:
    from .graph import Graph, Importer

DEEPEST = 32  # calls of functions within one another

_NUMBERS = {name: number for number, name in DTYPES.items()}


def expansion(importer: Importer, node: Node, opsets: Mapping[str, int]) -> OnnxConverter | None:
    """Return a converter that expands the function which `node` calls, or None if it calls none."""
    proto: Anything = node.original
    domain = canonical(proto.domain)
    own = importer.functions.get((domain, proto.op_type))
    if own is not None:
        return lambda g, node, inputs: expand(g, node, inputs, own)
    schema = schema_of(proto.op_type, domain, opsets.get(domain, 1))
    if schema is None or not (schema.has_function or schema.has_context_dependent_function):
        return None

    def convert(g: Graph, node: Node, inputs: list[Expr | None]) -> list[Expr]:
        return expand(g, node, inputs, _definition(g, schema, node, inputs), schema)

    return convert


def schema_of(operator: str, domain: str, version: int) -> Anything:
    """Return the standard's definition of an operator in a version of its domain, or None."""
    defs = require("onnx", "onnx").defs
    if not defs.has(operator, domain):
        return None
    try:
        return defs.get_schema(operator, version, domain)
    except defs.SchemaError:  # the operator is newer
        return None


def _definition(g: Graph, schema: Anything, node: Node, inputs: Sequence[Expr | None]) -> Anything:
    """Return the function that defines a standard operator for operands of these types."""
    onnx = require("onnx", "onnx")
    if schema.has_function:
        version = _version(schema.function_opset_versions, g.opset)
        return onnx.FunctionProto.FromString(schema.get_function_with_opset_version(version))
    version = _version(schema.context_dependent_function_opset_versions, g.opset)
    types = [_type_proto(onnx, None if value is None else g.context.type(value)) for value in inputs]
    proto: Anything = node.original
    content = schema.get_context_dependent_function_with_opset_version(
        version, proto.SerializeToString(), [type_.SerializeToString() for type_ in types]
    )
    function = onnx.FunctionProto.FromString(content)
    if not function.node:
        shown = ["absent" if value is None else str(g.context.type(value)) for value in inputs]
        raise RelayError(
            f"ONNX defines {node.op} as a function, but not for operands of these types: {', '.join(shown)}"
        )
    return function


def _version(versions: Sequence[int], opset: int) -> int:
    """Return the newest of the versions that an opset includes; the oldest where it includes none."""
    return max([version for version in versions if version <= opset], default=min(versions))


def expand(
    g: Graph, node: Node, inputs: Sequence[Expr | None], function: Anything, schema: Anything = None
) -> list[Expr]:
    """Import the body of a function with a node's operands and attributes; return its results."""
    from .graph import Graph

    importer = g.importer
    label = f"{function.domain}.{function.name}" if function.domain else function.name
    wanted = [formal if actual else "" for formal, actual in zip(function.output, node.outputs)]
    if len(inputs) > len(function.input) or len(node.outputs) > len(function.output):
        raise ModelFileError(
            f"the function `{label}` has {len(function.input)} inputs and {len(function.output)} outputs, "
            f"but is called with {len(inputs)} and {len(node.outputs)}"
        )
    arguments = {name: value for name, value in zip(function.input, inputs) if value is not None}
    absent = {name for name in function.input if name not in arguments}
    attributes = _attributes(node.original, function, schema)
    nodes = [_instance(proto, attributes, absent) for proto in function.node]
    importer.count(len(nodes))
    calls = importer.calls
    if (function.name in calls and schema is None) or len(calls) >= DEEPEST:
        raise ModelFileError(f"the function `{label}` calls itself, which ONNX does not allow")
    body = importer.reader.body(label, list(arguments), [name for name in wanted if name], nodes)
    _place(body, (*node.scope, node.name))
    opsets = {canonical(entry.domain): int(entry.version) for entry in function.opset_import}
    inner = Graph(importer, body, None, {**g.opsets, **opsets})
    inner.values.update(arguments)
    importer.calls = (*calls, function.name)
    try:
        results = iter(inner.run())
    finally:
        importer.calls = calls
    values = [next(results) if name else None for name in wanted]
    first = next(value for value in values if value is not None)
    return [first if value is None else value for value in values]  # an unused result is not looked at


def function_nodes(importer: Importer, nodes: Iterable[Node]) -> Iterator[Node]:
    """Yield nodes, and those in the functions of the model that they call, each function once."""
    visited: set[tuple[str, str]] = set()
    pending = list(nodes)[::-1]
    while pending:
        node = pending.pop()
        proto: Anything = node.original
        key = (canonical(proto.domain), proto.op_type)
        function = importer.functions.get(key)
        if function is None or node.op in importer.context.convert_map:
            yield node
        elif key not in visited:
            visited.add(key)
            inner = [importer.reader.node(proto) for proto in function.node]
            pending += [part for child in inner[::-1] for part in _with_subgraphs(child)]


def _with_subgraphs(node: Node) -> list[Node]:
    result = [node]
    for body in bodies_of(node):
        for inner in body.nodes:
            result += _with_subgraphs(inner)
    return result


def _attributes(proto: Anything, function: Anything, schema: Anything) -> dict[str, Anything]:
    """Return the attributes that a function's body may refer to: the node's, or their defaults."""
    available: dict[str, Anything] = {}
    if schema is not None:
        for name, attribute in schema.attributes.items():
            if attribute.default_value.type:
                available[name] = attribute.default_value
    available.update({attribute.name: attribute for attribute in function.attribute_proto})
    available.update({attribute.name: attribute for attribute in proto.attribute})
    return available


def _instance(proto: Anything, attributes: Mapping[str, Anything], absent: set[str]) -> Anything:
    """Return a copy of a node in a function's body, with attributes in place of references to them, and
    without the function's operands that are absent.
    """
    copy = type(proto)()
    copy.CopyFrom(proto)
    for index, name in enumerate(proto.input):
        if name in absent:
            copy.input[index] = ""
    del copy.attribute[:]
    for attribute in proto.attribute:
        if attribute.ref_attr_name:
            value = attributes.get(attribute.ref_attr_name)
            if value is not None:
                added = copy.attribute.add()
                added.CopyFrom(value)
                added.name = attribute.name
            continue
        added = copy.attribute.add()
        added.CopyFrom(attribute)
        for graph in [added.g, *added.graphs] if added.HasField("g") or added.graphs else ():
            nodes = [_instance(node, attributes, absent) for node in graph.node]
            del graph.node[:]
            graph.node.extend(nodes)
    return copy


def _place(body: Body, scope: tuple[str, ...]) -> None:
    """Set the module path of all nodes of an expanded function."""
    for node in body.nodes:
        node.scope = (*scope, *node.scope)
        for inner in bodies_of(node):
            _place(inner, scope)


def _type_proto(onnx: Anything, type_: Type | None) -> Anything:
    """Return the ONNX type of a value; an empty one where it is absent."""
    proto = onnx.TypeProto()
    if isinstance(type_, TensorType):
        proto.tensor_type.elem_type = _NUMBERS[type_.dtype]
        proto.tensor_type.shape.SetInParent()
        for extent in type_.shape:
            dim = proto.tensor_type.shape.dim.add()
            if isinstance(extent, int):
                dim.dim_value = extent
    elif type_ is not None:
        element = lists.argument_of(type_, "List")
        if element is not None:
            proto.sequence_type.elem_type.CopyFrom(_type_proto(onnx, element))
        else:
            element = lists.argument_of(type_, "Option")
            if element is not None:
                proto.optional_type.elem_type.CopyFrom(_type_proto(onnx, element))
    return proto
