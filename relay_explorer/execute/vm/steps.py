"""Decode instructions to Python functions of the registers. The machine itself interprets those that transfer
control.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...ir.errors import RelayError
from ...ir.ndarray import NDArray
from ..values import ConstructorValue, RefValue
from .bytecode import (
    AllocADT,
    AllocClosure,
    AllocStorage,
    AllocTensor,
    AllocTensorReg,
    AllocTuple,
    GetField,
    Instruction,
    InvokeHost,
    InvokePacked,
    LoadConst,
    LoadConsti,
    Move,
    NewRef,
    ReadRef,
    ReshapeTensor,
    ShapeFunc,
    WriteRef,
)

if TYPE_CHECKING:
    from .machine import Machine

Registers = list[Any]
Step = Callable[[Registers], object]


def step_of(instruction: Instruction, machine: Machine) -> Step:
    """Return the function that executes an instruction."""
    make = _MAKERS.get(type(instruction))
    if make is None:
        raise RelayError(f"the machine has no instruction `{instruction.mnemonic}`")
    return make(instruction, machine)


def _move(it: Move, machine: Machine) -> Step:
    to, source = it.to, it.source

    def step(registers: Registers) -> None:
        registers[to] = registers[source]

    return step


def _load_const(it: LoadConst, machine: Machine) -> Step:
    to, array = it.to, machine.constant(it.constant)

    def step(registers: Registers) -> None:
        registers[to] = array

    return step


def _load_consti(it: LoadConsti, machine: Machine) -> Step:
    to = it.to
    array = machine.memory.own(
        NDArray.scalar(bool(it.value) if it.dtype == "bool" else it.value, it.dtype).numpy()
    )

    def step(registers: Registers) -> None:
        registers[to] = array

    return step


def _alloc_storage(it: AllocStorage, machine: Machine) -> Step:
    to, storage = it.to, machine.memory.storages(it.size)

    def step(registers: Registers) -> None:
        registers[to] = storage()

    return step


def _alloc_tensor(it: AllocTensor, machine: Machine) -> Step:
    to, storage, tensor = it.to, it.storage, machine.memory.tensors(it.shape, numpy_name(it.dtype))

    def step(registers: Registers) -> None:
        registers[to] = tensor(registers[storage])

    return step


def _alloc_tensor_reg(it: AllocTensorReg, machine: Machine) -> Step:
    to, shape = it.to, it.shape
    import numpy as np

    dtype = np.dtype(numpy_name(it.dtype))
    tensor = machine.memory.tensor

    def step(registers: Registers) -> None:
        registers[to] = tensor(registers[shape], dtype)

    return step


def _reshape_tensor(it: ReshapeTensor, machine: Machine) -> Step:
    to, source, shape = it.to, it.source, it.shape

    def step(registers: Registers) -> None:
        registers[to] = registers[source].reshape(shape)

    return step


def _shape_func(it: ShapeFunc, machine: Machine) -> Step:
    to, arguments, shapes = it.to, it.arguments, machine.kernel(it.kernel).shapes

    def step(registers: Registers) -> None:
        for register, shape in zip(to, shapes([registers[a] for a in arguments])):
            registers[register] = shape

    return step


def _invoke_packed(it: InvokePacked, machine: Machine) -> Step:
    tensors, run = (*it.arguments, *it.results), machine.kernel(it.kernel).run

    def step(registers: Registers) -> None:
        run(*[registers[tensor] for tensor in tensors])

    return step


def _invoke_host(it: InvokeHost, machine: Machine) -> Step:
    to, arguments, compute = it.to, it.arguments, machine.kernel(it.kernel).compute

    def step(registers: Registers) -> None:
        for register, value in zip(to, compute([registers[a] for a in arguments])):
            registers[register] = value

    return step


def _alloc_tuple(it: AllocTuple, machine: Machine) -> Step:
    to, parts = it.to, it.parts

    def step(registers: Registers) -> None:
        registers[to] = tuple([registers[part] for part in parts])

    return step


def _alloc_adt(it: AllocADT, machine: Machine) -> Step:
    to, parts, constructor = it.to, it.parts, machine.constructors[it.type, it.constructor]

    def step(registers: Registers) -> None:
        registers[to] = ConstructorValue(constructor, [registers[part] for part in parts])

    return step


def _alloc_closure(it: AllocClosure, machine: Machine) -> Step:
    to, name, captured, make = it.to, it.function, it.captured, machine.closure

    def step(registers: Registers) -> None:
        registers[to] = make(name, [registers[part] for part in captured])

    return step


def _get_field(it: GetField, machine: Machine) -> Step:
    to, source, index = it.to, it.source, it.index

    def step(registers: Registers) -> None:
        value = registers[source]
        registers[to] = value[index] if type(value) is tuple else value.fields[index]

    return step


def _new_ref(it: NewRef, machine: Machine) -> Step:
    to, value = it.to, it.value

    def step(registers: Registers) -> None:
        registers[to] = RefValue(registers[value])

    return step


def _read_ref(it: ReadRef, machine: Machine) -> Step:
    to, ref = it.to, it.ref

    def step(registers: Registers) -> None:
        registers[to] = registers[ref].value

    return step


def _write_ref(it: WriteRef, machine: Machine) -> Step:
    ref, value = it.ref, it.value

    def step(registers: Registers) -> None:
        registers[ref].value = registers[value]

    return step


def numpy_name(dtype: str) -> str:
    """Return the NumPy type in which tensors of an element type are computed."""
    return "float32" if dtype == "bfloat16" else dtype


_MAKERS: dict[type[Instruction], Callable[[Any, Machine], Step]] = {
    Move: _move,
    LoadConst: _load_const,
    LoadConsti: _load_consti,
    AllocStorage: _alloc_storage,
    AllocTensor: _alloc_tensor,
    AllocTensorReg: _alloc_tensor_reg,
    ReshapeTensor: _reshape_tensor,
    ShapeFunc: _shape_func,
    InvokePacked: _invoke_packed,
    InvokeHost: _invoke_host,
    AllocTuple: _alloc_tuple,
    AllocADT: _alloc_adt,
    AllocClosure: _alloc_closure,
    GetField: _get_field,
    NewRef: _new_ref,
    ReadRef: _read_ref,
    WriteRef: _write_ref,
}
