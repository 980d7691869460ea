"""`tvm.ir.save_json` and `load_json`: programs, expressions, types and plain data as readable JSON.

The JSON format is this package's own: it contains programs in Relay's text format, with the data of constants
(`{"relay_explorer": 1, "kind": "module", "text": "#[version = …"}`). An expression or a type is stored as a
function whose parameters are its free variables. Inferred types are not stored: infer them again. TVM's own
JSON, a graph of its C++ objects, cannot be loaded; the error says how to convert such a program.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

from ..ir.attrs import Attrs
from ..ir.errors import RelayError
from ..ir.expr import Expr, Function, Tuple, Var
from ..ir.module import IRModule
from ..ir.ndarray import NDArray
from ..ir.span import Span
from ..ir.types import Type, TypeVar
from ..ir.walk import free_type_vars, free_vars
from ..text import astext, parse, parse_expr
from .nodes import make_node

FORMAT = 1


def save_json(node: object) -> str:
    """Encode `node` as JSON: a module, an expression, a type, a span, attributes, an array, or lists, tuples
    and dictionaries (with strings as keys) of these and of plain data. An expression must not refer to
    constructors or types that it does not declare; save its module instead.
    """
    return json.dumps({"relay_explorer": FORMAT, **_save(node)}, indent=2, ensure_ascii=False)


def load_json(json_str: str) -> Any:
    """Restore the object that `save_json` wrote. Raise a RelayError for other text."""
    try:
        data = json.loads(json_str)
    except (ValueError, RecursionError):
        raise RelayError("this is not JSON that save_json wrote") from None
    if not isinstance(data, dict) or data.get("relay_explorer") != FORMAT:
        if isinstance(data, dict) and "nodes" in data:
            raise RelayError(
                "this JSON was written by TVM, as a graph of its own objects",
                help=["print the module with astext() where TVM is installed, and read it with relay.parse"],
            )
        raise RelayError("this is not JSON that save_json wrote")
    try:
        return _load(data)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise RelayError(f"this JSON of save_json is damaged: {error!r}") from None


def _save(node: object) -> dict[str, Any]:
    if isinstance(node, IRModule):
        return {"kind": "module", "text": astext(node)}
    if isinstance(node, Type):
        holder = Var("x", node)
        params = [node] if isinstance(node, TypeVar) else free_type_vars(holder)
        return {"kind": "type", "text": astext(Function([holder], holder, None, params))}
    if isinstance(node, Expr):
        function = Function(free_vars(node), node, None, free_type_vars(node))
        return {"kind": "expression", "text": astext(function)}
    if isinstance(node, NDArray):
        encoded = base64.b64encode(node.data).decode("ascii")
        return {"kind": "array", "shape": list(node.shape), "dtype": node.dtype, "base64": encoded}
    if isinstance(node, Span):
        place = [node.line, node.end_line, node.column, node.end_column]
        return {"kind": "span", "source": node.source_name, "place": place}
    if isinstance(node, Attrs):
        return {
            "kind": "attributes",
            "key": node._key,
            "text": astext(Function([], Tuple([]), attrs=dict(node.items()))),
        }
    if isinstance(node, (list, tuple)):
        return {"kind": "list" if isinstance(node, list) else "tuple", "items": [_save(i) for i in node]}
    if isinstance(node, Mapping) and all(isinstance(key, str) for key in node):
        return {"kind": "dict", "items": {key: _save(value) for key, value in node.items()}}
    if node is None or isinstance(node, (bool, int, float, str)):
        return {"kind": "plain", "value": node}
    raise TypeError(
        f"save_json takes modules, expressions, types, spans, attributes, arrays and plain data, not {node!r}"
    )


def _load(data: dict[str, Any]) -> Any:
    kind = data["kind"]
    if kind == "module":
        return parse(data["text"], "save_json")
    if kind in ("expression", "type"):
        function = parse_expr(data["text"], "save_json")
        if not isinstance(function, Function):
            raise ValueError(f"a {kind} is stored as a function")
        return function.body if kind == "expression" else function.params[0].type_annotation
    if kind == "array":
        content = base64.b64decode(data["base64"])
        return NDArray(tuple(data["shape"]), data["dtype"], content)
    if kind in ("list", "tuple"):
        items = [_load(item) for item in data["items"]]
        return tuple(items) if kind == "tuple" else items
    if kind == "dict":
        return {key: _load(value) for key, value in data["items"].items()}
    if kind == "span":
        return Span(data["source"], *map(int, data["place"]))
    if kind == "attributes":
        function = parse_expr(data["text"], "save_json")
        if not isinstance(function, Function):
            raise ValueError("attributes are stored as those of a function")
        return make_node(data["key"], **dict(function.attrs.items()))
    if kind == "plain":
        return data["value"]
    raise ValueError(f"there is no kind {kind!r}")


__all__ = ["load_json", "save_json"]
