"""`graph_executor.GraphModule`: set the inputs of a program, run it, and read its outputs."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ..execute.results import ConstructorValue
from ..ir.errors import RelayError
from ..ir.ndarray import NDArray
from ..ir.types import TensorType, Type
from .arrays import DeviceArray, array
from .devices import Device, cpu
from .libraries import Library, digest
from .parameters import load_param_dict

if TYPE_CHECKING:
    from ..lower.runtime.executable import Executable
    from .build import Factory


class GraphModule:
    """Runs `@main`: set inputs, run, get outputs. The outputs are the fields of a tuple, or the single
    result. The methods can also be looked up by name: `module["run"]()`.
    """

    def __init__(self, module: Factory | Library | GraphModule, *devices: Device) -> None:
        if isinstance(module, GraphModule):  # share the state of the other one
            self.__dict__ = module.__dict__
            return
        self.factory: Factory = module.factory if isinstance(module, Library) else module
        self.device = devices[0] if devices else cpu()
        self._program = self.factory.program
        self._names = [param.name for param in self._program.inputs]
        self._types = parameter_types(self._program)
        self._inputs: dict[str, Any] = {}
        self._outputs: list[DeviceArray] = []
        self._bound: dict[int, DeviceArray] = {}  # by output: an array to which it is also copied

    @property
    def module(self) -> GraphModule:
        return self

    def __getitem__(self, name: str) -> Callable[..., Any]:
        method: Any = None if name.startswith("_") else getattr(self, name, None)
        if not callable(method):
            raise AttributeError(f"the module has no function {name!r:.60}")
        return method  # type: ignore[no-any-return]  # one of this class

    def set_input(self, key: Any = None, value: Any = None, **params: Any) -> None:
        """Set an input by its name or index, and several by name; names in `params` that are not inputs are
        ignored.
        """
        if key is not None:
            self._set(self._name(key), value)
        for name, tensor in params.items():
            if name in self._names:
                self._set(name, tensor)
            else:
                self._check_bound(name, tensor)

    def _set(self, name: str, value: Any) -> None:
        """Copy a value to an input, converted to the element type of its parameter."""
        type_ = self._types[self._names.index(name)]
        if not isinstance(type_, TensorType):
            self._inputs[name] = value
            return
        source = value if isinstance(value, DeviceArray) else array(value)
        dtype = source.dtype if type_.dtype == "bfloat16" else type_.dtype
        self._inputs[name] = array(source.numpy().astype(dtype))

    def _check_bound(self, name: str, value: Any) -> None:
        """Check that a parameter that was bound when the program was built keeps its value, because another
        one would have no effect.
        """
        bound = self.factory.bound.get(name)
        if bound is not None and digest(value) != bound:
            raise RelayError(
                f"the parameter `{name}` became part of the program when it was built, with another value",
                help=["build it without this one in `params`, and set it afterwards; or build it again"],
            )

    def set_input_zero_copy(self, key: Any = None, value: Any = None, **params: Any) -> None:
        """Set inputs like `set_input`, but without copying arrays of `tvm.nd` of the parameter's element
        type: each run reads their current contents.
        """
        self.set_input(key, value, **params)
        for name, tensor in [*params.items(), *([] if key is None else [(self._name(key), value)])]:
            stored = self._inputs.get(name)
            if (
                isinstance(tensor, DeviceArray)
                and isinstance(stored, NDArray)
                and tensor.dtype == stored.dtype
            ):
                self._inputs[name] = tensor

    def set_output_zero_copy(self, index: int, value: DeviceArray) -> None:
        """Let each run also write an output into `value`."""
        self._bound[index] = value

    def load_params(self, params_bytes: bytes | bytearray) -> None:
        """Set inputs from the bytes that `save_param_dict` wrote."""
        self.set_input(**load_param_dict(params_bytes))

    def _name(self, key: Any) -> str:
        if isinstance(key, int) and 0 <= key < len(self._names):
            return self._names[key]
        if key not in self._names:
            raise RelayError(
                f"the program has no input {key!r:.60}",
                help=[f"its inputs are {', '.join(self._names[:20]) or 'none'}"],
            )
        return str(key)

    def run(self, **input_dict: Any) -> None:
        """Run the program on the inputs."""
        self.set_input(**input_dict)
        self._outputs = list(flat(self._program(*self._values())))
        for index, target in self._bound.items():
            self.get_output(index, target)

    def _values(self) -> list[Any]:
        unset = [name for name in self._names if name not in self._inputs]
        if unset:
            self._fill_unread(unset)
            unset = [name for name in unset if name not in self._inputs]
        if unset:
            raise RelayError(
                f"the input {unset[0]!r} is not set", help=[f'set it: module.set_input("{unset[0]}", array)']
            )
        values = [self._inputs[name] for name in self._names]
        return [value.numpy() if isinstance(value, NDArray) else value for value in values]

    def _fill_unread(self, names: list[str]) -> None:
        """Set those of the inputs to zeros that the program never reads, so that they need not be given."""
        import numpy as np

        read = read_slots(self._program)
        if read is None:
            return
        for param, type_ in zip(self._program.inputs, self._types):
            slot = getattr(param, "nest", None)
            is_unread = param.name in names and isinstance(slot, int) and slot not in read
            if is_unread and isinstance(type_, TensorType) and type_.dtype != "bfloat16":
                self._inputs[param.name] = array(np.zeros(type_.concrete_shape, type_.dtype))

    def get_num_outputs(self) -> int:
        return len(self._outputs)

    def get_num_inputs(self) -> int:
        return len(self._names)

    def get_input(self, index: str | int, out: DeviceArray | None = None) -> DeviceArray:
        """Return an input that was set."""
        name = self._name(index)
        if name not in self._inputs:
            raise RelayError(f"the input {name!r} is not set", help=[f'module.set_input("{name}", array)'])
        value: DeviceArray = self._inputs[name]
        return out.copyfrom(value) if out is not None else value

    def get_input_index(self, name: str) -> int:
        """Return the index of an input; -1 where there is none of that name."""
        return self._names.index(name) if name in self._names else -1

    def get_input_info(self) -> tuple[dict[str, list[Any]], dict[str, str]]:
        """Return the shapes of the inputs that are tensors, and their element types."""
        tensors = [(n, t) for n, t in zip(self._names, self._types) if isinstance(t, TensorType)]
        return {name: list(t.shape) for name, t in tensors}, {name: t.dtype for name, t in tensors}

    def get_output(self, index: int, out: DeviceArray | None = None) -> DeviceArray:
        """Return output number `index` of the last run, which is also copied into `out`."""
        if not hasattr(index, "__index__") or not 0 <= index < len(self._outputs):
            missing = (
                "nothing has run yet" if not self._outputs else f"there are {len(self._outputs)} outputs"
            )
            raise RelayError(f"there is no output {index!r:.40}: {missing}")
        value = self._outputs[index]
        return out.copyfrom(value) if out is not None else value

    def benchmark(
        self, device: Any = None, func_name: str = "run", repeat: int = 5, number: int = 5, **options: Any
    ) -> Times:
        """Measure the program: the minimum time of `number` runs, `repeat` times. Inputs may be passed by
        name; other options are ignored.
        """
        self.set_input(**{name: value for name, value in options.items() if name in self._names})
        return self.time_evaluator(func_name, device, number, repeat)()

    def time_evaluator(
        self, func_name: str = "run", dev: Any = None, number: int = 10, repeat: int = 1, **options: Any
    ) -> Callable[[], Times]:
        """Return a function that measures the minimum time of `number` runs, `repeat` times: of the program
        alone, without passing inputs and outputs.
        """

        def measure() -> Times:
            values = self._values()
            repeats = range(max(1, repeat))
            return Times([self._program.time(*values, repeat=max(1, number)) for _ in repeats])

        return measure


def parameter_types(program: Executable) -> list[Type | None]:
    """Return the types of a compiled program's parameters, None where unknown; those of tensors are known."""
    from ..lower.runtime.executable import GraphExecutable
    from ..lower.runtime.virtual import parsed_type

    if isinstance(program, GraphExecutable):
        slots = program.program.slots
        numbers = [param.nest for param in program.inputs]
        return [TensorType(slots[n].shape, slots[n].dtype) if isinstance(n, int) else None for n in numbers]
    return [parsed_type(param.type) for param in program.inputs]


