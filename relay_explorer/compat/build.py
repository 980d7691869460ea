"""`relay.build` and `graph_executor`: what old code builds runs the interpreter.

    with tvm.transform.PassContext(opt_level=3):
        lib = relay.build(mod, target="llvm", params=params)
    module = graph_executor.GraphModule(lib["default"](tvm.cpu()))
    module.set_input("data", image)
    module.run()
    module.get_output(0).numpy()

Nothing is compiled, and a warning says so once. So there is nothing to export either.
"""

from __future__ import annotations

import statistics
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..execute.executor import Executor
from ..ir.bind import bind_params_by_name
from ..ir.errors import RelayError
from ..ir.expr import Function
from ..ir.module import IRModule
from ..ir.ndarray import NDArray
from ..ir.types import TensorType
from ..text import astext
from ..transform import InferType
from .arrays import DeviceArray, array
from .devices import Device, cpu
from .parameters import load_param_dict

_said: set[str] = set()


def say_once(name: str, what: str = "does not compile: what it gives runs the interpreter") -> None:
    """Warns, the first time, that what is called `name` does something else than it did in TVM."""
    if name not in _said:
        _said.add(name)
        warnings.warn(f"{name} {what}", stacklevel=3)


def typed_module(ir_mod: IRModule | Function, params: Mapping[str, Any] | None) -> IRModule:
    """The typed module, with `params` bound to the parameters of `@main` by name. InferType runs under the
    current PassContext, so that its instruments see that something is built.
    """
    module = IRModule.from_expr(ir_mod).copy()
    if params:
        module["main"] = bind_params_by_name(module["main"], params)
    return InferType()(module)


class Factory:
    """What `relay.build` gives: `lib["default"](device)` is what runs. It can also be taken apart as old code
    did: `graph, lib, params = relay.build(…)`.
    """

    def __init__(self, module: IRModule, params: Mapping[str, Any] | None, name: str) -> None:
        self.ir_mod = module
        self.params = {key: _array(value) for key, value in (params or {}).items()}
        self.libmod_name = name

    def __getitem__(self, name: str) -> Callable[..., GraphModule]:
        if name != self.libmod_name:
            raise KeyError(f"the module was built under the name {self.libmod_name!r}, not {name!r}")
        return lambda *devices: GraphModule(self, *devices)

    def __iter__(self) -> Iterator[Any]:
        return iter((self.get_graph_json(), self, self.params))

    def get_params(self) -> dict[str, DeviceArray]:
        return self.params

    def get_graph_json(self) -> str:
        """The program, as Relay text: there is no other graph here."""
        return astext(self.ir_mod)

    get_executor_config = get_graph_json

    def get_lib(self) -> Factory:
        return self

    module = property(get_lib)

    def export_library(self, *arguments: Any, **options: Any) -> None:
        raise RelayError(
            "there is no machine code to export: programs are interpreted here",
            help=["save the program: open(path, 'w').write(mod.astext()), and relay.save_param_dict(params)"],
        )


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
    """Checks a module and gives something that runs it. `params` are bound by name; targets, executors and
    runtimes are not looked at.
    """
    say_once("relay.build")
    return Factory(typed_module(ir_mod, params), params, mod_name or "default")


