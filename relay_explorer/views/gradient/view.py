"""The gradient explorer's data: a function, the lines of the backward pass beside each of its bindings, and
the values of the forward pass that are stored for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from ...analysis.cost import call_cost, nbytes
from ...ir.errors import RelayError
from ...ir.expr import Call, Expr, Function, Tuple, TupleGetItem
from ...ir.module import IRModule
from ...ir.op import Op
from ...ir.recorder import Recorder
from ...transform.differentiation.first_order import differentiated
from ...transform.differentiation.gradient import typed_normal
from ...transform.differentiation.reverse_mode import Visit
from . import sentences as say
from .format import GradientMark, GradientStep, GradientView, Handed, Held, Kept, Role, Work
from .parts import Parts


def gradient_view(module: IRModule, title: str = "") -> GradientView:
    """Build the view of `@main`'s derivatives (of the first function, where there is no `@main`), as
    `gradient(mode="first_order")` computes them, and with the same errors.
    """
    functions = {var: f for var, f in module.functions.items() if isinstance(f, Function)}
    main = next((var for var in functions if var.name_hint == "main"), next(iter(functions), None))
    if main is None:
        raise RelayError("the module has no function to differentiate")
    with Recorder(Visit) as recorder:
        derivation = differentiated(typed_normal(functions[main], module), annotated=False)
    return _Builder(Parts(module, main.name_hint, derivation, recorder.events)).view(title)


class _Builder:
    """Writes the steps of the backward pass."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self._steps: list[GradientStep] = []

    def view(self, title: str) -> GradientView:
        values = self.parts.values
        kept_values = [v for v in values if v.kept == Kept.NUMBERS and not v.given]
        shapes = [v for v in values if v.kept == Kept.SHAPE and not v.given]
        held = Held(len(kept_values), sum(v.bytes for v in kept_values))
        other = Held(len(shapes), sum(v.bytes for v in shapes))
        split = self.parts.made.forward
        forward, backward = self._work(self.parts.typed[:split]), self._work(self.parts.typed[split:-2])
        self._add_steps(forward, held, other)
        return GradientView(
            title=title or "gradient",
            summary=say.summary(forward.calls, backward.calls, held, self.parts.exact),
            rows=self.parts.rows(),
            values=tuple(values),
            lines=tuple(self.parts.lines),
            steps=tuple(self._with_kept()),
            forward=forward, backward=backward, kept=held, shapes=other,
        )  # fmt: skip

    @staticmethod
    def _work(typed: Sequence[Expr]) -> Work:
        calls = [c for c in typed if isinstance(c, Call) and isinstance(c.op, Op)]
        return Work(
            len(calls), sum(call_cost(c).flops for c in calls), sum(nbytes(c._checked_type) for c in calls)
        )

    def _with_kept(self) -> list[GradientStep]:
        """Return the steps, each with the stored bytes that later steps read."""
        done: list[GradientStep] = []
        needed: set[int] = set()
        size = 0
        for step in reversed(self._steps):
            done.append(step._replace(kept=size))
            for value in self.parts.held(step.lines) - needed:
                needed.add(value)
                size += self.parts.values[value].bytes
        return done[::-1]

    def _add(self, mark: GradientMark, value: int, sentence: tuple[str, ...], **more: object) -> None:
        self._steps.append(GradientStep(mark, value, sentence, **more))  # type: ignore[arg-type]  # its fields

    def _add_steps(self, forward: Work, held: Held, shapes: Held) -> None:
        visited = sum(isinstance(v.node, Call) for v in self.parts.visits)
        self._add(GradientMark.BEGIN, -1, say.begin(forward.calls, len(self.parts.params), visited))
        owned = [n for n, (_, role) in enumerate(self.parts.owners) if role == Role.BEGINNING]
        for at, visit in enumerate(self.parts.visits):
            if at == 0:
                value = self.parts.value_of(visit.node)
                name = self.parts.name(self.parts.line_of(visit.derivative))
                sentence = say.seed(self.parts.title(value), name)
                self._add(GradientMark.SEED, value, sentence, rule=say.SEED_RULE, lines=tuple(owned))
            self._add_visit(visit)
        zeros = [n for n, (_, role) in enumerate(self.parts.owners) if role == Role.ZEROS]
        of = [self.parts.values[v].name for v in dict.fromkeys(self.parts.owners[n][0] for n in zeros)]
        sentence = say.ended(held, shapes.values, of, self.parts.exact)
        self._add(
            GradientMark.END,
            -1,
            sentence,
            lines=tuple(zeros if self.parts.visits else range(len(self.parts.back))),
        )

    def _add_visit(self, visit: Visit) -> None:
        value = self.parts.value_of(visit.node)
        name = self.parts.name(self.parts.line_of(visit.derivative))
        sources = [self.parts.value_of(source) for source in visit.came if source is not None]
        came = tuple(dict.fromkeys(sources))
        users = [self.parts.title(source) for source in came]
        if lines := self._own(value, Role.SUM):
            sentence = say.summed(self.parts.title(value), name, users, len(sources))
            self._add(GradientMark.SUM, value, sentence, rule=say.SUM_RULE, lines=lines, came=came)
        node = visit.node
        if isinstance(node, Call):
            lines = self._own(value, Role.RULE)
            to = self._handed(visit, node)
            sentence = self._ruled(visit, value, to, lines)
            names = [str(c.op) for n in lines if isinstance(c := self.parts.back[n][1], Call)]
            assert isinstance(node.op, Op)
            self._add(
                GradientMark.RULE,
                value,
                sentence,
                rule=say.rule(node.op, names),
                lines=lines,
                came=came,
                to=to,
            )
        elif isinstance(node, (Tuple, TupleGetItem)):
            parts = node.fields if isinstance(node, Tuple) else (node.tuple_value,)
            handed = [p for p, by in zip(parts, visit.given, strict=True) if by is not None]
            to = tuple(Handed(v, -1) for p in handed if (v := self.parts.value_of(p)) >= 0)
            lines = self._own(value, Role.RULE)
            sentence = say.passed(
                self.parts.title(value), isinstance(node, Tuple), [self.parts.title(t.value) for t in to]
            )
            self._add(GradientMark.PASSED, value, sentence, rule=say.PASS_RULE, lines=lines, came=came, to=to)
        else:
            sentence = say.arrived(self.parts.title(value), name, users)
            self._add(GradientMark.ARRIVED, value, sentence, lines=self._own(value, Role.RULE), came=came)

    def _own(self, value: int, role: Role) -> tuple[int, ...]:
        return tuple(self._owned.get((value, role), ()))

    @cached_property
    def _owned(self) -> dict[tuple[int, Role], list[int]]:
        owned: dict[tuple[int, Role], list[int]] = {}
        for number, owner in enumerate(self.parts.owners):
            owned.setdefault(owner, []).append(number)
        return owned

    def _handed(self, visit: Visit, call: Call) -> tuple[Handed, ...]:
        handed = []
        for argument, by in zip(call.args, visit.given, strict=True):
            if by is not None and (value := self.parts.value_of(argument)) >= 0:
                line = self.parts.line_of(by)
                same = line >= 0 and line == self.parts.line_of(visit.derivative)
                handed.append(Handed(value, -1 if same else line))
        return tuple(handed)

    def _ruled(self, visit: Visit, value: int, to: Sequence[Handed], lines: Sequence[int]) -> tuple[str, ...]:
        uses: dict[int, Kept] = {}
        for line in lines:
            for number, how in self.parts.lines[line].uses:
                uses[number] = min(uses.get(number, how), how)
        numbers = [v for v, how in sorted(uses.items()) if how == Kept.NUMBERS]
        computed = [self.parts.values[v].name for v in numbers if not self.parts.values[v].given]
        parameters = [self.parts.values[v].name for v in numbers if self.parts.values[v].given]
        shapes = [self.parts.values[v].name for v, how in sorted(uses.items()) if how == Kept.SHAPE]
        derivative = self.parts.name(self.parts.line_of(visit.derivative))
        handed = [(self.parts.title(h.value), self.parts.name(h.line)) for h in to]
        return say.ruled(self.parts.title(value), derivative, handed, computed, parameters, shapes)
