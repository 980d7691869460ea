"""`from_pytorch`: TorchScript programs become Relay."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any as Anything
from typing import cast

from ...ir.errors import RelayError
from ...ir.expr import Expr, Tuple
from ...ir.module import IRModule
from ...ir.ndarray import NDArray
from ..aten import find
from ..base.context import Context, Converter
from ..base.errors import SHAPE_OPTION, check_supported
from ..base.integers import with_integers
from ..base.require import require
from ..base.source import Node
from . import graph
from .archive import load
from .cells import Computed, List, Tensor
from .errors import UnsupportedError
from .inputs import input_of
from .interpreter import Frame, Interpreter, OldConverter
from .weights import Module, Weights

_IMPORTER = "from_pytorch"


def from_pytorch(
    script_module: Anything,
    input_infos: Sequence[tuple[str, Anything]],
    custom_convert_map: Mapping[str, Callable[..., Expr]] | None = None,
    default_dtype: str = "float32",
    use_parser_friendly_name: bool = False,
    keep_quantized_weight: bool = False,
    export_renamed_c_graph_path: str | None = None,
    preserve_pytorch_scopes: bool = False,
    *,
    convert_map: Mapping[str, Converter] | None = None,
    integers: bool = False,
) -> tuple[IRModule, dict[str, NDArray]]:
    """Import a TorchScript module; return a Relay module and its weights.

    Parameters
    ----------
    script_module: the result of `torch.jit.trace` or `torch.jit.script`, or the path of a file that
        `torch.jit.save` wrote. Call `.eval()` on the model first: it is imported as it is.
    input_infos: for each input of `forward`, its name with its shape, `("x", (1, 3, 224, 224))`, or with its
        shape and element type, `("ids", ((1, 128), "int64"))`. Inputs at the end that have default values may
        be left out. An extent is a number, `relay.Any()`, or a
        name that is the same size wherever it occurs. For an input that is a tuple (or list) of tensors, a
        tuple (or list) of shapes.
    custom_convert_map: converters by operator, called with the operands and their element types:
        `{"my::op": lambda inputs, input_types: …}`. They take precedence over built-in ones.
    default_dtype: the element type of inputs of which neither `input_infos` nor the traced graph tells it,
        and of tensors that are made of Python floats.
    use_parser_friendly_name: replace the dots in names of parameters by underscores.
    keep_quantized_weight: has no effect: quantized weights are parameters of integers, and the bias of a
        quantized layer is one of int32.
    export_renamed_c_graph_path: a folder to which the inlined graph is written, with the names of its nodes.
    preserve_pytorch_scopes: has no effect: spans always tell the path of a node's module.
    convert_map: converters by operator, called with the node (`frontends.base.source.Node`) and the
        expressions of its operands that are tensors.
    integers: let all operators of a quantized model that can do so compute with integers. Without it, only
        convolutions, linear layers and products do; sums, for example, are computed with real numbers, as in
        PyTorch.

    Parameters of `@main` are the inputs, in order, then the weights, named as in `state_dict`. A condition
    or a number of iterations that is known decides which code is imported; others become `if` and recursion.
    Tensors that the program changes in place become new values; changes of inputs and buffers are not kept
    from one call to the next.
    """
    require("torch", "torch")
    module = load(script_module) if isinstance(script_module, (str, os.PathLike)) else script_module
    native = getattr(module, "_c", module)
    if hasattr(module, "graph") and not hasattr(native, "_get_method"):
        return _import_function(module, input_infos, custom_convert_map, default_dtype, convert_map)
    if not hasattr(native, "_get_method"):
        raise RelayError(
            f"from_pytorch imports TorchScript modules, not {type(module).__name__}",
            help=[
                "call torch.jit.trace(model, example) or torch.jit.script(model) first",
                "or use from_exported_program(torch.export.export(model, example))",
            ],
        )
    method = native._get_method("forward")
    importer = _Importer(
        method.graph,
        native,
        input_infos,
        custom_convert_map,
        default_dtype,
        use_parser_friendly_name,
        convert_map,
    )
    mod, params = importer.run()
    if export_renamed_c_graph_path is not None:
        _write_graph(importer.inlined(), export_renamed_c_graph_path)
    return (with_integers(mod) if integers else mod), params


def _import_function(
    function: Anything,
    input_infos: Sequence[tuple[str, Anything]],
    custom: Mapping[str, OldConverter] | None,
    default_dtype: str,
    convert_map: Mapping[str, Converter] | None,
) -> tuple[IRModule, dict[str, NDArray]]:
    """Import a traced or scripted function, which has no weights of its own."""
    return _Importer(function.graph, None, input_infos, custom, default_dtype, False, convert_map).run()


class _Importer:
    """One call of `from_pytorch`."""

    def __init__(
        self,
        graph_: Anything,
        native: Anything,
        input_infos: Sequence[tuple[str, Anything]],
        custom: Mapping[str, OldConverter] | None,
        default_dtype: str,
        friendly: bool,
        convert_map: Mapping[str, Converter] | None,
    ) -> None:
        from . import list_prims  # noqa: F401  # registers the functions of lists
        from .prims import PRIMS

        self.graph = graph_
        self.native = native
        name = str(getattr(native, "qualified_name", "") or "function").rpartition(".")[2]
        shapes = f'from_pytorch(…, input_infos=[("x", (1, 3, 224, 224))]), or {SHAPE_OPTION}'
        self.context = Context(name, "PyTorch", convert_map, shapes)
        self.infos = _checked(input_infos)
        weights = Weights(self.context, friendly, [info[0] for info in self.infos])
        self.interpreter = Interpreter(self.context, weights, default_dtype, dict(custom or {}), PRIMS)
        self.prims = PRIMS
        self.custom = custom or {}
        self.default_dtype = default_dtype

    def run(self) -> tuple[IRModule, dict[str, NDArray]]:
        """Import the program."""
        values = list(self.graph.inputs())
        args: list[object] = []
        if self.native is not None:
            args.append(Module(self.native, ()))
            values = values[1:]
        defaults = self._defaults(values[len(self.infos) :])
        if len(values) != len(self.infos) + len(defaults):
            names = ", ".join(value.debugName() for value in values)
            raise RelayError(
                f"input_infos describes {len(self.infos)} inputs, but the program has {len(values)}: {names}"
            )
        params = []
        sizes: dict[str, Anything] = {}
        for (name, info), value in zip(self.infos, values):
            var, arg = input_of(self.interpreter, name, info, value, self.default_dtype, sizes)
            params.append(var)
            args.append(arg)
        args += defaults
        try:
            result = self.interpreter.call(self.graph, args, Frame((), ""))
        except UnsupportedError as error:
            self._raise_unsupported()
            raise RelayError(
                f"the importer has no converter for {error} with operands of these kinds",
                help=[f"give a converter: from_pytorch(…, convert_map={{'{error}': convert}})"],
            ) from None
        body = self.output(result)
        self.context.type(body)
        mod = self.context.main(params, body)
        used = {param.name_hint for param in mod["main"].params}
        return mod, {name: value for name, value in self.context.params.items() if name in used}

    def _defaults(self, values: Sequence[Anything]) -> list[object]:
        """Return the default values of inputs at the end that `input_infos` does not describe; an empty list
        where one has none.
        """
        if self.native is None or not values:
            return []
        arguments = {arg.name: arg for arg in self.native._get_method("forward").schema.arguments[1:]}
        last = list(arguments.values())[-len(values) :]
        if not all(argument.has_default_value() for argument in last):
            return []
        return [self.interpreter.imported(argument.default_value) for argument in last]

    def output(self, value: object) -> Expr:
        """Return a result of the program as an expression; a tuple, list or dictionary becomes a tuple."""
        run = self.interpreter
        if isinstance(value, Tensor):
            return value.read()
        if isinstance(value, List):
            if isinstance(value.state, Computed):
                return value.state.expr
            return Tuple([self.output(item) for item in value.items])
        if isinstance(value, tuple):
            return Tuple([self.output(item) for item in value])
        if isinstance(value, dict):
            return Tuple([self.output(item) for item in value.values()])
        if value is None:
            return Tuple([])
        if isinstance(value, str):
            raise RelayError(f"the program returns the string {value!r}, but Relay has no strings")
        return run.ctx.tensor(value)

    def inlined(self) -> Anything:
        """Return the graph with all calls inlined."""
        torch = require("torch", "torch")
        copy = self.graph.copy()
        torch._C._jit_pass_inline(copy)
        return copy

    def _raise_unsupported(self) -> None:
        """Raise the error that names all operators without a converter, also in code that was not reached."""
        nodes = []
        for node in graph.all_nodes(self.inlined()):
            kind, overload = graph.operator_of(node)
            operands = [value.debugName() for value in node.inputs()]
            outputs = [value.debugName() for value in node.outputs()]
            path = graph.scope_of(node)
            nodes.append(
                Node(kind, "", operands, outputs, {"overload": overload}, path, graph.location_of(node), node)
            )
        check_supported(nodes, self._is_supported, "PyTorch", _IMPORTER)

    def _is_supported(self, node: Node) -> bool:
        if node.op in self.prims or node.op in self.custom or node.op in self.context.convert_map:
            return True
        if f"{node.op}.list" in self.prims or f"{node.op}.dict" in self.prims:
            return True
        return find(node.op, cast(str, node.attrs["overload"])) is not None


def _checked(input_infos: Sequence[tuple[str, Anything]]) -> list[tuple[str, Anything]]:
    """Return the descriptions of inputs; raise a RelayError where one is not a name with a shape."""
    result: list[tuple[str, Anything]] = []
    for info in input_infos:
        if not isinstance(info, (tuple, list)) or len(info) != 2 or not isinstance(info[0], str):
            raise RelayError(
                f"input_infos has {info!r}, but an input is described by its name and its shape",
                help=['for example [("x", (1, 3, 224, 224))] or [("ids", ((1, 128), "int64"))]'],
            )
        result.append((info[0], info[1]))
    names = [name for name, _ in result]
    if len(set(names)) != len(names):
        raise RelayError(f"input_infos has the same name twice: {', '.join(names)}")
    return result


def _write_graph(inlined: Anything, folder: str) -> None:
    """Write a graph whose values are named after the nodes that compute them."""
    counts: dict[str, int] = {}
    for node in graph.all_nodes(inlined):
        number = counts.get(node.kind(), 0)
        counts[node.kind()] = number + 1
        for at, value in enumerate(node.outputs()):
            value.setDebugName(f"{node.kind()}_{number}" + (f".{at}" if node.outputsSize() > 1 else ""))
    os.makedirs(folder, exist_ok=True)
    taken = len([name for name in os.listdir(folder) if name.startswith("tvm_exported_c_graph_")])
    with open(os.path.join(folder, f"tvm_exported_c_graph_{taken}.txt"), "w", encoding="utf-8") as file:
        file.write(str(inlined))
