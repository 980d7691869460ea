"""The sentences of the evaluation explorer: what each step did, and why."""

from __future__ import annotations

from ...execute.code import Instruction, Kind
from ...execute.record import Activation, Chose, Entered, Failed, Finished, Made, Returned, Step
from ...execute.values import Closure, ConstructorValue, Value
from ...ir.adt import Constructor, Match
from ...ir.expr import Constant, Expr, GlobalVar
from ...ir.op import Op
from ..format import Sentence
from ..heap import Heap, has_identity
from ..words import count, counted
from .rows import RunRows

SHORT = 40  # characters of a value within a sentence
MAX_NAMED = 4  # operands that are named


class Narrator:
    """Writes the sentences about steps. `rows` has the names, `heap` the texts of values."""

    def __init__(self, rows: RunRows, heap: Heap) -> None:
        self.rows = rows
        self.heap = heap
        self._said: set[str] = set()

    def say(self, step: Step, held: Value = None) -> Sentence:
        """Return the sentence of a step. `held` is the previous content of a cell that the step writes."""
        match step:
            case Entered():
                return self._entered(step)
            case Made():
                return self._made(step, held)
            case Chose():
                return self._chose(step)
            case Returned():
                return self._returned(step)
            case Finished():
                name, value = self.rows.frame_name(step.activation.callee), self.value(step.value)
                return (
                    ("{0} returns {1}: this is the result.", name, value)
                    if step.activation.number == 0
                    else ("The result is {0}.", value)
                )
            case Failed():
                return plain(f"**The run fails here.** {_sentence(step.error.message)}")
        raise AssertionError(step)

    # -- names and values

    def value(self, value: Value) -> str:
        return self.heap.text(value, SHORT)

    def named(self, expr: Expr, value: Value) -> str:
        """Return `%x = 3`, or only the value if it has no name."""
        source = self.rows.same(expr)
        fixed = isinstance(source, (Constant, GlobalVar, Op, Constructor))
        name = "" if fixed else self.rows.called(source)
        return f"{name} = {self.value(value)}" if name else self.value(value)

    def operands(self, activation: Activation, slots: tuple[int, ...]) -> list[str]:
        exprs = self.rows.exprs(activation.code)
        shown = [self.named(exprs[slot], activation.frame[slot]) for slot in slots[:MAX_NAMED]]
        return (
            shown
            if len(slots) <= MAX_NAMED
            else [*shown[: MAX_NAMED - 1], f"{len(slots) - MAX_NAMED + 1} more"]
        )

    def target(self, node: Expr) -> tuple[str, tuple[str, ...]]:
        """Return the subject of a sentence about the value of `node`, a template, and its arguments."""
        name = self.rows.called(node)
        return ("{0}", (name,)) if name else ("This", ())

    def _once(self, remark: str) -> str:
        """Return a remark, on a line of its own, the first time that it applies; later nothing."""
        if remark in self._said:
            return ""
        self._said.add(remark)
        return f"\n{remark}"

    # -- kinds of steps

    def _entered(self, step: Entered) -> Sentence:
        new = step.activation
        name = self.rows.frame_name(new.callee)
        params = new.code.function.params
        arguments = [self.named(p, v) for p, v in zip(params[:MAX_NAMED], new.frame)]
        if len(params) > MAX_NAMED:
            arguments = [*arguments[: MAX_NAMED - 1], f"{len(params) - MAX_NAMED + 1} more"]
        with_what = f" with {listed(arguments, 1)}" if arguments else ""
        if new.at is None:
            return f"{{0}} begins{with_what}.", name, *arguments
        if step.replaced is not None:
            remark = self._once(
                "This is a tail call: its result is also its caller's. "
                "Loops of tail calls need constant stack."
            )
            if step.replaced.callee.function is new.callee.function:
                return (
                    f"{{0}} is called again{with_what}: iteration {new.turn}. The new frame replaces the old "
                    f"one, so the stack does not grow.{remark}",
                    name,
                    *arguments,
                )
            return (
                f"{{0}} is called{with_what}. Its frame replaces that of {{{len(arguments) + 1}}}, so the "
                f"stack does not grow.{remark}",
                name,
                *arguments,
                self.rows.frame_name(step.replaced.callee),
            )
        caller = new.caller
        waits = f" {{{len(arguments) + 1}}} waits." if caller is not None else ""
        again = caller is not None and caller.callee.function is new.callee.function
        remark = self._once("It is the same function, in a new frame.") if again else ""
        args = () if caller is None else (self.rows.frame_name(caller.callee),)
        return f"{{0}} is called{with_what}.{waits}{remark}", name, *arguments, *args

    def _made(self, step: Made, held: Value) -> Sentence:
        instruction, now = step.instruction, step.activation
        start, args = self.target(instruction.node)
        at = len(args)
        operands = self.operands(now, instruction.operands)
        value = self.value(step.value)
        match instruction.kind:
            case Kind.OPERATOR:
                op, _ = instruction.detail
                return _applied(start, args, op.name, operands, value)
            case Kind.CALL:
                return self._constructed(step, start, args, operands)
            case Kind.TUPLE:
                what = f"a tuple of {listed(operands, at)}" if operands else "the empty tuple"
                return f"{start} is {what}.", *args, *operands
            case Kind.FIELD:
                return (
                    f"{start} is field {instruction.detail} of {{{at}}}: {{{at + 1}}}.",
                    *args,
                    *operands,
                    value,
                )
            case Kind.CLOSURE:
                return self._closure(step, start, args)
            case Kind.REF:
                remark = self._once(
                    "A reference cell can be written again, and every reference to it sees the new content."
                )
                return f"{start} is a new reference cell that holds {{{at}}}.{remark}", *args, *operands
            case Kind.READ:
                cell = self._cell(now, instruction)
                return (
                    f"{start} is the current content of the cell {{{at}}}: {{{at + 1}}}.",
                    *args,
                    cell,
                    value,
                )
            case Kind.WRITE:
                cell = self._cell(now, instruction)
                before, after = self.value(held), operands[1]
                return "The content of the cell {0} changes from {1} to {2}.", cell, before, after
        raise AssertionError(instruction.kind)

    def _cell(self, now: Activation, instruction: Instruction) -> str:
        exprs = self.rows.exprs(now.code)
        return self.rows.called(self.rows.same(exprs[instruction.operands[0]])) or "ref(…)"

    def _constructed(self, step: Made, start: str, args: tuple[str, ...], operands: list[str]) -> Sentence:
        """Describe a call of a constructor, or of an operator that is a value."""
        value, rest, at = step.value, operands[1:], len(args)
        if not isinstance(value, ConstructorValue):
            return _applied(start, args, operands[0], rest, self.value(value))
        name = value.constructor.name_hint
        if not rest:
            return f"{start} is {{{at}}}.", *args, name
        shares = any(has_identity(field) for field in value.fields)
        remark = self._once("Its fields are references to these objects, not copies.") if shares else ""
        return f"{start} is a new {{{at}}} of {listed(rest, at + 1)}.{remark}", *args, name, *rest

    def _closure(self, step: Made, start: str, args: tuple[str, ...]) -> Sentence:
        closure, at = step.value, len(args)
        assert isinstance(closure, Closure)
        exprs = self.rows.exprs(closure.code)
        held = [
            f"{self.rows.called(exprs[slot])} (itself)"
            if value is closure
            else self.named(exprs[slot], value)
            for (_, slot), value in zip(closure.code.captures, closure.captured)
        ]
        if not held:
            return f"{start} is a closure. It captures nothing.", *args
        shown = (
            held if len(held) <= MAX_NAMED else [*held[: MAX_NAMED - 1], f"{len(held) - MAX_NAMED + 1} more"]
        )
        remark = self._once("The captured values outlive this frame.")
        return f"{start} is a closure that captures {listed(shown, at)}.{remark}", *args, *shown

    def _chose(self, step: Chose) -> Sentence:
        instruction, now = step.instruction, step.activation
        (operand,) = self.operands(now, instruction.operands)
        node = instruction.node
        if not isinstance(node, Match):
            branch = "the first branch" if step.number == 0 else "the `else` branch"
            return f"{{0}}, so {branch} is taken.", operand
        pattern = self.rows.pattern(node, step.number)
        bound = [
            self.named(var, now.frame[slot]) for var, slot in instruction.detail[step.number].slots.items()
        ]
        shown = (
            bound
            if len(bound) <= MAX_NAMED
            else [*bound[: MAX_NAMED - 1], f"{len(bound) - MAX_NAMED + 1} more"]
        )
        binds = f": {listed(shown, 2)}" if shown else ""
        passed = [self.rows.pattern(node, k) for k in range(step.number)]
        remark = ""
        if passed:
            last = len(shown) + 2
            names = listed(passed[:MAX_NAMED], last) + (" …" if len(passed) > MAX_NAMED else "")
            remark = f"\nIt does not match {names}, which {'comes' if len(passed) == 1 else 'come'} first."
        return f"{{0}} matches {{1}}{binds}.{remark}", operand, pattern, *shown, *passed[:MAX_NAMED]

    def _returned(self, step: Returned) -> Sentence:
        start, args = self.target(step.instruction.node)
        at, value = len(args), self.value(step.value)
        if step.left is None:
            word = "match" if isinstance(step.instruction.node, Match) else "if"
            return f"The branch and the `{word}` end: {start} is {{{at}}}.", *args, value
        left, now = (self.rows.frame_name(a.callee) for a in (step.left, step.activation))
        end = f": {start} is that value." if args else "."
        after = f" after {counted(step.left.turn, 'tail call')}" if step.left.turn else ""
        return (
            f"{{{at}}} returns {{{at + 1}}}{after}, and {{{at + 2}}} continues{end}",
            *args,
            left,
            value,
            now,
        )