def read_slots(program: Executable) -> set[int] | None:
    """Return the indices of the tensors that a graph reads; None for other programs."""
    from ..execute.graph import Branch, Copy
    from ..lower.runtime.executable import GraphExecutable

    if not isinstance(program, GraphExecutable):
        return None
    graph = program.program
    read: set[int] = set()
    pending: list[Any] = [graph.result]
    while pending:
        nest = pending.pop()
        if nest and isinstance(nest[0], int):  # a tensor's number and its shape
            read.add(nest[0])
        else:
            pending.extend(nest)
    for step in graph.steps:
        if isinstance(step, Branch):
            read.add(step.cond)
        elif isinstance(step, Copy):
            read |= {source for source, _ in step.pairs}
        else:
            read |= {number for number, _ in step.reads}
    return read


class Times:
    """The times of repeated runs, in seconds."""

    def __init__(self, results: list[float]) -> None:
        self.results = tuple(results)
        self.mean = statistics.fmean(results)
        self.median = statistics.median(results)
        self.min, self.max = min(results), max(results)
        self.std = statistics.pstdev(results)

    def __repr__(self) -> str:
        mean, median = self.mean * 1e3, self.median * 1e3
        return f"Times(mean={mean:.4f} ms, median={median:.4f} ms, {len(self.results)} repeats)"


def create(graph_json_str: str, libmod: Any, device: Device | list[Device] | None = None) -> GraphModule:
    """Create a `GraphModule` from the parts that the result of `relay.build` was unpacked into. The graph is
    that of the library.
    """
    return GraphModule(libmod, *(device if isinstance(device, list) else [device or cpu()]))


def flat(value: Any) -> Iterator[DeviceArray]:
    """Yield the tensors of a result, including those in nested tuples."""
    pending = [value]
    while pending:
        part = pending.pop()
        if isinstance(part, tuple):
            pending.extend(reversed(part))
        elif isinstance(part, ConstructorValue) or not (isinstance(part, NDArray) or hasattr(part, "dtype")):
            raise RelayError(
                f"a graph returns tensors and tuples of them, not {part!r:.60}",
                help=["use relay.create_executor, or relay.vm, for other results"],
            )
        else:
            yield array(part)


__all__ = ["GraphModule", "Times", "create"]
