"""`from_exported_program`: import a `torch.export.ExportedProgram` or a `.pt2` file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any as Anything

from ...ir.errors import RelayError
from ...ir.expr import Expr
from ...ir.module import IRModule
from ...ir.ndarray import NDArray
from ..aten import Value
from ..base.context import Converter
from ..base.integers import with_integers
from ..base.require import require
from .importer import Importer
from .preparation import prepared

_NAME = "from_exported_program"


def from_exported_program(
    program: Anything,
    *,
    freeze_params: bool = False,
    convert_map: Mapping[str, Converter] | None = None,
    integers: bool = False,
) -> tuple[IRModule, dict[str, NDArray]]:
    """Convert an exported PyTorch program to a module, and return it with its weights by name.

        program = torch.export.export(model.eval(), args)
        mod, params = relay.frontend.from_exported_program(program)

    `program` is a `torch.export.ExportedProgram` or the path of a file that `torch.export.save` wrote. A file
    is read as data: nothing in it is executed, and pickles in it are refused.

    The parameters of `@main` are the inputs, flattened in PyTorch's order and named after the arguments of
    `forward` (`x`, and `d_k` for the entry "k" of a dictionary `d`), then the weights that are used, under
    their names in the state dictionary; `params` maps those to their values, which share the memory of
    PyTorch's. With `freeze_params`, weights become constants of the program, and `params` is empty. Tied
    weights become one weight.

    The result is a tuple of the outputs, flattened in PyTorch's order, or the output itself if there is only
    one. If the program changes buffers or inputs (a cache, a counter), their new values follow as further
    results, in the order of `program.graph_signature`. Outputs that are None are left out.

    A dynamic axis becomes a named size (`s77`, the name that PyTorch prints), and arithmetic with sizes
    keeps it. `torch.cond` becomes `if`; `while_loop`, `scan` and `map` become recursive functions.

    `convert_map` maps the name of an operator (`aten::add`, or with an overload `aten::add.Tensor` or
    `aten.add.Tensor`, as PyTorch prints it) to a function `(node, inputs)` that returns the Relay expression
    of its result, or a sequence of them for several results; it takes precedence.

    A program that was quantized (PT2E) has pairs of `qnn.quantize` and `qnn.dequantize` around its operators;
    with `integers`, these compute with integers instead. Biases, which are real numbers in such a program,
    become integers only with `freeze_params`. Weights that torchao's `quantize_` has quantized stay integers;
    those of 4 bits or fewer are packed into bytes (`nn.contrib_dense_nbits`).

    Raise an UnsupportedOperatorsError that names all operators without a converter, and a ModelFileError for
    a file that cannot be read.
    """
    require("torch", "torch")
    import torch

    name = "program"
    if isinstance(program, (str, os.PathLike)):
        from .archive import load

        name = Path(program).name
        program = load(program)
    if isinstance(program, torch.nn.Module):
        raise RelayError(
            f"{_NAME} takes an exported program, not a module",
            help=["export it first: torch.export.export(model.eval(), args)"],
        )
    if not isinstance(program, torch.export.ExportedProgram):
        raise RelayError(
            f"{_NAME} takes a torch.export.ExportedProgram or the path of a .pt2 file, not a "
            f"{type(program).__name__}"
        )
    importer = Importer(name, freeze_params, convert_map, "export the program again without dynamic_shapes")
    program = prepared(program, importer)
    importer.check(program.graph_module, _NAME)
    module, params = _converted(importer, program)
    return (with_integers(module) if integers else module), params


def _converted(importer: Importer, program: Anything) -> tuple[IRModule, dict[str, NDArray]]:
    signature = program.graph_signature
    placeholders = [node for node in program.graph.nodes if node.op == "placeholder"]
    # Inputs come first, so that their symbolic sizes are known, and in the order of the program's arguments.
    inputs = {
        node.name: _input(importer, node, spec)
        for node, spec in zip(placeholders, signature.input_specs)
        if spec.kind.name == "USER_INPUT"
    }
    args = [
        inputs[node.name] if node.name in inputs else _stored(importer, program, node, spec)
        for node, spec in zip(placeholders, signature.input_specs)
    ]
    outputs = importer.run(program.graph_module, args)
    user: list[Expr] = []
    changed: list[Expr] = []
    for value, spec in zip(outputs, signature.output_specs, strict=True):
        kind = spec.kind.name
        if kind in ("USER_OUTPUT", "LOSS_OUTPUT"):
            user += _tensors(importer, value)
        elif kind in ("BUFFER_MUTATION", "USER_INPUT_MUTATION", "PARAMETER_MUTATION"):
            changed += _tensors(importer, value)
        else:
            raise RelayError(f"an output of the kind {kind} cannot be imported")
    return importer.main([*user, *changed], single=True)


def _tensors(importer: Importer, value: Value) -> Iterator[Expr]:
    """Return an output as tensors: none for None."""
    if value is not None:
        yield importer.aten.tensor(value)


def _input(importer: Importer, node: Anything, spec: Anything) -> Value:
    described = node.meta.get("val")
    if hasattr(described, "dtype") and hasattr(described, "shape"):
        return importer.tensor_input(node.name, described)
    if described is None or isinstance(described, (bool, int, float, str)):
        return getattr(spec.arg, "value", described)  # a constant, which PyTorch has specialized on
    if type(described).__name__ in ("SymInt", "SymFloat", "SymBool"):
        return importer.number_input(node.name, described)
    raise RelayError(f"the input `{node.name}` is a {type(described).__name__}, which Relay does not have")


def _stored(importer: Importer, program: Anything, node: Anything, spec: Anything) -> Value:
    """Return a parameter, a buffer or a constant; None if nothing uses it."""
    if spec.kind.name not in ("PARAMETER", "BUFFER", "CONSTANT_TENSOR"):
        raise RelayError(
            f"the program uses `{spec.target}`, an object of the kind {spec.kind.name}, which Relay does not "
            "have"
        )
    if not node.users:
        return None
    for tensors in (program.state_dict, program.constants):
        if spec.target in tensors:
            tensor = tensors[spec.target]
            if spec.kind.name == "CONSTANT_TENSOR":
                return importer.constant(tensor)
            return importer.weight(spec.target, tensor)
    raise RelayError(f"the program has no value for `{spec.target}`: it was saved without its weights")
