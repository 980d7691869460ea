"""Run graph programs. The compiler provides the kernels and tensors; this module only calls the kernels."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

from .graph import Branch, Copy, GraphProgram, Instruction, Launch

if TYPE_CHECKING:
    from numpy import ndarray as Array

Run = Callable[..., object]  # a kernel, called with the tensors that it reads, then those that it writes
COPIED = 1 << 14  # bytes; smaller inputs are copied, larger ones are read in place if kernels can


class GraphExecutor:
    """A program ready to run: its memory, and every kernel call with its arguments.

    `kernels` are called with the results of `tensor` for arrays; `aligned(shape, dtype)` allocates an array
    that kernels accept, and `is_aligned` says whether they accept an array. `constants` are the arrays of the
    constants.
    """

    def __init__(
        self,
        program: GraphProgram,
        kernels: Sequence[Run],
        constants: Mapping[int, Array],
        *,
        aligned: Callable[[Sequence[int], str], Array],
        is_aligned: Callable[[Array], bool],
        tensor: Callable[[Array], object],
    ) -> None:
        self.program = program
        self.lock = threading.Lock()
        self._aligned, self._is_aligned, self._tensor = aligned, is_aligned, tensor
        self._arrays = [self._array(number, constants) for number in range(len(program.slots))]
        self._own = [s.origin != "parameter" for s in program.slots]  # whether this object owns the array
        self._views: dict[tuple[int, tuple[int, ...]], object] = {}
        self._uses: dict[int, list[tuple[list[object], int, tuple[int, ...]]]] = {}  # by parameter
        self.calls = [self._call(step, kernels) for step in program.steps]
        self.straight = all(isinstance(step, Launch) for step in program.steps)

    @cached_property
    def _arena(self) -> Array:
        return self._aligned((self.program.arena,), "uint8")

    def _array(self, number: int, constants: Mapping[int, Array]) -> Array | None:
        """Return the memory of a tensor; None for a parameter, whose memory is bound before the first run."""
        slot = self.program.slots[number]
        if slot.origin == "constant":
            return constants[number]
        if slot.offset < 0:
            return None
        kind = self._aligned((0,), slot.dtype).dtype
        size = prod(slot.shape) * kind.itemsize
        return self._arena[slot.offset : slot.offset + size].view(kind).reshape(slot.shape)

    def _call(self, step: Instruction, kernels: Sequence[Run]) -> tuple[Run, list[object]]:
        """Return a kernel and its arguments; parameters are filled in when they are bound."""
        if not isinstance(step, Launch):
            return _nothing, []
        arguments: list[object] = []
        for place, (number, shape) in enumerate((*step.reads, *step.writes)):
            if self._arrays[number] is None:
                arguments.append(None)
                self._uses.setdefault(number, []).append((arguments, place, shape))
            else:
                arguments.append(self._view(number, shape))
        return kernels[step.kernel], arguments

    def _view(self, number: int, shape: tuple[int, ...]) -> object:
        key = number, shape
        if key not in self._views:
            array = self._arrays[number]
            assert array is not None
            self._views[key] = self._tensor(array.reshape(shape))
        return self._views[key]

    def bind(self, number: int, array: Array) -> None:
        """Bind a parameter to its value, of the right shape and element type. A large array that kernels can
        read is not copied, and must not change while the program runs.
        """
        current = self._arrays[number]
        if array.nbytes > COPIED and self._is_aligned(array):
            if current is not None and current.ctypes.data == array.ctypes.data:
                return
            self._own[number] = False
        else:
            if current is not None and self._own[number]:
                current[...] = array
                return
            copy = self._aligned(array.shape, array.dtype.name)
            copy[...] = array
            array = copy
            self._own[number] = True
        self._arrays[number] = array
        for arguments, place, shape in self._uses.get(number, ()):
            arguments[place] = self._tensor(array.reshape(shape))

    def run(self) -> None:
        """Run the kernels. Every parameter must be bound."""
        if self.straight:
            for kernel, arguments in self.calls:
                kernel(*arguments)
            return
        at = 0
        while at < len(self.calls):
            at = self.step(at)

    def step(self, at: int) -> int:
        """Execute a step, and return the number of the next."""
        step = self.program.steps[at]
        if isinstance(step, Launch):
            kernel, arguments = self.calls[at]
            kernel(*arguments)
            return at + 1
        if isinstance(step, Branch):
            return at + 1 if self._array_of(step.cond) else step.otherwise
        self._copy(step)
        return step.then

    def _copy(self, step: Copy) -> None:
        for source, target in step.pairs:
            destination = self._array_of(target)
            destination[...] = self._array_of(source).reshape(destination.shape)

    def result(self) -> Any:
        """Copy the result of the last run out as arrays, with tuples nested as in the type. A bfloat16 tensor
        is returned as float32.
        """

        def build(nest: Any) -> Any:
            if isinstance(nest, list):
                return tuple([build(part) for part in nest])
            number, shape = nest
            array = self._array_of(number).reshape(shape)
            narrow = self.program.slots[number].dtype == "bfloat16"
            return array.astype("float32") if narrow else array.copy()

        return build(self.program.result)

    def _array_of(self, number: int) -> Array:
        """Return the values of a tensor. Parameters have been bound."""
        array = self._arrays[number]
        assert array is not None
        return array

    def written(self, step: int) -> list[Array]:
        """Run the steps up to number `step`, a kernel call of a program without branches, and return copies
        of its results, because later steps may overwrite them.
        """
        for at in range(step + 1):
            self.step(at)
        launch = self.program.steps[step]
        assert isinstance(launch, Launch)
        return [self._array_of(number).reshape(shape).copy() for number, shape in launch.writes]

    def timed(self) -> list[float]:
        """Run once, and return the seconds that each step took; 0 for a step that was skipped."""
        seconds = [0.0] * len(self.calls)
        at = 0
        while at < len(self.calls):
            start = time.perf_counter()
            after = self.step(at)
            seconds[at] += time.perf_counter() - start
            at = after
        return seconds


def _nothing(*arguments: object) -> None:
    """Do nothing: stand in for the kernel of a step that calls none."""
