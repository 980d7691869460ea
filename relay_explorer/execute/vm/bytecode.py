"""The virtual machine's bytecode: a program whose functions are lists of instructions over registers.

The machine is a register machine in the manner of Relay's own virtual machine (Nimble, arXiv 2006.03031):
every activation of a function has registers of its own, which hold values of any kind: tensors, tuples,
constructed values, closures, cells. Parameters are passed in the first registers, the values that a closure
captured in those after them. All jumps go forward: a loop is a tail call, which replaces the caller.

    r    a register     k   a kernel of the program     c   a constant of the program     @f  a function

The registers that an instruction writes come first. See `text` for the textual form.
"""

from __future__ import annotations

from dataclasses import field, fields
from functools import cached_property
from typing import ClassVar

from ...ir.adt import TypeData
from ...ir.expr import Expr, Function
from ...ir.lazy_dataclass import dataclass
from ...ir.module import IRModule
from ...ir.ndarray import NDArray
from ...ir.span import Span

# These type names determine how `text` writes a field, and which fields contain registers.
Register = int
Registers = tuple[int, ...]
Results = tuple[int, ...]  # registers that are written
Constant = int
Kernel = int
Target = int  # the index of an instruction
Name = str  # of a function
Shape = tuple[int, ...]
Cases = tuple[tuple[str, int], ...]  # constructors, and the target of each


@dataclass(frozen=True, slots=True)
class Instruction:
    """Base of all instructions. A field `to` is the register that is written."""

    mnemonic: ClassVar[str] = ""


@dataclass(frozen=True, slots=True)
class Move(Instruction):
    """Copies a register; the value is shared."""

    mnemonic: ClassVar[str] = "move"
    to: Register
    source: Register


@dataclass(frozen=True, slots=True)
class LoadConst(Instruction):
    """Loads a constant of the program, a tensor."""

    mnemonic: ClassVar[str] = "load_const"
    to: Register
    constant: Constant


@dataclass(frozen=True, slots=True)
class LoadConsti(Instruction):
    """Loads an integer or a truth value, as a tensor of rank 0."""

    mnemonic: ClassVar[str] = "load_consti"
    to: Register
    value: int
    dtype: str


@dataclass(frozen=True, slots=True)
class AllocStorage(Instruction):
    """Allocates `size` bytes of memory, at an address that kernels accept."""

    mnemonic: ClassVar[str] = "alloc_storage"
    to: Register
    size: int


@dataclass(frozen=True, slots=True)
class AllocTensor(Instruction):
    """Creates an uninitialized tensor at the beginning of a storage. The storage may have held another one,
    which no instruction reads any more.
    """

    mnemonic: ClassVar[str] = "alloc_tensor"
    to: Register
    storage: Register
    shape: Shape
    dtype: str


@dataclass(frozen=True, slots=True)
class AllocTensorReg(Instruction):
    """Allocates an uninitialized tensor in memory of its own; a register holds its shape (see ShapeFunc)."""

    mnemonic: ClassVar[str] = "alloc_tensor_reg"
    to: Register
    shape: Register
    dtype: str


@dataclass(frozen=True, slots=True)
class ReshapeTensor(Instruction):
    """Creates a tensor with the elements of another under a new shape, in the same memory."""

    mnemonic: ClassVar[str] = "reshape_tensor"
    to: Register
    source: Register
    shape: Shape


@dataclass(frozen=True, slots=True)
class ShapeFunc(Instruction):
    """Computes the shapes of a kernel's results from those of its arguments; fails where these are
    inconsistent. It precedes the kernel wherever a size is known only at run time.
    """

    mnemonic: ClassVar[str] = "shape_func"
    to: Results
    kernel: Kernel
    arguments: Registers


