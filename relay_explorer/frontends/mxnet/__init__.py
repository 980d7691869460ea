"""Import MXNet models from their saved files, without MXNet.

    mod, params = relay.frontend.from_mxnet("net-symbol.json", {"data": (1, 3, 224, 224)},
                                            arg_params="net-0000.params")

`symbol.py` reads the graph and `ndarray_file.py` the weights. `registry.py` explains how to write a
converter. Each of the other files has the converters of one family of operators.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any as Anything
from typing import cast

from ...ir.errors import RelayError
from ...ir.expr import Tuple, Var
from ...ir.module import IRModule
from ...ir.ndarray import NDArray
from ...ir.types import Dim
from ...ir.walk import free_vars
from ..base.context import Context, Converter
from ..base.errors import SHAPE_OPTION, check_supported
from ..base.source import Node
from . import (  # each registers its converters
    attention as _attention,
)
from . import (
    control as _control,
)
from . import (
    creation as _creation,
)
from . import (
    elementwise as _elementwise,
)
from . import (
    images as _images,
)
from . import (
    indexing as _indexing,
)
from . import (
    layers as _layers,
)
from . import (
    ndarray_file,
)
from . import (
    recurrent as _recurrent,
)
from . import (
    reductions as _reductions,
)
from . import (
    symbol as symbols,
)
from . import (
    tensors as _tensors,
)
from . import (
    vision as _vision,
)
from .importer import Importer
from .registry import CONVERTERS
from .symbol import VARIABLE

Params = Mapping[str, Anything] | str | os.PathLike[str] | None


def from_mxnet(
    symbol: object,
    shape: Mapping[str, Sequence[Dim]] | None = None,
    dtype: str | Mapping[str, str] = "float32",
    arg_params: Params = None,
    aux_params: Params = None,
    *,
    convert_map: Mapping[str, Converter] | None = None,
) -> tuple[IRModule, dict[str, NDArray]]:
    """Convert an MXNet model to Relay; return the module and its weights by name.

    `symbol` is the path of a `-symbol.json` file, its text, an MXNet `Symbol`, or a Gluon `HybridBlock`,
    which brings its own weights. `arg_params` is the path of a `.params` file, or a mapping from names to
    arrays; `aux_params` is the same for the statistics of BatchNorm, which a `.params` file contains as well.
    `shape` gives the shapes of the inputs by name, where `relay.Any()` marks a dynamic dimension, and `dtype`
    the element type of all inputs, or of each by name. The importer infers the shapes of weights without
    values from those of the inputs. `convert_map` maps the name of an operator (`Convolution`) to a function
    `(node, inputs)` that returns the Relay expression of its result, or a tuple of them; it takes precedence.

    Raise a ModelFileError for a broken file, and an UnsupportedOperatorsError that lists all operators for
    which there is no converter.
    """
    if hasattr(symbol, "hybridize") and hasattr(symbol, "collect_params"):
        if arg_params is not None or aux_params is not None:
            raise RelayError("a HybridBlock has its own weights: leave arg_params and aux_params out")
        arg_params = {name: value.data() for name, value in cast(Anything, symbol).collect_params().items()}
        symbol = _traced(symbol, list(shape or {"data": ()}))
    graph, name = symbols.read(symbol)
    static = f"from_mxnet(…, shape={{…}}), or {SHAPE_OPTION}"
    context = Context(name, "MXNet", convert_map, static)
    check_supported(
        (Node(node.op, node.name, (), (node.name,)) for node in graph.every_node() if node.op != VARIABLE),
        lambda node: node.op in CONVERTERS or node.op in context.convert_map,
        "MXNet",
        "from_mxnet",
    )
    values = _values(arg_params) | _values(aux_params)
    shapes = dict(shape or {})
    names = {node.name for node in graph.variables}
    unknown = [key for key in shapes if key not in names]
    if unknown:
        raise RelayError(
            f"`shape` names {', '.join(map(repr, unknown[:5]))}, which the model does not have as an input",
            help=[f"its inputs are {', '.join(sorted(names - set(values)))}"],
        )
    for key in shapes:  # an input may have a value, such as that of an initial state, among the weights
        values.pop(key, None)
    importer = Importer(context, values, shapes, dtype)
    outputs = importer.graph(graph)
    body = outputs[0] if len(outputs) == 1 else Tuple(outputs)
    used = {*free_vars(body), *importer.kept}
    return context.main(_inputs(used, importer.inputs, list(shapes)), body), context.params


def _inputs(used: set[Var], inputs: list[Var], order: list[str]) -> list[Var]:
    """Return the parameters of the module that are not weights: the inputs that the result depends on, those
    that the caller names first.
    """
    chosen = [var for var in inputs if var in used]
    return sorted(
        chosen, key=lambda var: order.index(var.name_hint) if var.name_hint in order else len(order)
    )


def _values(params: Params) -> dict[str, NDArray]:
    """Return weights by name, without the `arg:` and `aux:` that files write before it."""
    if params is None:
        return {}
    if isinstance(params, (str, os.PathLike)):
        arrays: Mapping[str, Anything] = ndarray_file.read(params)
    else:
        arrays = params
    return {_bare(name): _array(name, value) for name, value in arrays.items()}


def _bare(name: str) -> str:
    return name.removeprefix("arg:").removeprefix("aux:")


def _array(name: str, value: Anything) -> NDArray:
    if isinstance(value, NDArray):
        return value
    import numpy

    if hasattr(value, "asnumpy"):  # MXNet's arrays
        value = value.asnumpy()
    array = numpy.asarray(value)
    if array.dtype.kind not in "biuf":
        raise RelayError(f"the weight {name!r} is not an array of numbers but {type(value).__name__}")
    return NDArray.from_numpy(array)


def _traced(block: object, names: list[str]) -> object:
    """Return the Symbol of a HybridBlock, by calling it with variables."""
    mxnet = sys.modules.get("mxnet")
    if mxnet is None:
        raise RelayError(
            "a HybridBlock can only be imported where MXNet is loaded",
            help=['export it, block.export("net"), and pass "net-symbol.json" and "net-0000.params"'],
        )
    outputs = cast(Anything, block)(*[mxnet.sym.var(name) for name in names])
    return mxnet.sym.Group(list(outputs)) if isinstance(outputs, (list, tuple)) else outputs
