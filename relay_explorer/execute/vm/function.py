"""Compile one function to bytecode, from the code that the interpreter would run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...ir.adt import Constructor
from ...ir.expr import Constant, Expr, Function, GlobalVar
from ...ir.nest import leaf_types
from ...ir.op import Op
from ...ir.types import TensorType, TupleType, Type
from ..code import Block, ClauseCode, Code, Instruction, Kind
from .assemble import Line, assembled
from .bytecode import (
    AllocADT,
    AllocClosure,
    AllocStorage,
    AllocTensor,
    AllocTensorReg,
    AllocTuple,
    GetField,
    Goto,
    If,
    Invoke,
    InvokeClosure,
    InvokeHost,
    InvokePacked,
    LoadConst,
    LoadConsti,
    Move,
    NewRef,
    ReadRef,
    ReshapeTensor,
    Ret,
    ShapeFunc,
    TailInvoke,
    TailInvokeClosure,
    VMFunction,
    WriteRef,
)
from .bytecode import Instruction as Made
from .clauses import emit_path, emit_tests
from .kernels import narrowed
from .matching import Path, variables
from .tensors import argument_types, bytes_of, single

if TYPE_CHECKING:
    from .compiler import ModuleCompiler

Ending = tuple[int, int] | None  # a block value's register and the label after it; None: it is returned


class Known:
    """A function that is static where it is called: `name`, and the registers that it takes after its
    arguments; or a kernel.
    """

    def __init__(self, name: str = "", captured: Sequence[int] = (), kernel: Function | None = None) -> None:
        self.name, self.captured, self.kernel = name, tuple(captured), kernel


class FunctionCompiler:
    """Compiles the blocks of a function's code. `regs` has the register of each slot that has been computed,
    `fields` those of the fields of tuples that are built here, by the tuple's register; `known` has the
    static functions by slot; `captured` are the slots that come with the closure.
    """

    def __init__(
        self, program: ModuleCompiler, name: str, code: Code, known: dict[int, Known], captured: Sequence[int]
    ) -> None:
        self.program, self.name, self.code, self.known = program, name, code, known
        self.constants = dict(code.constants)
        self.exprs = {slot: expr for expr, slot in code.slots.items()}
        self.params = len(code.function.params)
        self.captured = tuple(captured)
        self.regs: dict[int, int] = {slot: slot for slot in range(self.params)}
        self.regs.update({slot: self.params + k for k, slot in enumerate(self.captured)})
        self.count = self.params + len(self.captured)
        for callee in known.values():
            if callee.name == name:  # the function itself: it passes on what it captured
                callee.captured = tuple(range(self.params, self.count))
        self.made: dict[int, Known] = {}  # closures that are created here, by slot: they are called by name
        self.fields: dict[int, list[int]] = {}  # by register
        self.lines: list[Line] = []
        self.labels: dict[int, int] = {}
        self.label_count = 0
        self.block: Block = code.block
        self.loaded: dict[int, int] = {}  # constants that the block has loaded, by slot
        self.at: Expr | None = None

    def compile(self) -> VMFunction:
        self.run()
        code, sources, registers = assembled(self.lines, self.labels, self.params + len(self.captured))
        function = self.code.function
        types = [
            *[p._checked_type or p.type_annotation for p in function.params],
            function.body._checked_type,
        ]
        return VMFunction(
            self.name,
            tuple([p.name_hint for p in function.params]),
            tuple(["?" if t is None else str(t) for t in types]),
            len(self.captured),
            registers,
            tuple(code),
            tuple([source.span if source is not None else None for source in sources]),
            tuple(sources),
        )

    # -- blocks

    def run(self) -> None:
        """Compile all blocks. Blocks, and the code after them, wait on an explicit stack, because programs
        nest deeper than Python's stack allows.
        """
        pending: list[Any] = [(self.code.block, 0, None, {})]
        while pending:
            item = pending.pop()
            if isinstance(item, int):
                self.place(item)
            elif isinstance(item, ClauseCode):
                self._bind(item, pending.pop(), pending.pop())
            else:
                block, at, ending, self.loaded = item
                self.block = block
                pending += reversed(self._block(block, at, ending))

    def _block(self, block: Block, at: int, ending: Ending) -> list[Any]:
        """Emit a block from its instruction `at` to its end, or to a branch; return the work that remains."""
        instructions = block.instructions
        if at == 0 and ending is not None and instructions and instructions[-1].target == block.result:
            self.regs.setdefault(block.result, ending[0])
        while at < len(instructions):
            instruction = instructions[at]
            at += 1
            self.at = instruction.node
            last = at == len(instructions) and block.result == instruction.target
            if instruction.kind in (Kind.IF, Kind.MATCH):
                rest: list[Any] = []
                after = ending
                if not last:
                    after = (self.target(instruction.target), self.label())
                    rest = [after[1], (block, at, ending, self.loaded)]
                branches = self._if if instruction.kind is Kind.IF else self._match
                return [*branches(instruction, after), *rest]
            if instruction.kind is Kind.CALL:
                self._call(instruction, last and ending is None)
                if last and ending is None and self._has_left():
                    return []
            else:
                self._simple(instruction)
        self._end(block, ending)
        return []

    def _has_left(self) -> bool:
        return isinstance(self.lines[-1].instruction, (TailInvoke, TailInvokeClosure))

    def _end(self, block: Block, ending: Ending) -> None:
        self.at = self.exprs.get(block.result, self.at)
        if ending is None:
            self.emit(Ret(self.value(block.result)))
            return
        to, label = ending
        value = self.value(block.result)
        if value != to:
            self.emit(Move(to, value))
        self.emit(Goto(label))

    def _if(self, instruction: Instruction, after: Ending) -> list[Any]:
        yes, no = instruction.detail
        label = self.label()
        self.emit(If(self.value(instruction.operands[0]), label))
        return [(yes, 0, after, {}), label, (no, 0, after, {})]

    def _match(self, instruction: Instruction, after: Ending) -> list[Any]:
        """Emit the tests of a match; return its clauses as remaining work, each with the parts of the value
        that it binds.
        """
        value = self.value(instruction.operands[0])
        labels = emit_tests(self, instruction, value)
        work: list[Any] = []
        clauses: list[ClauseCode] = instruction.detail
        for number, clause in enumerate(clauses):
            if number in labels:
                work += [labels[number], clause, value, instruction.node, (clause.block, 0, after, {})]
        return work

    def _bind(self, clause: ClauseCode, value: int, node: Expr) -> None:
        """Load the values of a clause's variables."""
        self.at = node
        registers: dict[Path, int] = {(): value}
        for path, var in variables(clause.pattern):
            for length in range(1, len(path) + 1):
                if path[:length] not in registers:
                    registers[path[:length]] = emit_path(
                        self, registers[path[: length - 1]], path[length - 1 : length]
                    )
            self.regs[clause.slots[var]] = registers[path]

    # -- registers

    def fresh(self) -> int:
        self.count += 1
        return self.count - 1

    def label(self) -> int:
        self.label_count += 1
        return self.label_count - 1

    def place(self, label: int) -> None:
        self.labels[label] = len(self.lines)

    def emit(self, instruction: Made) -> None:
        self.lines.append(Line(instruction, id(self.block), self.at))

    def target(self, slot: int) -> int:
        """Return the register that a slot is computed into."""
        if slot not in self.regs:
            self.regs[slot] = self.fresh()
        return self.regs[slot]

    def value(self, slot: int) -> int:
        """Return the register that holds a slot's value; values that are in every frame of the interpreter
        are loaded where they are used.
        """
        if slot in self.known:
            return self._closure(self.known[slot])
        if slot not in self.constants:
            return self.regs[slot]
        if slot not in self.loaded:
            self.loaded[slot] = self._load(self.constants[slot])
        return self.loaded[slot]

    def _load(self, expr: Expr) -> int:
        to = self.fresh()
        match expr:
            case Constant():
                data = expr.data
                if data.shape == () and (data.dtype == "bool" or "int" in data.dtype):
                    self.emit(LoadConsti(to, int(data.values()[0]), data.dtype))
                else:
                    self.emit(LoadConst(to, self.program.constant(expr)))
            case GlobalVar():
                self.emit(AllocClosure(to, self.program.global_name(expr), ()))
            case _:
                assert isinstance(expr, (Op, Constructor))
                self.emit(AllocClosure(to, self.program.wrapper(expr), ()))
        return to

    def _closure(self, callee: Known) -> int:
        to = self.fresh()
        name = self.program.wrapper(callee.kernel) if callee.kernel is not None else callee.name
        self.emit(AllocClosure(to, name, callee.captured))
        return to

    # -- instructions

    def _simple(self, instruction: Instruction) -> None:
        kind, target, operands, detail, node = instruction
        match kind:
            case Kind.OPERATOR:
                self._kernel(single(node), instruction, operands)
            case Kind.TUPLE:
                self._tuple(target, [self.value(slot) for slot in operands])
            case Kind.FIELD:
                self._field(target, self.value(operands[0]), detail)
            case Kind.CLOSURE:
                self._function(target, detail)
            case Kind.REF:
                value = self.value(operands[0])
                self.emit(NewRef(self.target(target), value))
            case Kind.READ:
                ref = self.value(operands[0])
                self.emit(ReadRef(self.target(target), ref))
            case Kind.WRITE:
                ref, value = (self.value(slot) for slot in operands)
                self.emit(WriteRef(ref, value))
                self.emit(AllocTuple(self.target(target), ()))

    def _tuple(self, target: int, parts: Sequence[int]) -> None:
        if target not in self.regs:  # a branch's result register may receive another tuple too
            self.fields[self.target(target)] = list(parts)
        self.emit(AllocTuple(self.target(target), tuple(parts)))

    def _field(self, target: int, source: int, index: int) -> None:
        if target in self.regs:
            self.emit(GetField(self.regs[target], source, index))
        else:
            self.regs[target] = self.part(source, index)

    def part(self, source: int, index: int) -> int:
        """Return the register of a field; for a tuple that is built here, no instruction is needed."""
        if source in self.fields:
            return self.fields[source][index]
        to = self.fresh()
        self.emit(GetField(to, source, index))
        return to

    def _function(self, target: int, code: Code) -> None:
        """Emit the creation of a closure, and pass on which of the functions that it captures are static."""
        if "Primitive" in code.function.attrs:
            self.known[target] = Known(kernel=code.function)
            return
        name = self.program.fresh(f"{self.name}.{self._name_of(code.function)}")
        inner: dict[int, Known] = {}
        captured: list[tuple[int, int]] = []
        itself = None
        for outer, slot in code.captures:
            if outer == target:
                itself = slot
            elif outer in self.known and not self.known[outer].captured:
                inner[slot] = self.known[outer]
            else:
                captured.append((outer, slot))
        if itself is not None:
            inner[itself] = Known(name)
        self.program.pending.append((name, code, inner, tuple([slot for _, slot in captured])))
        if captured:
            values = tuple([self.value(outer) for outer, _ in captured])
            self.emit(AllocClosure(self.target(target), name, values))
            self.made[target] = Known(name, values)
        else:
            self.known[target] = Known(name)

    def _name_of(self, function: Function) -> str:
        return self.program.let_names.get(id(function), "fn")

    def _call(self, instruction: Instruction, tail: bool) -> None:
        callee, *operands = instruction.operands
        static_callee = self.known.get(callee) or self.made.get(callee)
        expr = self.constants.get(callee)
        if static_callee is not None and static_callee.kernel is not None:
            self._kernel(static_callee.kernel, instruction, operands)
            return
        arguments = tuple([self.value(slot) for slot in operands])
        if isinstance(expr, Constructor):
            header = expr.belong_to.name_hint
            self.emit(AllocADT(self.target(instruction.target), header, expr.name_hint, arguments))
            return
        name = ""
        if static_callee is not None:
            name, arguments = static_callee.name, (*arguments, *static_callee.captured)
        elif isinstance(expr, GlobalVar):
            name = self.program.global_name(expr)
        elif isinstance(expr, Op):
            name = self.program.wrapper(expr)
        target = instruction.target
        if name and tail:
            self.emit(TailInvoke(name, arguments))
        elif name:
            self.emit(Invoke(self.target(target), name, arguments))
        elif tail:
            self.emit(TailInvokeClosure(self.value(callee), arguments))
        else:
            self.emit(InvokeClosure(self.target(target), self.value(callee), arguments))

    # -- kernels

    def _kernel(self, function: Function, instruction: Instruction, operands: Sequence[int]) -> None:
        """Emit the call of a primitive function: tuples are flattened before it and rebuilt after it."""
        program, target = self.program, instruction.target
        function = narrowed(function)
        number = program.kernel(function)
        values = [self.value(slot) for slot in operands]
        inputs, tensors = argument_types(function), leaf_types(function.body._checked_type)
        if inputs is None or tensors is None:
            self.emit(InvokeHost((self.target(target),), number, tuple(values)))
            return
        type_ = function.body.checked_type
        leaves = [self._leaves(v, p.checked_type) for v, p in zip(values, function.params)]
        arguments = tuple([leaf for group in leaves for leaf in group])
        one = isinstance(type_, TensorType)
        results = [self.target(target)] if one else [self.fresh() for _ in tensors]
        if program.is_host(number):
            self.emit(InvokeHost(tuple(results), number, arguments))
        elif all(t.is_static for t in (*tensors, *inputs)):
            if "relay.reshape_only" in function.attrs and one and len(arguments) == 1:
                self.emit(ReshapeTensor(results[0], arguments[0], tensors[0].concrete_shape))
                return
            for register, tensor in zip(results, tensors):
                storage = self.fresh()
                self.emit(AllocStorage(storage, bytes_of(tensor)))
                self.emit(AllocTensor(register, storage, tensor.concrete_shape, tensor.dtype))
            self.emit(InvokePacked(number, arguments, tuple(results)))
        else:
            shapes = [self.fresh() for _ in tensors]
            self.emit(ShapeFunc(tuple(shapes), number, arguments))
            for register, shape, tensor in zip(results, shapes, tensors):
                self.emit(AllocTensorReg(register, shape, tensor.dtype))
            self.emit(InvokePacked(number, arguments, tuple(results)))
        if not one:
            self._nest(target, type_, results)

    def _leaves(self, register: int, type_: Type) -> list[int]:
        """Return the tensors of a value, depth first. Tuples in the types of operators nest only a few
        levels.
        """
        if not isinstance(type_, TupleType):
            return [register]
        pairs = [(self.part(register, index), field) for index, field in enumerate(type_.fields)]
        return [leaf for part, field in pairs for leaf in self._leaves(part, field)]

    def _nest(self, target: int, type_: Type, results: Sequence[int]) -> None:
        """Rebuild the nested result of a kernel from its tensors."""
        rest = iter(results)

        def build(part: Type) -> int:
            if not isinstance(part, TupleType):
                return next(rest)
            to = self.fresh()
            self.fields[to] = [build(field) for field in part.fields]
            self.emit(AllocTuple(to, tuple(self.fields[to])))
            return to

        assert isinstance(type_, TupleType)
        self._tuple(target, [build(field) for field in type_.fields])
