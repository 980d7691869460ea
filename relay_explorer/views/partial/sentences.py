"""The sentences of the explorer of partial evaluation: each decision, and why it was made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ...ir.adt import Constructor, Match
from ...ir.expr import Call, Constant, Expr, Function, GlobalVar, If, RefCreate, TupleGetItem
from ...ir.op import Op
from ...transform.partial_evaluate.record import (
    Branch,
    Built,
    Computed,
    Decided,
    Entered,
    Finished,
    Frame,
    Kept,
    PartialEvaluationEvent,
    Returned,
    Taken,
    Undecided,
)
from ...transform.partial_evaluate.values import Known, StaticData, StaticRef
from ..evaluation.sentences import listed
from ..format import Sentence
from ..words import counted
from .rows import ResidualRows, SourceRows, branch_row
from .values import KnownTexts

MAX_NAMED = 5  # arguments that are named
_ONCE = {
    "computed": "Only its value remains: nothing is computed at run time.",
    "built": "Its constructor is static, whatever its fields are, so a `match` on it can be decided.",
    "tuple": "Its fields can be taken at compile time, even if their values are dynamic.",
    "function": "Code for it is generated only if the residual program needs it.",
    "inlined": "At run time the call is gone.",
    "effect": "Effects are never executed ahead of time, removed or reordered.",
}


@dataclass
class Narrator:
    """Writes the sentence of each event. `said` are the remarks that are made only once."""

    source: SourceRows
    residual: ResidualRows
    texts: KnownTexts
    said: set[str] = field(default_factory=set)

    def __call__(self, event: PartialEvaluationEvent) -> Sentence:
        match event:
            case Entered():
                return self._entered(event)
            case Computed():
                return self._computed(event)
            case Built():
                return self._built(event)
            case Taken():
                return self._taken(event)
            case Kept():
                return self._kept(event)
            case Decided():
                return self._decided(event)
            case Undecided():
                return self._undecided(event)
            case Branch():
                return self._branch(event)
            case Returned():
                return self._returned(event)
            case Finished():
                return self._finished()
        raise AssertionError(event)

    # -- names

    def text(self, value: Known) -> str:
        return self.texts.text(value)

    def named(self, expr: Expr, value: Known) -> str:
        """Return `%n = 3`, or only the value if it has no name."""
        name = "" if isinstance(expr, (Constant, GlobalVar, Op, Constructor)) else self.source.called(expr)
        text = self.text(value)
        return f"{name} = {text}" if name and name != text else text

    def many(self, exprs: Sequence[Expr], values: Sequence[Known]) -> list[str]:
        shown = [self.named(e, v) for e, v in zip(exprs[:MAX_NAMED], values)]
        return (
            shown
            if len(values) <= MAX_NAMED
            else [*shown[: MAX_NAMED - 1], f"{len(values) - MAX_NAMED + 1} more"]
        )

    def frame(self, frame: Frame) -> str:
        """Return the name of a frame: `@power`, `%f`, `fn`."""
        if isinstance(frame.itself.dynamic, GlobalVar):
            return f"@{frame.itself.dynamic.name_hint}"
        return self.source.called(frame.static.function) or "fn"

    def _once(self, key: str) -> str:
        if key in self.said:
            return ""
        self.said.add(key)
        return f"\n{_ONCE[key]}"

    # -- kinds of events

    def _entered(self, event: Entered) -> Sentence:
        frame = event.frame
        name, params = self.frame(frame), frame.static.function.params
        if event.asked is not None:
            return (
                "The residual program needs {0}, so code for it is generated. It may be called at any time, "
                "so its parameters and the contents of cells are dynamic.",
                self.residual.name(event.asked) or name,
            )
        arguments = self.many(params, frame.args)
        if frame.call is None:
            arguments = [self.source.called(param) or "one" for param in params[:MAX_NAMED]]
            arguments += [f"{len(params) - MAX_NAMED} more"] * (len(params) > MAX_NAMED)
            what = " It has no parameters."
            if len(arguments) == 1:
                what = " Its parameter {1} is dynamic, so the residual program has it too."
            elif arguments:
                names = listed(arguments, 1)
                what = f" Its parameters {names} are dynamic, so the residual program has them too."
            return f"{{0}} is evaluated as far as its data are static.{what}", name, *arguments
        with_what = f" with {listed(arguments, 1)}" if arguments else ""
        if not frame.turn:
            remark = self._once("inlined")
            return (
                f"{{0}} is called{with_what}. Its body is evaluated in place of the call.{remark}",
                name,
                *arguments,
            )
        why, args = self._smaller(event, len(arguments) + 1)
        return (
            f"{{0}} is called again{with_what}: **recursive call {frame.turn}**.\n{why}, so the recursion "
            "must end, and is unrolled.",
            name, *arguments, *args,
        )  # fmt: skip

    def _smaller(self, event: Entered, at: int) -> tuple[str, tuple[str, ...]]:
        """Explain why a recursion must end."""
        frame = event.frame
        number = event.smaller[0] if event.smaller else -1
        if number < 0:
            return "The function itself was created before the one that is being evaluated", ()
        param, now = frame.static.function.params[number], frame.args[number]
        name = self.source.called(param) or f"argument {number + 1}"
        outer = frame.caller
        while outer is not None and outer.static.function is not frame.static.function:
            outer = outer.caller
        before = self.text(outer.args[number]) if outer is not None else "more"
        if isinstance(now.static, StaticData):
            return f"{{{at}}} was {{{at + 1}}}, and is now a part of that", (name, before)
        return f"{{{at}}} was {{{at + 1}}}, and is now smaller", (name, before)

    def _computed(self, event: Computed) -> Sentence:
        assert isinstance(event.at, Call)
        assert isinstance(event.at.op, Op)
        assert event.known is not None
        arguments = self.many(event.at.args, event.args)
        return (
            f"{{0}} of {listed(arguments, 2)} is {{1}}: all of its arguments are static, "
            "so it is computed now."
            + self._once("computed"),
            event.at.op.name, self.text(event.known), *arguments,
        )  # fmt: skip

    def _built(self, event: Built) -> Sentence:
        assert event.known is not None
        at, text = event.at, self.text(event.known)
        if isinstance(at, Function):
            name = self.source.called(at) or "This"
            return f"{{0}} is a static function.{self._once('function')}", name
        if isinstance(at, Call) and isinstance(at.op, Constructor):
            return f"{{0}} constructs {{1}}.{self._once('built')}", at.op.name_hint, text
        return f"A tuple of static length: {{0}}.{self._once('tuple')}", text

    def _taken(self, event: Taken) -> Sentence:
        assert event.known is not None
        text, source = self.text(event.known), self.text(event.source)
        if isinstance(event.at, TupleGetItem):
            return (
                f"Field {event.at.index} of {{0}} is {{1}}. Nothing remains to be done at run time.",
                source,
                text,
            )
        cell = self._cell(event.at, event.source)
        return "The content of the cell {0} is {1} here, so it need not be read at run time.", cell, text

    def _cell(self, at: Expr, value: Known) -> str:
        return self.residual.name(value.dynamic) or self.source.called(at) or "a cell"

    def _kept(self, event: Kept) -> Sentence:
        assert event.known is not None
        name = self.residual.name(event.known.dynamic)
        where = f" The residual program computes it{' as {0}' if name else ''}."
        match event.reason:
            case "cell" | "write" | "read":
                return self._effect(event)
            case "operator" | "field":
                return self._later(event, name, where)
            case "branches":
                word = "match" if isinstance(event.at, Match) else "if"
                return (
                    f"The branches end: the residual program has this `{word}`{' as {0}' if name else ''}. "
                    "The contents of cells after it are dynamic.",
                    *([name] if name else []),
                )
            case "kernel":
                return "This function is one kernel, so it stays as it is.", *()
        return self._refused(event, name)

    def _later(self, event: Kept, name: str, where: str) -> Sentence:
        first = [name] if name else []
        exprs = event.at.args if isinstance(event.at, Call) else (event.at,)
        if isinstance(event.at, TupleGetItem):
            exprs = (event.at.tuple_value,)
        unknown = [self.named(e, v) for e, v in zip(exprs, event.args) if v.static is None][:MAX_NAMED]
        what = (
            event.at.op.name if isinstance(event.at, Call) and isinstance(event.at.op, Op) else "This field"
        )
        at = len(first)
        if unknown:
            are = "is" if len(unknown) == 1 else "are"
            why = f"{{{at}}} has to wait: {listed(unknown, at + 1)} {are} dynamic."
        elif any(v.static is not None and self.texts.state(v) for v in event.args):
            why = f"{{{at}}} has to wait: parts of its arguments are dynamic."
        else:
            why = f"{{{at}}} may not be computable ahead of time, so it is left to run time."
        return f"{why}{where}", *first, what, *unknown

    def _effect(self, event: Kept) -> Sentence:
        arguments = [self.text(v) for v in event.args]
        if isinstance(event.at, RefCreate):
            assert event.known is not None
            return (
                "**A cell is created**, at run time too: {0}. From here on its content is static: {1}."
                + self._once("effect"),
                self._cell(event.at, event.known), arguments[0],
            )  # fmt: skip
        is_static = isinstance(event.args[0].static, StaticRef)
        if event.reason == "read":
            why = "Its content is dynamic" if is_static else "The cell itself is dynamic"
            return f"{why}, so {{0}} **is read at run time**, after all earlier effects.", arguments[0]
        after = (
            "From here on its content is static: {1}."
            if is_static
            else "The cell itself is dynamic, so any cell may hold {1} now: the known contents of all cells "
            "are forgotten."
        )
        return (
            f"**The write stays** here, in order: {{0}} is written. {after}{self._once('effect')}",
            *arguments,
        )

    def _refused(self, event: Kept, name: str) -> Sentence:
        call = event.at
        assert isinstance(call, Call)
        callee = f"@{call.op.name_hint}" if isinstance(call.op, GlobalVar) else self.source.called(call.op)
        arguments = self.many(call.args, event.args)
        with_what = f" with {listed(arguments, 1)}" if arguments else ""
        why = {
            "function": "Only at run time is it known which function {0} is",
            "endless": f"{{0}} is called again{with_what}, and none of its arguments gets smaller, so "
            "unrolling might never end",
            "size": "The residual program has reached its maximal size",
        }[event.reason]  # fmt: skip
        return (
            f"{why}. **The call stays**. It may write any cell, so their known contents are forgotten.",
            callee or "fn",
            *arguments,
        )

    def _decided(self, event: Decided) -> Sentence:
        data = self.text(event.data)
        if not isinstance(event.at, Match):
            branch = "the first branch" if event.number == 0 else "the `else` branch"
            return (
                f"The condition is {{0}}, so only {branch} is evaluated, and the residual program "
                "has no `if`.",
                data,
            )
        source_expr = self.source.given(event.at)
        row = self.source.row(event.at)
        pattern = _pattern(self.source, row, source_expr, event.number)
        pairs = sorted(event.bound, key=lambda pair: self.source.row(pair[0]))
        bound = self.many([v for v, _ in pairs], [k for _, k in pairs])
        binds = f": {listed(bound, 2)}" if bound else ""
        return (
            f"{{0}} matches {{1}}{binds}. Only this clause is evaluated, and the residual program "
            "has no `match`.",
            data,
            pattern,
            *bound,
        )

    def _undecided(self, event: Undecided) -> Sentence:
        data = self.text(event.data)
        if isinstance(event.at, If):
            return (
                "The condition {0} is dynamic: **both branches remain**, and each is evaluated separately.",
                data,
            )
        count = counted(len(event.left), "clause")
        return (
            f"The value of {{0}} is dynamic: **{count}** may match, and each is evaluated.",
            data,
        )

    def _branch(self, event: Branch) -> Sentence:
        if isinstance(event.at, If):
            branch = "The first branch" if event.number == 0 else "The `else` branch"
            return (f"{branch} begins. What it learns about cells holds only within it.",)
        pattern = _pattern(self.source, self.source.row(event.at), self.source.given(event.at), event.number)
        return "The clause {0} begins. What it learns about cells holds only within it.", pattern

    def _returned(self, event: Returned) -> Sentence:
        assert event.known is not None
        name, value = self.frame(event.left), self.text(event.known)
        if event.left.call is None:
            has_caller = event.left.caller is not None
            return (
                ("The code of {0} is complete.", name)
                if has_caller
                else ("All of {0} has been evaluated: its result is {1}.", name, value)
            )
        caller = event.left.caller
        rest = (
            f" {{2}}{f', recursive call {caller.turn},' if caller.turn else ''} continues."
            if caller is not None
            else ""
        )
        args = (self.frame(caller),) if caller is not None else ()
        return f"{{0}} returns {{1}}.{rest}", name, value, *args

    def _finished(self) -> Sentence:
        bindings, needed = len(self.residual.lets), self.residual.alive
        dead = bindings - needed
        if not dead:
            return (f"**The residual program** has {counted(bindings, 'binding')}.",)
        of = "them" if dead > 1 else "it"
        return (
            f"**The residual program** has {counted(bindings, 'binding')}. {dead} of them "
            f"{'is' if dead == 1 else 'are'} dead: DeadCodeElimination will remove {of}.\nThe key `a` shows "
            "them.",
        )


def _pattern(source: SourceRows, row: int, expr: Expr | None, number: int) -> str:
    """Return the pattern of a clause as the program writes it."""
    at = branch_row(source.program, row, expr, number) if expr is not None else -1
    text = ""
    while 0 <= at < len(source.program.source) and " => {" not in text:
        joins = source.program.source[at].joins if text else ""
        text += (joins or "") + source.program.source[at].text
        at += 1
    return text.partition(" => {")[0] or f"clause {number + 1}"
