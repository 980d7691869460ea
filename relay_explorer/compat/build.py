"""`relay.build`: compile old code's programs with this package, and run them through the old interface.

    with tvm.transform.PassContext(opt_level=3):
        lib = relay.build(mod, target="llvm", params=params)
    module = graph_executor.GraphModule(lib["default"](tvm.cpu()))
    module.set_input("data", image)
    module.run()
    module.get_output(0).numpy()
    lib.export_library("model.so")  # tvm.runtime.load_module("model.so")["default"](tvm.cpu())

Programs with control flow and data types are built too; the virtual machine runs them. TVM generates the
code. Where it is not installed, the interpreter runs all programs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..ir.errors import RelayError
from ..ir.expr import Function
from ..ir.module import IRModule
from .arrays import DeviceArray, array
from .compiling import built, check_given
from .graph_json import graph_json
from .graph_module import GraphModule, create
from .libraries import Library, digests, save

if TYPE_CHECKING:
    from ..lower.runtime.executable import Executable


class Factory:
    """The result of `relay.build`: `lib["default"](device)` is the module that runs. It can also be unpacked
    as in old code: `graph, lib, params = relay.build(…)`.

    `program` is the compiled program, and `bound` has a digest of the value of each parameter that is part of
    it.
    """

    def __init__(
        self, program: Executable, params: Mapping[str, Any], name: str, bound: Mapping[str, str]
    ) -> None:
        self.program = program
        self.params = {key: _array(value) for key, value in params.items()}
        self.libmod_name = name
        self.bound = dict(bound)

    @property
    def ir_mod(self) -> IRModule | None:
        """The optimized program; None where it was loaded."""
        return self.program.mod

    @property
    def target(self) -> Any:
        return self.program.target

    def __getitem__(self, name: str) -> Callable[..., GraphModule]:
        if name == "debug_create":  # old code calls this for a debug executor, with the name, then devices
            return lambda name="", *devices: self[name or self.libmod_name](*devices)
        if name != self.libmod_name:
            raise KeyError(f"the module was built under the name {self.libmod_name!r}, not {name!r}")
        return lambda *devices: GraphModule(self, *devices)

    def __iter__(self) -> Iterator[Any]:
        return iter((self.get_graph_json(), self, self.params))

    def get_params(self) -> dict[str, DeviceArray]:
        """Return the parameters that the program was built with. They are part of the program already."""
        return self.params

    def get_graph_json(self) -> str:
        """Return the program in the JSON format of TVM's graph executor; a program with control flow, as
        Relay text.
        """
        return graph_json(self.program)

    get_executor_config = get_graph_json
    graph_json = property(get_graph_json)

    def get_lib(self) -> Library:
        """Return the kernels as a library: `get_lib().get_source("asm")`."""
        return Library(self)

    lib = module = property(get_lib)

    @property
    def imported_modules(self) -> list[Library]:
        return self.get_lib().imported_modules

    def get_source(self, fmt: str = "") -> str:
        return self.get_lib().get_source(fmt)

    def export_library(self, file_name: object, *arguments: Any, **options: Any) -> None:
        """Write the program, with its parameters, to one file, which `tvm.runtime.load_module` reads here.
        Whatever its extension, the file has this package's format; for a library that C code can call, use
        `relay_explorer.build(mod, executor="aot").save("libmodel.so")`. Arguments on how to compile it
        (`fcompile`, `addons`, `cc`) are ignored.
        """
        save(self.program, str(file_name), self.libmod_name, self.bound)


def build(
    ir_mod: IRModule | Function,
    target: Any = None,
    target_host: Any = None,
    executor: Any = None,
    runtime: Any = None,
    workspace_memory_pools: Any = None,
    constant_memory_pools: Any = None,
    params: Mapping[str, Any] | None = None,
    mod_name: str = "default",
) -> Factory:
    """Compile a module, with the optimization level and the options of the current PassContext. `params` are
    bound by name; of the other arguments only `target` is used (see `compiling.chosen_target`).
    """
    check_given(ir_mod, params)
    module = IRModule.from_expr(ir_mod)
    names = {p.name_hint for p in module["main"].params} if "main" in module else set()
    constants = {name: value for name, value in (params or {}).items() if name in names}
    program = built("relay.build", module, target, constants)
    return Factory(program, params or {}, mod_name or "default", digests(constants))


def _array(value: Any) -> DeviceArray:
    if isinstance(value, DeviceArray):
        return value
    try:
        return array(value)
    except (TypeError, ValueError) as problem:
        raise RelayError(f"a value of `params` is not a tensor: {problem}") from None


__all__ = ["GraphModule", "build", "create"]