def gap(left_out: int, shown: int, total: int) -> Sentence:
    """Describe the steps that are missing from the data."""
    are = "is" if left_out == 1 else "are"
    return (
        f"{counted(left_out, 'step')} {are} left out here: only the first {count(shown)} of "
        f"{count(total)} are "
        "recorded.",
    )


def stopped(shown: int, total: int) -> Sentence:
    """Describe the end of a run that was stopped."""
    return (
        f"The first {count(shown)} steps are recorded. The program was stopped after "
        f"{counted(total, 'step')}, so its result is not known.",
    )


def listed(texts: list[str], first: int) -> str:
    """Return placeholders as a list in words: `{1}, {2} and {3}`."""
    marks = [f"{{{first + k}}}" for k in range(len(texts))]
    return " and ".join([", ".join(marks[:-1]), marks[-1]] if len(marks) > 1 else marks)


def plain(text: str) -> Sentence:
    """Return a text as a template without arguments."""
    return (text.replace("{", "{{").replace("}", "}}"),)


def _applied(start: str, args: tuple[str, ...], name: str, operands: list[str], value: str) -> Sentence:
    at = len(args)
    of = f" of {listed(operands, at + 2)}" if operands else ""
    return f"{start} is {{{at}}}: {{{at + 1}}}{of}.", *args, value, name, *operands


def _sentence(text: str) -> str:
    text = text.strip().rstrip(".")
    return f"{text[:1].upper()}{text[1:]}."
