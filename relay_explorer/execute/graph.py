"""Graph programs: a function of kernels, whose order and memory are planned before it runs.

Everything is decided at compile time: the order of the kernels, the offset of every tensor in one arena
(`analysis.plan_memory`), and the arguments of every kernel call. At run time, the graph executor only has to
call one kernel after the other.

A `GraphProgram` is plain data, which can be saved; a `GraphExecutor` runs it with the kernels that it
receives.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..analysis import StoragePlan
from ..analysis.liveness import Step, StepKind
from ..analysis.straight_line import Origin
from ..ir.expr import Call, Expr
from ..ir.lazy_dataclass import dataclass
from ..ir.nest import leaf_types
from ..ir.types import TensorType, TupleType, Type

Nest = Any  # for a tensor its number (in a result, paired with its shape), for a tuple a list of Nests
Shaped = tuple[int, tuple[int, ...]]  # a tensor and the shape it is used with: a reshape moves nothing


class Slot(NamedTuple):
    """A tensor: its origin ("parameter", "constant", "computed"), its type, and its offset in the arena in
    bytes (-1: it is not in the arena).
    """

    origin: str
    dtype: str
    shape: tuple[int, ...]
    offset: int


class Launch(NamedTuple):
    """Calls kernel number `kernel`, which reads tensors, then writes others."""

    kernel: int
    reads: tuple[Shaped, ...]
    writes: tuple[Shaped, ...]


class Branch(NamedTuple):
    """Jumps to the step `otherwise` where the tensor `cond` is false."""

    cond: int
    otherwise: int


class Copy(NamedTuple):
    """Copies tensors, then jumps to the step `then`: the end of a branch."""

    pairs: tuple[tuple[int, int], ...]
    then: int


Instruction = Launch | Branch | Copy


class Input(NamedTuple):
    """A parameter: its name, its tensors nested as its type is, and its type as text."""

    name: str
    nest: Nest
    type: str


@dataclass(frozen=True)
class GraphProgram:
    """A program for the graph executor. It takes `arena` bytes of memory; `result` are the tensors of its
    result.
    """

    slots: tuple[Slot, ...]
    steps: tuple[Instruction, ...]
    inputs: tuple[Input, ...]
    result: Nest
    arena: int

    @property
    def constants(self) -> list[int]:
        return [number for number, slot in enumerate(self.slots) if slot.origin == Origin.CONSTANT.value]


def graph_program(plan: StoragePlan, kernel_of: Mapping[Expr, int]) -> GraphProgram:
    """Build the graph program of a storage plan; `kernel_of` numbers the kernel of each call."""
    code = plan.code
    slots = []
    for tensor, place in zip(plan.tensors, plan.places):
        slots.append(Slot(tensor.origin.value, tensor.type.dtype, tensor.type.concrete_shape, place.offset))
    inputs = [
        Input(p.name_hint, _nest(iter(code.of(p)), p.checked_type), str(p.checked_type))
        for p in code.function.params
    ]
    body = code.function.body
    result = _nest(iter(_shaped(plan.result, body.checked_type)), body.checked_type)
    steps = _instructions(plan, kernel_of)
    return GraphProgram(tuple(slots), tuple(steps), tuple(inputs), result, plan.arena)


def _instructions(plan: StoragePlan, kernel_of: Mapping[Expr, int]) -> list[Instruction]:
    """Return the instructions for the plan's steps, except for views, which do nothing. The steps of a branch
    end in a copy, which jumps over the other branch.
    """
    numbered: list[tuple[Step, int]] = []  # steps, with the numbers of their instructions
    for step in plan.steps:
        if step.kind is not StepKind.VIEW:
            numbered.append((step, len(numbered)))
    ends = {(s.expr, s.branch): number for s, number in numbered if s.kind is StepKind.COPY}
    instructions: list[Instruction] = []
    for step, number in numbered:
        if step.kind is StepKind.BRANCH:
            instructions.append(Branch(step.reads[0], ends[step.expr, 0] + 1))
        elif step.kind is StepKind.COPY:
            then = ends[step.expr, 1] + 1 if step.branch == 0 else number + 1
            instructions.append(Copy(tuple(zip(step.reads, step.writes)), then))
        else:
            call = step.expr
            assert isinstance(call, Call)
            arguments = [type_ for arg in call.args for type_ in _leaf_types(arg.checked_type)]
            reads = tuple(zip(step.reads, [t.concrete_shape for t in arguments]))
            writes = tuple(_shaped(step.writes, call.checked_type))
            instructions.append(Launch(kernel_of[call], reads, writes))
    return instructions


def _shaped(numbers: Sequence[int], type_: Type) -> list[Shaped]:
    return [(n, t.concrete_shape) for n, t in zip(numbers, _leaf_types(type_))]


def _leaf_types(type_: Type) -> list[TensorType]:
    leaves = leaf_types(type_)
    assert leaves is not None, "a plan has tensors only"
    return leaves


def _nest(leaves: Iterator[Any], type_: Type) -> Nest:
    """Nest the leaves as the type does. Tuple types nest only a few levels."""
    if isinstance(type_, TupleType):
        return [_nest(leaves, field) for field in type_.fields]
    return next(leaves)
