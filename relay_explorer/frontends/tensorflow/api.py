"""`from_tensorflow`: import a model of TensorFlow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any as Anything

from ...ir.errors import RelayError
from ...ir.expr import Expr, Tuple
from ...ir.module import IRModule
from ...ir.ndarray import NDArray
from ...ir.size import SizeVar
from ...ir.types import Any, Dim
from ..base.context import Context, Converter
from ..base.errors import SHAPE_OPTION, ModelFileError, UnsupportedOperatorsError, check_supported
from . import ops as _ops  # noqa: F401  # declares the converters
from .dataflow import Dataflow
from .devices import check_devices
from .graph import Graph, Ref, functions_of, graph_of, ref_of
from .importer import Importer, bounded
from .reading import Model, read
from .registry import RULES
from .tensor_lists import Elements, UnsettledError
from .tensors import Shape
from .traversal import EFFECTS, INPUTS, VARIABLES, Scope, described, reachable

_LAYOUTS = ("NHWC", "NCHW")
_OPTIONS = {"use_dense": True, "use_nt_batch_matmul": True}
_ATTEMPTS = 12  # to find the shapes of the elements of tensor arrays
_ALWAYS = ("Const", "_Arg", "Enter", "RefEnter", "Exit", "RefExit", "Merge", "RefMerge", *INPUTS, *VARIABLES)
_IN_LOOPS = ("NextIteration", "RefNextIteration", "LoopCond", "Switch", "RefSwitch")


def from_tensorflow(
    graph: Anything,
    layout: str | None = "NHWC",
    shape: Mapping[str, Sequence[int | str | Dim | None]] | None = None,
    outputs: Sequence[str] | str | None = None,
    convert_config: Mapping[str, Anything] | None = None,
    *,
    convert_map: Mapping[str, Converter] | None = None,
) -> tuple[IRModule, dict[str, NDArray]]:
    """Import a model of TensorFlow 1 or 2; return the module and the weights by name.

    `graph` is a GraphDef, its bytes, the path of a frozen graph (`.pb`), the folder of a SavedModel, or a
    concrete function. TensorFlow itself is not needed.

    `shape` gives the shapes of inputs, instead of those in the graph; a text such as `"n"` names a dynamic
    axis, and None leaves it unknown (`?`). An input with a default value becomes a parameter of `@main`
    if `shape` names it, or if there is no `shape`; otherwise the importer uses the default.

    `outputs` names the results, such as `["logits", "split:1"]`. By default they are those of the
    SavedModel's signature or the concrete function, or else the graph's last node; if other nodes use
    that, all results that no node uses.

    With `layout="NCHW"`, convolutions and pooling of NHWC graphs are surrounded by transposes and computed in
    NCHW. `convert_config` has TVM's options `use_dense` and `use_nt_batch_matmul`. `convert_map` maps the
    name of an operator to a function `(node, inputs)` that returns the Relay expression of its result, or a
    tuple of them; it takes precedence.

    Loops become tail-recursive functions, conditionals become `if`, and tensor arrays and lists become those
    of the prelude. The importer drops `Assert`, and inlines the functions of the graph's library.
    """
    if layout is not None and layout not in _LAYOUTS:
        raise RelayError(
            f"the layout {layout!r} is not supported", help=[f"the layouts are {', '.join(_LAYOUTS)}"]
        )
    options = dict(_OPTIONS)
    for key, value in (convert_config or {}).items():
        if key not in options:
            raise RelayError(f"convert_config has no option {key!r}; it has {', '.join(options)}")
        options[key] = bool(value)
    model = read(graph)
    functions = functions_of(model.graph)
    main = Dataflow(graph_of(model.graph))
    refs = _requested(main.graph, model, outputs)
    main.graph.request(refs)
    shapes = _shapes(shape)
    elements = Elements()
    for _ in range(_ATTEMPTS):
        static = f"from_tensorflow(…, shape={{…}}), or {SHAPE_OPTION}"
        context = Context(model.name, "TensorFlow", convert_map, static)
        importer = Importer(context, functions, model.variables, shapes, layout or "NHWC", options, elements)
        _check(main, refs, importer)
        try:
            results = importer.results(Scope(main), refs)
        except UnsettledError:
            continue
        except RecursionError:
            raise RelayError("the graph's loops, conditionals and functions are nested too deeply") from None
        if not elements.changed:
            module = _finished(context, importer, main, model, results)
            used = {param.name_hint for param in module["main"].params}
            return module, {name: value for name, value in context.params.items() if name in used}
    raise RelayError(
        f"the element shapes of the graph's tensor arrays still change after {_ATTEMPTS} attempts to import "
        "it",
        help=["give the tensor arrays an `element_shape`"],
    )


def _finished(
    context: Context, importer: Importer, main: Dataflow, model: Model, results: Sequence[Expr]
) -> IRModule:
    order = {name: index for index, name in enumerate(main.graph.nodes)}
    if model.inputs:  # the signature has all inputs, in its order, whether they are used or not
        importer.results(Scope(main), [(name, 0) for name in model.inputs if name not in importer.named])
        order = {name: index for index, name in enumerate(model.inputs)}
    inputs = sorted(importer.inputs, key=lambda var: order.get(var.name_hint, len(order)))
    return context.main(inputs, results[0] if len(results) == 1 else Tuple(results))


def _check(main: Dataflow, refs: Sequence[Ref], importer: Importer) -> None:
    """Raise one error for all operators without a converter, and one for devices that contradict each
    other.
    """
    nodes = list(reachable(main, refs, importer.function))
    supported = {*RULES, *_ALWAYS, *_IN_LOOPS, *importer.context.convert_map}
    try:
        check_supported(
            (described(node, (current.graph.name,) if current.graph.name else ()) for current, node in nodes),
            lambda node: node.op in supported,
            "TensorFlow",
            "from_tensorflow",
        )
    except UnsupportedOperatorsError as error:  # old code looks for the beginning of TVM's message
        listed = error.message.partition(": ")[2]
        raise UnsupportedOperatorsError(
            f"The following operators are not implemented for TensorFlow: {listed}",
            error.operators,
            error.help,
        ) from None
    check_devices(node for current, node in nodes if current.graph.name)


def _requested(graph: Graph, model: Model, outputs: Sequence[str] | str | None) -> list[Ref]:
    """Return the requested results."""
    names = [outputs] if isinstance(outputs, str) else list(outputs or model.outputs)
    if names:
        refs = [ref_of(name) for name in names]
        for (name, _), text in zip(refs, names):
            if name not in graph.nodes:
                raise RelayError(f"the graph has no node `{name}`, which the output {text!r} names")
        return refs
    return _final_results(graph)


def _final_results(graph: Graph) -> list[Ref]:
    """Return the results of the last node; if others use it, those of all nodes that no node uses."""
    if not graph.nodes:
        raise ModelFileError("the graph has no nodes")
    used = {source for node in graph.nodes.values() for source, _ in node.inputs}
    last = list(graph.nodes.values())[-1]
    none = (*EFFECTS, "Const")  # a constant that nothing uses is a leftover
    final = [node for node in graph.nodes.values() if node.name not in used and node.op not in none]
    if last.op in EFFECTS and final:
        last = final[-1]
    if last.op == "Exit":
        frames = Dataflow(graph)
        frame = frames.exits[last.name][0]
        exits = {number: name for name, (of, number) in frames.exits.items() if of is frame}
        return [(exits[number], 0) for number in sorted(exits)]
    nodes = final if last.name in used else [last]
    refs: list[Ref] = []
    for node in nodes:
        count = bounded(_count_of_results(node.op, node.attrs), "the number of results")
        refs += [(node.name, number) for number in range(count)]
    return refs


def _count_of_results(op: str, attrs: Mapping[str, Anything]) -> int:
    """Return how many results a node has that is asked for all of them."""
    if op in ("Switch", "RefSwitch"):
        return 2
    for key, ops in (("num_split", ("Split", "SplitV")), ("num", ("Unpack",))):
        if op in ops:
            return int(attrs.get(key, 1))
    types = attrs.get("Tout", attrs.get("T"))
    if op in ("IdentityN", "If", "StatelessIf", "While", "StatelessWhile", "PartitionedCall") or (
        op == "StatefulPartitionedCall"
    ):
        return len(types) if isinstance(types, tuple) else 1
    return 1


def _shapes(given: Mapping[str, Sequence[int | str | Dim | None]] | None) -> dict[str, Shape] | None:
    """Return the given shapes of inputs; the same name is the same size."""
    if given is None:
        return None
    sizes: dict[str, SizeVar] = {}
    result: dict[str, Shape] = {}
    for name, extents in given.items():
        dims: list[Dim] = []
        for extent in extents:
            if isinstance(extent, str):
                dims.append(sizes.setdefault(extent, SizeVar(extent)))
            elif extent is None or (isinstance(extent, int) and extent < 0):
                dims.append(Any())
            else:
                dims.append(int(extent) if hasattr(extent, "__index__") else extent)
        result[str(name)] = tuple(dims)
    return result