@dataclass(frozen=True, slots=True)
class InvokePacked(Instruction):
    """Runs a kernel, which reads the tensors `arguments` and fills the tensors `results`. A kernel's tuples,
    arguments as well as results, are passed tensor by tensor, depth first.
    """

    mnemonic: ClassVar[str] = "invoke_packed"
    kernel: Kernel
    arguments: Registers
    results: Registers


@dataclass(frozen=True, slots=True)
class InvokeHost(Instruction):
    """Runs a kernel that has to compute its results to know their sizes, and so allocates them itself."""

    mnemonic: ClassVar[str] = "invoke_host"
    to: Results
    kernel: Kernel
    arguments: Registers


@dataclass(frozen=True, slots=True)
class AllocTuple(Instruction):
    """Creates a tuple."""

    mnemonic: ClassVar[str] = "alloc_tuple"
    to: Register
    parts: Registers


@dataclass(frozen=True, slots=True)
class AllocADT(Instruction):
    """Creates a value of a data type with one of its constructors."""

    mnemonic: ClassVar[str] = "alloc_adt"
    to: Register
    type: str
    constructor: str
    parts: Registers


@dataclass(frozen=True, slots=True)
class AllocClosure(Instruction):
    """Creates a closure: a function with the values that it captures."""

    mnemonic: ClassVar[str] = "alloc_closure"
    to: Register
    function: Name
    captured: Registers


@dataclass(frozen=True, slots=True)
class GetField(Instruction):
    """Reads a field of a tuple or of a constructed value, counted from 0."""

    mnemonic: ClassVar[str] = "get_field"
    to: Register
    source: Register
    index: int


@dataclass(frozen=True, slots=True)
class Switch(Instruction):
    """Jumps to the target of a value's constructor. `otherwise` is for constructors without a case; -1 where
    there are none.
    """

    mnemonic: ClassVar[str] = "switch"
    source: Register
    type: str
    cases: Cases
    otherwise: Target


@dataclass(frozen=True, slots=True)
class If(Instruction):
    """Continues with the next instruction where a tensor of rank 0 is true, else jumps to `otherwise`."""

    mnemonic: ClassVar[str] = "if"
    condition: Register
    otherwise: Target


@dataclass(frozen=True, slots=True)
class Goto(Instruction):
    """Jumps to a later instruction."""

    mnemonic: ClassVar[str] = "goto"
    target: Target


@dataclass(frozen=True, slots=True)
class Invoke(Instruction):
    """Calls a function of the program with its arguments, followed by the values that it captures."""

    mnemonic: ClassVar[str] = "invoke"
    to: Register
    function: Name
    arguments: Registers


@dataclass(frozen=True, slots=True)
class InvokeClosure(Instruction):
    """Calls a closure."""

    mnemonic: ClassVar[str] = "invoke_closure"
    to: Register
    closure: Register
    arguments: Registers


@dataclass(frozen=True, slots=True)
class TailInvoke(Instruction):
    """Calls another function in place of this one: its result is returned to this function's caller."""

    mnemonic: ClassVar[str] = "tail_invoke"
    function: Name
    arguments: Registers


@dataclass(frozen=True, slots=True)
class TailInvokeClosure(Instruction):
    """Calls a closure in place of this function."""

    mnemonic: ClassVar[str] = "tail_invoke_closure"
    closure: Register
    arguments: Registers


@dataclass(frozen=True, slots=True)
class NewRef(Instruction):
    """Creates a mutable cell."""

    mnemonic: ClassVar[str] = "new_ref"
    to: Register
    value: Register


@dataclass(frozen=True, slots=True)
class ReadRef(Instruction):
    """Reads the content of a cell."""

    mnemonic: ClassVar[str] = "read_ref"
    to: Register
    ref: Register


@dataclass(frozen=True, slots=True)
class WriteRef(Instruction):
    """Writes a value to a cell."""

    mnemonic: ClassVar[str] = "write_ref"
    ref: Register
    value: Register