class GraphModule:
    """Runs `@main`: set inputs, run, get outputs. A tuple's fields are the outputs."""

    def __init__(self, module: Factory | GraphModule, *devices: Device) -> None:
        self.factory: Factory = module.factory if isinstance(module, GraphModule) else module
        factory = self.factory
        self.device = devices[0] if devices else cpu()
        self._main = factory.ir_mod["main"]
        self._run = Executor("graph", factory.ir_mod).evaluate()
        self._inputs: dict[str, Any] = {}
        self._outputs: list[DeviceArray] = []
        self._names = [p.name_hint for p in self._main.params]

    @property
    def module(self) -> GraphModule:
        return self

    def set_input(self, key: str | int | None = None, value: Any = None, **params: Any) -> None:
        """Sets an input by its name or number, and several by name; names in `params` that are no input are
        not looked at.
        """
        if key is not None:
            self._set(self._name(key), value)
        for name, given in params.items():
            if name in self._names:
                self._set(name, given)

    def _set(self, name: str, value: Any) -> None:
        """Copies a value into an input, which has the element type of its parameter."""
        given = _array(value)
        wanted = self._main.params[self._names.index(name)].type_annotation
        if isinstance(wanted, TensorType) and wanted.dtype != given.dtype:
            given = array(given.numpy().astype(wanted.dtype))
        self._inputs[name] = given

    set_input_zero_copy = set_input

    def load_params(self, params_bytes: bytes | bytearray) -> None:
        """Sets inputs from what `save_param_dict` wrote."""
        for name, value in load_param_dict(params_bytes).items():
            self.set_input(name, value)

    def _name(self, key: str | int) -> str:
        if isinstance(key, int) and 0 <= key < len(self._names):
            return self._names[key]
        if key not in self._names:
            raise RelayError(
                f"the program has no input {key!r}",
                help=[f"its inputs are {', '.join(self._names) or 'none'}"],
            )
        return str(key)

    def run(self, **input_dict: Any) -> None:
        """Runs the program on the inputs."""
        self.set_input(**input_dict)
        unset = [name for name in self._names if name not in self._inputs]
        if unset:
            raise RelayError(
                f"the input {unset[0]!r} is not set", help=[f'set it: module.set_input("{unset[0]}", array)']
            )
        self._outputs = list(_flat(self._run(*[self._inputs[name] for name in self._names])))

    def get_num_outputs(self) -> int:
        return len(self._outputs)

    def get_num_inputs(self) -> int:
        return len(self._names)

    def get_input(self, index: str | int, out: DeviceArray | None = None) -> DeviceArray:
        """An input that was set."""
        value: DeviceArray = self._inputs[self._name(index)]
        return out.copyfrom(value) if out is not None else value

    def get_input_index(self, name: str) -> int:
        """The number of an input; -1 where there is none of that name."""
        return self._names.index(name) if name in self._names else -1

    def get_output(self, index: int, out: DeviceArray | None = None) -> DeviceArray:
        """Output number `index` of the last run, also copied into `out`."""
        if not 0 <= index < len(self._outputs):
            missing = (
                "nothing has run yet" if not self._outputs else f"there are {len(self._outputs)} outputs"
            )
            raise RelayError(f"there is no output {index}: {missing}")
        value = self._outputs[index]
        return out.copyfrom(value) if out is not None else value

    def benchmark(
        self, device: Any = None, func_name: str = "run", repeat: int = 5, number: int = 5, **options: Any
    ) -> Times:
        """How long the interpreter takes: the mean of `number` runs, `repeat` times."""
        return self.time_evaluator(func_name, device, number, repeat)()

    def time_evaluator(
        self, func_name: str = "run", dev: Any = None, number: int = 10, repeat: int = 1, **options: Any
    ) -> Callable[[], Times]:
        """A function that measures."""

        def measure() -> Times:
            results = []
            for _ in range(repeat):
                start = time.perf_counter()
                for _ in range(number):
                    self.run()
                results.append((time.perf_counter() - start) / number)
            return Times(results)

        return measure


class Times:
    """Seconds that runs took."""

    def __init__(self, results: list[float]) -> None:
        self.results = tuple(results)
        self.mean = statistics.fmean(results)
        self.median = statistics.median(results)
        self.min, self.max = min(results), max(results)
        self.std = statistics.pstdev(results)

    def __repr__(self) -> str:
        return f"Times(mean={self.mean:.6f} s, median={self.median:.6f} s, {len(self.results)} repeats)"


def create(graph_json_str: str, libmod: Factory, device: Device | list[Device] | None = None) -> GraphModule:
    """As `GraphModule`, from the parts that `relay.build` was taken apart into."""
    return GraphModule(libmod, *(device if isinstance(device, list) else [device or cpu()]))


def _array(value: Any) -> DeviceArray:
    return value if isinstance(value, DeviceArray) else array(value)


def _flat(value: Any) -> Iterator[DeviceArray]:
    """The tensors of a result, also in tuples of tuples."""
    pending = [value]
    while pending:
        part = pending.pop()
        if isinstance(part, NDArray):
            yield _array(part)
        elif isinstance(part, tuple):
            pending.extend(reversed(part))
        else:
            raise RelayError(
                f"a graph gives tensors and tuples of them, not {part!r:.60}",
                help=["use relay.create_executor, or relay.vm, for other results"],
            )


__all__ = ["GraphModule", "build", "create"]
