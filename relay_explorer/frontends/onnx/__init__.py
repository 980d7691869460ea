"""Import ONNX models.

    mod, params = relay.frontend.from_onnx("model.onnx")

`registry.py` explains how to write a converter, `graph.py` what a converter can use, and `body.py` how graphs
are read. Each of the other files has the converters of one family of operators.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any as Anything

from ...ir.errors import RelayError
from ...ir.expr import Tuple, Var
from ...ir.module import IRModule
from ...ir.ndarray import NDArray
from ...ir.show import counted
from ...ir.types import Any, Dim, TensorType, Type
from ..base.context import Context, Converter
from ..base.errors import SHAPE_OPTION, ModelFileError, check_supported
from ..base.integers import with_integers
from . import model_file
from .body import Body, Reader, all_nodes
from .expansion import function_nodes
from .graph import Graph, Importer
from .renaming import export_renamed
from .sequences import optional_type, sequence_type
from .types import checked_shape, plain, relay_type

Shape = Sequence[int | str | Dim]


class UnknownInputError(RelayError, AssertionError):
    """`shape` names an input that the model does not have. (TVM raised an AssertionError.)"""


def from_onnx(
    model: object,
    shape: Mapping[str, Shape] | None = None,
    dtype: str | Mapping[str, str] = "float32",
    opset: int | None = None,
    freeze_params: bool = True,
    convert_config: Mapping[str, Anything] | None = None,
    export_node_renamed_model_path: str | os.PathLike[str] | None = None,
    *,
    convert_map: Mapping[str, Converter] | None = None,
    integers: bool = False,
) -> tuple[IRModule, dict[str, NDArray]]:
    """Convert an ONNX model to Relay; return the module and its weights by name.

    `model` is a path, bytes or an `onnx.ModelProto`. A file is mapped into memory, so weights are not copied.
    `shape` gives the shapes of inputs by name: a dimension is an int, `relay.Any()`, or a string, which names
    a size. Without it, inputs have the model's own shapes: an axis with a name has a named size, another
    dynamic axis is `?`. The shape of a sequence is that of its elements. `dtype`, if it is a mapping, gives
    the element types of inputs. `opset` overrides the opset (the version of the operators) that the model
    declares. With `freeze_params`, weights are constants in the module and the second result is empty;
    otherwise they are parameters of `@main`, and the second result has their values. A copy of the model in
    which all nodes have names is written to the folder `export_node_renamed_model_path`. `convert_map` maps
    the name of an operator (`Gelu`, `com.example.Gelu` in a domain of its own) to a function `(node, inputs)`
    that returns the Relay expression of its result, or a tuple of them; it takes precedence. With `integers`,
    a model with pairs of QuantizeLinear and DequantizeLinear around its operators (the format QDQ) computes
    with integers between them; without, with real numbers, as ONNX defines it.

    Raise a ModelFileError for a broken file, and an UnsupportedOperatorsError that lists all operators for
    which there is no converter.
    """
    file = model_file.read(model)
    proto = file.proto
    reader = Reader(file.tensors)
    body = reader.graph(proto.graph, main=True)
    functions = {(_domain(plain(f.domain)), plain(f.name)): f for f in proto.functions}
    context = Context(file.name, "ONNX", convert_map, f"from_onnx(…, shape={{…}}), or {SHAPE_OPTION}")
    importer = Importer(
        context, _opsets(proto, opset), functions, reader, freeze_params, dict(convert_config or {})
    )
    check_supported(function_nodes(importer, all_nodes(body)), importer.supports, "ONNX", "from_onnx")
    types = _input_types(body, importer, shape or {}, dtype)
    inputs = [context.variable(name, type_) for name, type_ in zip(body.inputs, types)]
    graph = Graph(importer, body)
    graph.values.update(zip(body.inputs, inputs))
    outputs = graph.run()
    result = outputs[0] if len(outputs) == 1 else Tuple(outputs)
    ret_type = context.type(result)
    declared = ret_type if isinstance(ret_type, TensorType) and ret_type.is_static else None
    if export_node_renamed_model_path is not None:
        export_renamed(model, export_node_renamed_model_path)
    module = context.main(inputs, result, declared)
    return (with_integers(module) if integers else module), context.params


def _domain(name: str) -> str:
    return "" if name == "ai.onnx" else name


def _opsets(proto: Anything, opset: int | None) -> dict[str, int]:
    """Return the opset of each domain; raise a ModelFileError for one that `onnx` does not define."""
    from ..base.require import require

    opsets = {_domain(plain(entry.domain)): int(entry.version) for entry in proto.opset_import}
    if opset is not None:
        opsets[""] = opset
    newest = int(require("onnx", "onnx").defs.onnx_opset_version())
    version = opsets.setdefault("", 1)
    if version > newest:
        raise ModelFileError(
            f"the model uses opset {version}, but the installed onnx package defines opsets up to {newest}",
            help=[
                "upgrade the package: pip install --upgrade onnx",
                f"or import the model as opset {newest}: from_onnx(model, opset={newest})",
            ],
        )
    if version < 1:
        raise ModelFileError(f"the model declares opset {version}, but opsets are numbered from 1")
    return opsets


def _input_types(
    body: Body, importer: Importer, shapes: Mapping[str, Shape], dtypes: str | Mapping[str, str]
) -> list[Type]:
    """Return the Relay types of the model's inputs."""
    unknown = [name for name in shapes if name not in body.inputs and name not in body.weights]
    if unknown:
        raise UnknownInputError(
            f"`shape` names {', '.join(map(repr, unknown[:5]))}, which the model does not have as an input",
            help=[f"its inputs are {', '.join(body.inputs)}"],
        )
    types: list[Type] = []
    for name, proto in zip(body.inputs, body.input_types):
        try:
            types.append(_input_type(name, proto, importer, shapes.get(name), dtypes))
        except RelayError as error:
            raise ModelFileError(f"the input %{name}: {error.message}", help=error.help) from error
    return types


def _input_type(
    name: str, proto: Anything, importer: Importer, shape: Shape | None, dtypes: str | Mapping[str, str]
) -> Type:
    if proto is None:
        raise ModelFileError("the model does not declare its type")
    kind = proto.WhichOneof("value")
    requested = dtypes.get(name) if isinstance(dtypes, Mapping) else None
    if kind in ("sequence_type", "optional_type") and shape is not None:
        inner = _input_type(name, getattr(proto, kind).elem_type, importer, shape, dtypes)
        return (sequence_type if kind == "sequence_type" else optional_type)(importer.context, inner)
    if kind != "tensor_type" or (shape is None and requested is None):
        return relay_type(proto, importer)
    if shape is None:
        type_ = relay_type(proto, importer)
        assert isinstance(type_, TensorType)
        return TensorType(type_.shape, requested or type_.dtype)
    dims = checked_shape([_dimension(dim, importer) for dim in shape])
    declared = proto.tensor_type.shape.dim if proto.tensor_type.HasField("shape") else None
    if declared and len(declared) != len(dims):
        raise RelayError(
            f"`shape` gives {counted(len(dims), 'dimension')}, but the model declares {len(declared)}"
        )
    from .types import dtype_of

    return TensorType(dims, requested or dtype_of(proto.tensor_type.elem_type))


def _dimension(dim: object, importer: Importer) -> Dim:
    """Return a dimension that the user gives."""
    if isinstance(dim, str):
        return Any() if dim == "?" else importer.size(dim)
    if isinstance(dim, int):
        return dim
    if hasattr(dim, "__index__"):  # NumPy's integers
        return int(dim.__index__())
    return dim  # type: ignore[return-value]  # `?` or a named size; TensorType checks it