@dataclass(frozen=True, slots=True)
class Ret(Instruction):
    """Returns the function's result."""

    mnemonic: ClassVar[str] = "ret"
    result: Register


@dataclass(frozen=True, slots=True)
class Fatal(Instruction):
    """Fails because no clause of a match fits the value: an error with a note, and a help if that is not
    empty.
    """

    mnemonic: ClassVar[str] = "fatal"
    value: Register
    note: str
    help: str


INSTRUCTIONS: dict[str, type[Instruction]] = {
    kind.mnemonic: kind
    for kind in (
        Move, LoadConst, LoadConsti, AllocStorage, AllocTensor, AllocTensorReg, ReshapeTensor, ShapeFunc,
        InvokePacked, InvokeHost, AllocTuple, AllocADT, AllocClosure, GetField, Switch, If, Goto, Invoke,
        InvokeClosure, TailInvoke, TailInvokeClosure, NewRef, ReadRef, WriteRef, Ret, Fatal,
    )
}  # fmt: skip


def written(instruction: Instruction) -> Registers:
    """Return the registers that an instruction writes. The tensors that InvokePacked fills are allocated
    before it.
    """
    to = getattr(instruction, "to", ())
    return to if isinstance(to, tuple) else (to,)


def read(instruction: Instruction) -> Registers:
    """Return the registers that an instruction reads, in order."""
    registers: list[int] = []
    for part in fields(instruction):
        if part.name != "to" and part.type == "Register":
            registers.append(getattr(instruction, part.name))
        elif part.type == "Registers":
            registers += getattr(instruction, part.name)
    return tuple(registers)


def targets(instruction: Instruction) -> tuple[Target, ...]:
    """Return the instructions that may follow an instruction, besides the next one."""
    match instruction:
        case Goto():
            return (instruction.target,)
        case If():
            return (instruction.otherwise,)
        case Switch():
            labels = [target for _, target in instruction.cases]
            return (*labels, instruction.otherwise) if instruction.otherwise >= 0 else tuple(labels)
    return ()


def ends(instruction: Instruction) -> bool:
    """Whether control never continues with the next instruction."""
    return isinstance(instruction, (Goto, Switch, Ret, Fatal, TailInvoke, TailInvokeClosure))


@dataclass(frozen=True)
class VMFunction:
    """The code of a function. Its first registers are `params`; the next `captured` ones hold the values that
    its closure captured.

    `types` are the types of the parameters and of the result, as text. `spans` and `sources` give, for each
    instruction, its position in the program's text, and the expression of the optimized program that it
    computes; a program that was loaded has no `sources`.
    """

    name: str
    params: tuple[str, ...]
    types: tuple[str, ...]
    captured: int
    registers: int
    code: tuple[Instruction, ...]
    spans: tuple[Span | None, ...] = field(default=(), compare=False, repr=False)
    sources: tuple[Expr | None, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True)
class KernelCode:
    """A primitive function, which a kernel computes. `text` describes it completely, and equal kernels have
    equal texts; `host` says that the sizes of its results are known only once they are computed (see
    InvokeHost).
    """

    name: str
    text: str
    host: bool = False
    made_of: Function | None = field(default=None, compare=False, repr=False)

    @cached_property
    def function(self) -> Function:
        """The function, with its types."""
        from ...text import parse_expr
        from ...typing import infer_types

        if self.made_of is not None:
            return self.made_of
        parsed = parse_expr(self.text)
        assert isinstance(parsed, Function)
        return infer_types(IRModule.from_expr(parsed))["main"]


@dataclass(frozen=True)
class VMProgram:
    """A whole program: functions by name, and the kernels, constants and data types that their code refers to
    by number or name.
    """

    functions: dict[str, VMFunction]
    kernels: tuple[KernelCode, ...] = ()
    constants: tuple[NDArray, ...] = ()
    types: tuple[TypeData, ...] = ()

    def __str__(self) -> str:
        from .text import program_text

        return program_text(self)
