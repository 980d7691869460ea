"""The sentences of the type-inference explorer: what each step did, and why."""

from __future__ import annotations

from collections.abc import Callable

from ...ir.adt import Constructor
from ...ir.expr import Call, Expr, Function, Tuple, Var
from ...ir.op import Op
from ...ir.substitute import parts_of
from ...ir.types import Type
from ...typing.constraint import Constraint
from ...typing.events import Annotated, FunctionEntered, Queued, Reason, Started, Typed, Unifying
from ...typing.history import Step
from ...typing.narrate import Sentence, opening, refusal
from ...typing.solver import operand_exprs
from ...typing.variables import InferenceVariable

Show = Callable[[Type], str]


class Narrator:
    """Writes the sentences about steps.

    `name` gives an expression's printed name; `variable` the name of the type variable of an expression (or
    of a solver's variable without one); `show` a type as it is known at this moment, variables by their
    names; `known` whether all of a type is known; `classmates` the names of the other variables in the
    class of a type; `formula` a relation's formula with the names put in.
    """

    def __init__(
        self,
        name: Callable[[Expr], str],
        variable: Callable[[Expr, Type], str],
        show: Show,
        known: Callable[[Type], bool],
        classmates: Callable[[Expr, Type], list[str]],
        formula: Callable[[Constraint], str],
    ) -> None:
        self.name = name
        self.variable = variable
        self.show = show
        self.known = known
        self.classmates = classmates
        self.formula = formula

    def before(self, step: Step) -> tuple[str, ...]:
        """Return what the sentence needs from before the step's changes: the two types of a unification."""
        main = step.main
        return (self.show(main.left), self.show(main.right)) if isinstance(main, Unifying) else ()

    def say(self, step: Step, before: tuple[str, ...]) -> Sentence:
        """Return the sentence of a step, once its changes have been applied."""
        if step.refused is not None:
            sentence, _ = refusal(step.refused)
            return (f"**Type error.** {sentence[0][:1].upper()}{sentence[0][1:]}.", *sentence[1:])
        main = step.main
        if isinstance(main, Typed):
            return self._typed(main, step)
        if isinstance(main, Unifying):
            return self._unified(main, step, before)
        if isinstance(main, Started):
            return self._run(main, step)
        assert isinstance(main, (FunctionEntered, Annotated))
        return opening(main) or ("",)

    def parameters(self, steps: list[Step]) -> Sentence:
        """Describe several annotated variables at once."""
        names = [self.name(s.main.expr) for s in steps if isinstance(s.main, Typed)]
        if len(names) > 4:
            return (
                f"{{0}}, {{1}} and {len(names) - 2} more are annotated: "
                "their types are known from the start.",
                *names[:2],
            )
        return f"{_listed(len(names))} are annotated: their types are known from the start.", *names

    # -- kinds of steps

    def _typed(self, main: Typed, step: Step) -> Sentence:
        expr, shown, name = main.expr, self.show(main.type), self.name(main.expr)
        queued = [e for e in step.events if isinstance(e, Queued)]
        if queued:
            constraint = queued[0].relation
            own = self.variable(expr, main.type)
            return (
                "{0} gets {1} and a type relation, {2}, which joins the queue.",
                _operator(constraint),
                own,
                self.formula(constraint),
            )
        if isinstance(expr, Var):
            if isinstance(main.type, InferenceVariable):
                return (
                    "{0} has no annotation. It gets a type variable, {1}: its type is not known yet.",
                    name,
                    shown,
                )
            return "{0} is annotated: its type, {1}, is known from the start.", name, shown
        if isinstance(expr, Tuple):
            return "A tuple has the types of its fields: {0}.", shown
        if isinstance(expr, Function):
            return "A function's type follows from its parameters and its body: {0}.", shown
        if isinstance(expr, Call) and isinstance(expr.op, Constructor):
            return "{0} constructs a {1}.", name, shown
        if isinstance(expr, Call):
            return "{0} has the result type of {1}: {2}.", name, self.name(expr.op), shown
        return "{0} has the type {1}.", name, shown

    def _unified(self, main: Unifying, step: Step, before: tuple[str, ...]) -> Sentence:
        head, *args = self._reason(main.reason, self.show(main.left))
        left, right = before
        at = len(args)
        if step.bound and not step.merged:
            effect = f", so {{{at}}} is {{{at + 1}}}."
            unknown = left if isinstance(main.left, InferenceVariable) else right
            args += [unknown, self.show(main.left)]
            if left == right or unknown == args[-1]:
                effect = f", so this is {{{at}}}."
                del args[at]
        elif step.merged and left != right:
            effect = f", so {{{at}}} and {{{at + 1}}} are the same type."
            args += [left, right]
            effect += "\nUnify: their two equivalence classes become one." if not step.bound else ""
            if not self.known(main.left) and not step.bound:
                effect += " Its type is not known yet."
        else:
            effect = f". They agree: {{{at}}}."
            args.append(self.show(main.left))
        return head + effect + self._moved(step, " " if "\n" in effect else "\n"), *args

    def _reason(self, reason: Reason, type_: str) -> Sentence:
        left = self.name(reason.left) if reason.left is not None else ""
        right = self.name(reason.right) if reason.right is not None else ""
        match reason.kind:
            case "argument":
                return "{0} is called with {1}", left, right
            case "callee":
                return "{0} is called, so it must be a function that fits the call", left
            case "return":
                return "The function returns its body, {0}", right
            case "let" if isinstance(reason.right, Function):
                return (
                    "The function's type follows from its parameters and its body, and {0} is bound to "
                    "the function",
                    left,
                )
            case "let":
                return "{0} is bound to its value", left
            case "branches":
                return "Both branches of an {0} must have the same type", "if"
            case "condition":
                return "The condition, {0}, must be a {1}", right, "bool"
            case "clause":
                return (
                    f"All clauses of a {{0}} must have the same type; this is clause {reason.number + 1}",
                    "match",
                )
            case "pattern":
                return f"The pattern of clause {reason.number + 1} must match {{0}}", left
            case "ref":
                return "{0} is used as a reference", left
        return ("Two types must be equal",)

    def _run(self, main: Started, step: Step) -> Sentence:
        constraint = main.relation
        operator, call = _operator(constraint), constraint.call
        operands = list(zip(operand_exprs(call), constraint.args))
        waits = list(dict.fromkeys(self.name(e) for e, t in operands if not self.known(t)))[:3]
        if step.postponed:
            return (
                f"{{0}} waits: another relation, which has not run yet, computes the type of "
                f"{_listed(len(waits), 1)}.\nIt moves to the end of the queue.",
                operator,
                *waits,
            )
        if not step.done:
            who = _listed(len(waits), 1)
            reason = (
                f"the type{'s' * (len(waits) > 1)} of {who} {'are' if len(waits) > 1 else 'is'} not known"
                if waits
                else "too little is known"
            )
            return (
                f"{{0}} cannot be solved yet: {reason}. It goes to the end of the queue and waits.",
                operator,
                *waits,
            )
        output = constraint.args[-1]
        if not self.known(output):
            return (
                "{0} is solved at once: {1}, whatever that type will be.\nThe two become one equivalence "
                "class, still unknown." + self._moved(step, " "),
                operator,
                self.formula(constraint),
            )
        determined = self._determined(operands, main)
        if _complete(main.reads[-1]):
            if not determined:
                return "{0} holds: all types that it reads were known already, and agree." + self._moved(
                    step, "\n"
                ), operator
            sentence = "{0} can be solved from its result: " + _are(determined, 1)
            return f"{sentence}." + self._moved(step, "\n"), operator, *determined
        inputs = list(dict.fromkeys(self.name(e) for (e, _), t in zip(operands, main.reads) if _complete(t)))[
            :3
        ]
        args = [operator, self.variable(call, output), self.show(output), *inputs]
        prefix = (
            f"the type{'s' * (len(inputs) > 1)} of {_listed(len(inputs), 3)} "
            f"{'are' if len(inputs) > 1 else 'is'} known, so "
            if inputs
            else ""
        )
        sentence = f"{{0}} can be solved now: {prefix}{{1}} = {{2}}"
        mates = self.classmates(call, output)[:3]
        if mates:
            verb = "are" if len(mates) > 1 else "is"
            sentence += f", and so {verb} {_listed(len(mates), len(args))}, which {verb} in the same class"
            args += mates
        if determined:
            sentence += f".\nFrom the result follows: {_are(determined, len(args))}"
            args += determined
        return f"{sentence}." + self._moved(step, " " if determined else "\n"), *args

    def _determined(self, operands: list[tuple[Expr, Type]], main: Started) -> list[str]:
        """Return the arguments whose type the relation determined, with that type; of several types, the
        first only.
        """
        types: dict[str, str] = {}
        for (expr, type_), read in zip(operands, main.reads):
            if not _complete(read) and self.known(type_):
                types[self.name(expr)] = self.show(type_)
        first = next(iter(types.values()), "")
        return [*[name for name, shown in types.items() if shown == first], first] if types else []

    def _moved(self, step: Step, lead: str) -> str:
        waited = list(dict.fromkeys(_operator(m.relation) for m in step.moved if m.waited))
        if not waited:
            return ""
        who = ", ".join(waited[:3]).replace("{", "{{").replace("}", "}}") + (
            f" and {len(waited) - 3} more" if len(waited) > 3 else ""
        )
        return f"{lead}The relations that waited for this move to the front of the queue: {who}."


def _listed(count: int, start: int = 0) -> str:
    """Return placeholders as a list in words: `{0}, {1} and {2}`."""
    places = [f"{{{i}}}" for i in range(start, start + count)]
    return places[0] if count == 1 else f"{', '.join(places[:-1])} and {places[-1]}" if places else ""


def _are(parts: list[str], start: int) -> str:
    """Return `{1} and {2} are {3}`: the last of `parts` is the type."""
    count = len(parts) - 1
    return f"{_listed(count, start)} {'are' if count > 1 else 'is'} {{{start + count}}}"


def _complete(read: Type) -> bool:
    """Whether all of a type was known when a relation read it."""
    return not isinstance(read, InferenceVariable) and all(map(_complete, parts_of(read)))


def _operator(constraint: Constraint) -> str:
    op = getattr(constraint.call, "op", constraint.call)
    return op.name if isinstance(op, Op) else constraint.relation.name
