"""The sentences of the machine explorer: what each instruction did, and why it is there."""

from __future__ import annotations

from collections.abc import Sequence

from ...execute.vm.bytecode import (
    AllocADT,
    AllocClosure,
    AllocStorage,
    AllocTensor,
    AllocTensorReg,
    AllocTuple,
    GetField,
    Goto,
    If,
    Instruction,
    InvokeClosure,
    InvokeHost,
    InvokePacked,
    LoadConst,
    LoadConsti,
    Move,
    NewRef,
    ReadRef,
    ReshapeTensor,
    ShapeFunc,
    Switch,
    TailInvokeClosure,
    WriteRef,
    read,
)
from ...execute.vm.heap import HeapKind, Reference
from ...execute.vm.run import Activation, MachineRun, Step, StepKind
from ..evaluation.sentences import listed, plain
from ..format import Sentence
from ..words import count, counted

SHORT = 40  # characters of a value within a sentence
MAX_NAMED = 4  # registers that are named
MAX_FREED = 3


class Narrator:
    """Writes the sentences about the steps of a run, in order. `texts` has each object's current text."""

    def __init__(self, run: MachineRun) -> None:
        self.run = run
        self.texts: dict[int, str] = {}
        self._said: set[str] = set()

    def say(self, step: Step) -> Sentence:
        """Return the sentence of the next step."""
        before = dict(self.texts) if self._writes(step) else self.texts
        for change in step.changes:
            if change[0] in ("o", "t"):
                self.texts[int(change[1] or 0)] = str(change[2])
        match step.kind:
            case StepKind.BEGIN:
                sentence = self._begins(step)
            case StepKind.CALL | StepKind.TAIL:
                sentence = self._called(step)
            case StepKind.RETURN:
                sentence = self._returned(step)
            case StepKind.END:
                sentence = self._ended(step)
            case StepKind.FAILURE:
                message = str(step.error.message if step.error else "").strip().rstrip(".")
                return plain(f"**The run fails here.** {message[:1].upper()}{message[1:]}.")
            case _:
                sentence = self._did(step, before)
        return self._with_freed(step, sentence)

    def _writes(self, step: Step) -> bool:
        return step.kind is StepKind.DID and isinstance(self._instruction(step), WriteRef)

    def _instruction(self, step: Step) -> Instruction:
        return self.run.activations[step.activation].function.code[step.number]

    # -- values

    def value(self, held: Reference, texts: dict[int, str] | None = None) -> str:
        """Describe a value in a few words."""
        if held is None:
            return "…"
        if type(held) is not int:
            return cut(str(held))
        entry = self.run.things[held]
        text = (self.texts if texts is None else texts).get(held, "")
        match entry.kind:
            case HeapKind.STORAGE:
                return f"#{held}"
            case HeapKind.CELL:
                return cut(f"ref({text})")
            case HeapKind.TENSOR:
                return text if 0 < len(text) <= SHORT and " largest " not in text else entry.label
        return cut(text)

    def named(
        self, registers: Sequence[int], held: Sequence[Reference], texts: dict[int, str] | None = None
    ) -> list[str]:
        """Return `r1 = 3` for each register; of many registers, only the first."""
        shown = [f"r{r} = {self.value(h, texts)}" for r, h in list(zip(registers, held))[:MAX_NAMED]]
        return (
            shown
            if len(held) <= MAX_NAMED
            else [*shown[: MAX_NAMED - 1], f"{len(held) - MAX_NAMED + 1} more"]
        )

    def function(self, activation: int) -> str:
        return f"@{self.run.activations[activation].function.name}"

    def kernel(self, number: int) -> str:
        return f"k{number} {self.run.program.kernels[number].name}"

    def _once(self, remark: str) -> str:
        """Return a remark, on a line of its own, the first time that it applies; later nothing."""
        if remark in self._said:
            return ""
        self._said.add(remark)
        return f"\n{remark}"

    def _with_freed(self, step: Step, sentence: Sentence) -> Sentence:
        """Add the objects that are freed after the step."""
        freed = [int(c[1] or 0) for c in step.changes if c[0] == "d"]
        storage = [n for n in freed if self.run.things[n].size and self.run.things[n].storage < 0]
        if not storage:
            return sentence
        names = [f"#{n}" for n in storage[:MAX_FREED]]
        size = sum(self.run.things[n].size for n in storage)
        more = f" and {len(storage) - MAX_FREED} more" if len(storage) > MAX_FREED else ""
        where = listed(names, len(sentence) - 1)
        joint = " " if "\n" in sentence[0] else "\n"
        its = "their" if len(storage) > 1 else "its"
        return (
            f"{sentence[0]}{joint}No reference to {where}{more} remains: {its} {counted(size, 'byte')} "
            f"{'is' if size == 1 else 'are'} freed.",
            *sentence[1:],
            *names,
        )

    # -- calls

    def _begins(self, step: Step) -> Sentence:
        now = self.run.activations[step.activation]
        arguments = self.named(range(len(step.reads)), step.reads)
        with_what = f": {listed(arguments, 2)}" if arguments else ""
        return (
            f"{{0}} begins with {{1}} registers{with_what}."
            + self._once("Parameters are in the first registers. Every call has its own registers."),
            self.function(step.activation), str(now.function.registers), *arguments,
        )  # fmt: skip

    def _called(self, step: Step) -> Sentence:
        new = self.run.activations[step.activation]
        name = self.function(step.activation)
        arguments = self.named(range(len(step.reads)), step.reads)
        with_what = f" with {listed(arguments, 2)}" if arguments else ""
        remark = self._captured(new, step)
        if step.kind is StepKind.TAIL:
            before = self.function(step.left)
            replaces = (
                f"{{0}} is called again{with_what}: iteration {new.turn}. The new frame replaces the old one"
                if before == name
                else f"{{0}} is called{with_what}. Its frame replaces that of {{1}}"
            )
            tail = "This is a tail call. This machine only jumps forward, so loops consist of tail calls."
            return (
                f"{replaces}, so the stack does not grow.{remark or self._once(tail)}",
                name, before, *arguments,
            )  # fmt: skip
        again = new.caller >= 0 and self.run.activations[new.caller].function is new.function
        remark = remark or (self._once("It is the same code, with new registers.") if again else "")
        waits = f" {{1}} waits at instruction {new.at}." if new.caller >= 0 else ""
        caller = self.function(new.caller) if new.caller >= 0 else ""
        return f"{{0}} is called{with_what}.{waits}{remark}", name, caller, *arguments

    def _captured(self, new: Activation, step: Step) -> str:
        if not new.function.captured:
            return ""
        first = len(new.function.params)
        last = first + new.function.captured - 1
        where = f"r{first}" if first == last else f"r{first} to r{last}"
        return self._once(f"The captured values follow the arguments, in {where}.")

    def _returned(self, step: Step) -> Sentence:
        left = self.run.activations[step.left]
        to = next((c[2] for c in step.changes if c[0] == "w"), 0)
        after = f" after {counted(left.turn, 'tail call')}" if left.turn else ""
        return (
            f"{{0}} returns {{1}}{after}, and {{2}} continues: {{3}} is that value.",
            self.function(step.left), self.value(step.reads[0]), self.function(step.activation), f"r{to}",
        )  # fmt: skip

    def _ended(self, step: Step) -> Sentence:
        value = self.value(step.reads[0])
        if self.run.left_out:
            return "The result is {0}.", value
        return "{0} returns {1}: this is the result.", self.function(step.activation), value

    # -- instructions

    def _did(self, step: Step, before: dict[int, str]) -> Sentence:
        it = self._instruction(step)
        operands = self.named(read(it), step.reads, before)
        target = getattr(it, "to", None)
        to = f"r{target}" if isinstance(target, int) else ""
        value = self.value(step.wrote[0]) if step.wrote else ""
        match it:
            case Move():
                remark = self._once(
                    "Only the reference is copied, so both registers refer to the same value."
                )
                return f"{{0}} is a copy of {{1}}.{remark}", to, operands[0]
            case LoadConst():
                return "{0} is the constant {1}: {2}.", to, f"c{it.constant}", value
            case LoadConsti():
                return "{0} is the integer {1}, an immediate operand.", to, value
            case AllocStorage() | AllocTensor() | AllocTensorReg() | ReshapeTensor() | ShapeFunc():
                return self._memory(step, it, to, operands)
            case InvokePacked() | InvokeHost():
                return self._kernel(step, it)
            case AllocTuple() | AllocADT() | AllocClosure():
                return self._made(it, to, operands, value)
            case GetField():
                return "{0} is field {1} of {2}: {3}.", to, str(it.index), operands[0], value
            case Switch() | If() | Goto():
                return self._jumped(step, it, operands)
            case NewRef():
                remark = self._once(
                    "A reference cell can be written again, and every reference to it sees the new content."
                )
                return f"{{0}} is a new reference cell that holds {{1}}.{remark}", to, operands[0]
            case ReadRef():
                return "{0} is the current content of the cell {1}: {2}.", to, f"r{it.ref}", value
            case WriteRef():
                cell = step.reads[0]
                held = before.get(cell, "…") if type(cell) is int else "…"
                return (
                    "The content of the cell {0} changes from {1} to {2}.",
                    f"r{it.ref}",
                    cut(held),
                    operands[1],
                )
            case InvokeClosure() | TailInvokeClosure():
                return "{0} is called, which is not bytecode. Its result is {1}.", operands[-1], value
        return "The result of {0} is {1}.", it.mnemonic, value

    def _memory(self, step: Step, it: Instruction, to: str, operands: list[str]) -> Sentence:
        held = step.wrote[0]
        name = f"#{held}"
        entry = self.run.things[held] if type(held) is int else None
        label = entry.label if entry is not None else str(held)
        match it:
            case AllocStorage():
                remark = self._once("The size was known when the program was compiled.")
                be = "is" if it.size == 1 else "are"
                return f"{{0}} {be} allocated for tensors: {{1}}, in {{2}}.{remark}", label, name, to
            case AllocTensor():
                place = f"#{entry.storage}" if entry is not None else ""
                if step.reused >= 0:
                    return (
                        "{0} is an uninitialized tensor {1} in the storage {2}. {3}, which was there, "
                        "is dead, so "
                        "its memory is reused.",
                        to, label, place, f"#{step.reused}",
                    )  # fmt: skip
                return (
                    "{0} is an uninitialized tensor {1} in the storage {2}.",
                    to,
                    label,
                    place,
                )
            case AllocTensorReg():
                return (
                    "{0} is an uninitialized tensor of the shape in {1}, in memory of its own: {2}.",
                    to,
                    operands[0],
                    label,
                )
            case ShapeFunc():
                names = " and ".join(f"r{r}" for r in it.to)
                shapes = " and ".join(str(h) for h in step.wrote)
                remark = self._once("Dynamic sizes are computed before the kernel that needs them.")
                return (
                    "{0} is the shape that the result of {1} will have, computed from the shapes of its "
                    f"arguments: {{2}}.{remark}",
                    names, self.kernel(it.kernel), shapes,
                )  # fmt: skip
        return (
            "{0} has the elements of {1} with another shape: {2}. Nothing is computed or copied.",
            to,
            operands[0],
            label,
        )

    def _kernel(self, step: Step, it: InvokePacked | InvokeHost) -> Sentence:
        arguments = self.named(it.arguments, step.reads[: len(it.arguments)])
        results = it.results if isinstance(it, InvokePacked) else it.to
        filled = self.named(results, step.wrote)
        reads = f" reads {listed(arguments, 1)} and" if arguments else ""
        at = 1 + len(arguments)
        if isinstance(it, InvokeHost):
            remark = self._once("The size of this result depends on the data, so the kernel allocates it.")
            return (
                f"The kernel {{0}}{reads} returns its result: {listed(filled, at)}.{remark}",
                self.kernel(it.kernel), *arguments, *filled,
            )  # fmt: skip
        return (
            f"The kernel {{0}}{reads} writes {listed(filled, at)}.",
            self.kernel(it.kernel),
            *arguments,
            *filled,
        )

    def _made(
        self, it: AllocTuple | AllocADT | AllocClosure, to: str, fields: list[str], value: str
    ) -> Sentence:
        if isinstance(it, AllocClosure):
            name = f"@{it.function}"
            if not fields:
                return "{0} is a closure of {1}. It captures nothing.", to, name
            remark = self._once("The captured values outlive this call.")
            return (
                f"{{0}} is a closure of {{1}} that captures {listed(fields, 2)}.{remark}",
                to,
                name,
                *fields,
            )
        name = it.constructor if isinstance(it, AllocADT) else "tuple"
        if not fields:
            return "{0} is {1}.", to, value
        remark = self._once("Its fields are references to these objects, not copies.")
        return f"{{0}} is a new {{1}} of {listed(fields, 2)}.{remark}", to, name, *fields

    def _jumped(self, step: Step, it: Switch | If | Goto, operands: list[str]) -> Sentence:
        goes = f"execution continues at instruction {step.following}"
        if isinstance(it, Goto):
            return (f"The branch is done: {goes}, after the other branch.",)
        if isinstance(it, If):
            return f"{{0}}, so {goes}.", operands[0]
        held = step.reads[0]
        constructor = self.run.things[held].label if type(held) is int else str(held)
        return f"The constructor of {{0}} is {{1}}, so {goes}.", operands[0], constructor


def gap(left_out: int, recorded: int, total: int) -> Sentence:
    """Describe the steps that are missing from the data."""
    are = "is" if left_out == 1 else "are"
    return (
        f"{counted(left_out, 'step')} {are} left out here: only the first {count(recorded)} of "
        f"{count(total)} "
        "are recorded.",
    )


def cut(text: str) -> str:
    """Shorten a text to one line of at most SHORT characters."""
    flat = " ".join(text.split())
    return flat if len(flat) <= SHORT else flat[: SHORT - 1] + "…"
