"""`tvm.driver.tvmc`: load a model's file, compile it and run it, from Python.

model = tvmc.load("resnet.onnx", shape_dict={"data": [1, 3, 224, 224]})
package = tvmc.compile(model, target="llvm")
result = tvmc.run(package, device="cpu")
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from ..frontends.files import open_model
from ..ir.errors import RelayError
from ..ir.module import IRModule
from ..ir.types import TensorType
from ..transform import PassContext
from .build import Factory, build
from .graph_module import GraphModule
from .libraries import load_module
from .tuning_tasks import say_untuned, tasks_of, touch


class TVMCModel:
    """A model that was loaded: the module, and its weights by name."""

    def __init__(self, mod: IRModule, params: Mapping[str, Any]) -> None:
        self.mod = mod
        self.params = dict(params)

    def summary(self, file: Any = None) -> None:
        """Print the program as text."""
        print(self.mod.astext(show_meta_data=False), file=file)


class TVMCPackage:
    """A compiled model, or its file. The file contains machine code: load only files that you trust."""

    def __init__(
        self, package_path: str | os.PathLike[str] | None = None, library: Factory | None = None
    ) -> None:
        if library is None:
            if package_path is None:
                raise RelayError("a package is a file that tvmc.compile wrote: give its path")
            library = load_module(package_path)
        self.package_path = package_path
        self.library = library


class TVMCResult:
    """What a run computed: `outputs` by name (`output_0`), and `times` where they were measured."""

    def __init__(self, outputs: Mapping[str, Any], times: Any) -> None:
        self.outputs = dict(outputs)
        self.times = times

    def get_output(self, name: str) -> Any:
        return self.outputs[name]

    def save(self, output_path: str) -> None:
        """Write the outputs to an `.npz` file."""
        import numpy

        numpy.savez(output_path, **self.outputs)

    def format_times(self) -> str:
        return str(self.times)

    def __str__(self) -> str:
        lines = [f"Output Names: {list(self.outputs)}"]
        return "\n".join([*([str(self.times)] if self.times is not None else []), *lines])


def load(
    path: str | os.PathLike[str],
    model_format: str | None = None,
    shape_dict: Mapping[str, Sequence[int]] | None = None,
    **options: Any,
) -> TVMCModel:
    """Import the model in a file. Its format is recognized by its contents."""
    opened = open_model(path, {name: list(shape) for name, shape in (shape_dict or {}).items()} or None)
    return TVMCModel(opened.mod, opened.params)


def tune(
    tvmc_model: TVMCModel, target: Any = "llvm", tuning_records: str | None = None, **options: Any
) -> str | None:
    """Warn that nothing is tuned; if a log is named, create an empty one and return its path."""
    say_untuned("tvmc.tune")
    if tuning_records is not None:
        touch(tuning_records)
    return tuning_records


def get_tuning_tasks(
    mod: IRModule, params: Mapping[str, Any], target: Any = "llvm", **options: Any
) -> list[Any]:
    """Return the tasks of a program; see `autotvm.task.extract_from_program`."""
    return list(tasks_of([mod], [params], target, None)[0])


def compile(  # TVM's name
    tvmc_model: TVMCModel,
    target: Any = "llvm",
    opt_level: int = 3,
    package_path: str | os.PathLike[str] | None = None,
    **options: Any,
) -> TVMCPackage:
    """Compile a model, and write it to a file if `package_path` is given. Options on how to package the
    result have no effect.
    """
    with PassContext(opt_level=opt_level):
        library = build(tvmc_model.mod, target, params=tvmc_model.params)
    if package_path is not None:
        library.export_library(package_path)
    return TVMCPackage(package_path, library)


def run(
    tvmc_package: TVMCPackage,
    device: str = "cpu",
    inputs: Mapping[str, Any] | None = None,
    fill_mode: str = "random",
    benchmark: bool = False,
    repeat: int = 10,
    number: int = 10,
    **options: Any,
) -> TVMCResult:
    """Run a package on inputs by name; inputs that are not given are filled: "random", "zeros" or "ones"."""
    module = GraphModule(tvmc_package.library)
    module.set_input(**_inputs(tvmc_package.library, inputs or {}, fill_mode))
    times = module.benchmark(repeat=repeat, number=number) if benchmark else None
    module.run()
    outputs = {
        f"output_{index}": module.get_output(index).numpy() for index in range(module.get_num_outputs())
    }
    return TVMCResult(outputs, times)


def _inputs(library: Factory, given: Mapping[str, Any], fill_mode: str) -> dict[str, Any]:
    import numpy

    fills: dict[str, Any] = {
        "random": numpy.random.default_rng(0).random, "zeros": numpy.zeros, "ones": numpy.ones,
    }  # fmt: skip
    if fill_mode not in fills:
        raise RelayError(f"inputs are filled with {', '.join(fills)}, not {fill_mode!r}")
    values = dict(given)
    if library.ir_mod is not None:
        for var in library.ir_mod["main"].params:
            type_ = var.type_annotation
            if var.name_hint not in values and isinstance(type_, TensorType):
                values[var.name_hint] = fills[fill_mode](type_.concrete_shape).astype(type_.dtype)
    return values


__all__ = [
    "TVMCModel", "TVMCPackage", "TVMCResult", "compile", "get_tuning_tasks", "load", "run", "tune",
]  # fmt: skip
